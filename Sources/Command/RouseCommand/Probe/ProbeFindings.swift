// SPDX-License-Identifier: Apache-2.0

import PushTransport
import WakeModel

/// The answers to a probe, and what they add up to (facts §9).
struct ProbeFindings: Sendable {
    /// What each server said, in the order in which they were asked.
    let answers: [Answer]

    /// What one server said.
    struct Answer: Sendable {
        /// The server's name.
        let name: String
        /// Its environment, if known.
        let environment: APNsEnvironment?
        /// Its answer, or why there is none.
        let result: Result<PushOutcome, TransportFailure>
        /// How long it took.
        let milliseconds: Int
    }

    /// What the answers add up to.
    enum Verdict: Hashable, Sendable {
        /// It works for this app at these servers: one, unless they are simulators.
        case alive(at: [String], environment: APNsEnvironment?)
        /// It worked once, at this server, and is dead; since when, if APNs said so.
        case dead(at: String, since: WallInstant?)
        /// The token is valid on this server, but for another topic.
        case otherTopic(at: String)
        /// The token is unknown to every server queried. Both environments were queried.
        case unknownEverywhere
        /// The token is unknown to the one server queried.
        case unknown(at: String)
        /// The answers are about the credential or the request, not about the token.
        case credentialRefused
        /// The answers say nothing of the token: APNs faulted the request, or gave no reason that
        /// Apple documents, so that whatever answered need not be APNs. The first one's status.
        case unexplained(at: String, status: Int)
        /// APNs had no answer to give at present: busy, or in trouble.
        case postponed
        /// No answer came.
        case unreachable
    }

    /// The verdict from all answers. What is certain about the token takes precedence over what is
    /// not.
    var verdict: Verdict {
        let alive = answers.filter { $0.kind == .accepted }
        if !alive.isEmpty {
            let only = alive.count == 1 ? alive[0].environment : nil
            return .alive(at: alive.map(\.name), environment: only)
        }
        if let dead = answers.first(where: { $0.kind == .dead }) {
            return .dead(at: dead.name, since: dead.rejection?.timestamp)
        }
        if let other = answers.first(where: { $0.kind == .otherTopic }) {
            return .otherTopic(at: other.name)
        }
        if answers.contains(where: { $0.kind == .credential }) { return .credentialRefused }
        if let answer = answers.first(where: { $0.kind == .unexplained }) {
            return .unexplained(at: answer.name, status: answer.rejection?.status ?? 0)
        }
        if answers.contains(where: { $0.kind == .unanswered }) { return .unreachable }
        if answers.contains(where: { $0.kind == .trouble }) { return .postponed }
        return answers.count == 1 ? .unknown(at: answers[0].name) : .unknownEverywhere
    }
}

extension ProbeFindings.Answer {
    /// What an answer says of the token.
    enum Kind: Hashable {
        /// It works.
        case accepted
        /// It is dead.
        case dead
        /// It is another topic's.
        case otherTopic
        /// It is not known here.
        case unknown
        /// Nothing: the credential was refused.
        case credential
        /// Nothing: the request was refused, for no reason or for one that is not the credential's.
        case unexplained
        /// Nothing: the service was busy or in trouble.
        case trouble
        /// Nothing: no answer came.
        case unanswered
    }

    /// The refusal, if it is one.
    var rejection: PushOutcome.Rejection? {
        guard case .success(.rejected(let rejection)) = result else { return nil }
        return rejection
    }

    /// What it says of the token.
    var kind: Kind {
        switch result {
        case .success(.accepted): return .accepted
        case .failure: return .unanswered
        case .success(.rejected(let rejection)):
            switch rejection.advice.deviceToken {
            case .deadUnlessRegisteredSince: return .dead
            case .deadForTopic: return .otherTopic
            case .suspectEnvironment: return .unknown
            case .unaffected:
                if rejection.status == 429 || rejection.status >= 500 { return .trouble }
                return rejection.faultsCredential ? .credential : .unexplained
            }
        }
    }

    /// The likely cause of the answer, for a person (facts §9).
    var likelyCause: String {
        switch result {
        case .success(.accepted):
            return "The token belongs here, and the topic fits; delivery is not confirmed."
        case .failure(let failure): return failure.meaning + " " + failure.remedy
        case .success(.rejected(let rejection)):
            switch kind {
            case .unknown:
                let other = environment.map { " most often it is a token of \($0.other)." }
                return "The token is not known here:"
                    + (other ?? " it is another environment's, or was mangled on its way.")
            case .otherTopic:
                return "The token belongs here, but to another topic: another app's token, or "
                    + "one of another API, such as PushKit's VoIP token."
            case .dead:
                return "The token belonged here and is dead: the app was removed, or the token "
                    + "was replaced."
            case .credential, .unexplained, .trouble, .accepted, .unanswered:
                return rejection.meaning
            }
        }
    }
}

extension ProbeFindings.Verdict {
    /// A word for programs.
    var word: String {
        switch self {
        case .alive: "alive"
        case .dead: "dead"
        case .otherTopic: "other-topic"
        case .unknownEverywhere: "unknown-everywhere"
        case .unknown: "unknown-here"
        case .credentialRefused: "credential-refused"
        case .unexplained: "unexplained"
        case .postponed: "postponed"
        case .unreachable: "unreachable"
        }
    }

    /// How the command ends.
    var status: ExitStatus {
        switch self {
        case .alive: .success
        case .dead, .otherTopic, .unknownEverywhere, .unknown: .no
        case .credentialRefused: .notAllowed
        case .unexplained, .postponed, .unreachable: .unavailable
        }
    }

    /// What it means, for a person.
    var meaning: String {
        switch self {
        case .alive(_, let environment?):
            "APNs accepts the token for this app. Its environment: \(environment)."
        case .alive(let names, nil) where names.count == 1:
            "\(names[0]) accepts the token for this app."
        case .alive(let names, nil):
            "\(names.joined(separator: " and ")) accept the token. At Apple a token belongs to one "
                + "environment, so these are simulators that take any token."
        case .dead(let name, let since):
            "The token is dead at \(name)" + (since.map { ", since \($0)." } ?? ".")
        case .otherTopic(let name):
            "The token's environment is \(name), but it is not this app's token for background "
                + "pushes."
        case .unknownEverywhere: "Neither environment knows the token."
        case .unknown(let name): "The token is not known at \(name)."
        case .credentialRefused: "APNs refused the credential before it looked at the token."
        case .unexplained(let name, let status):
            "\(name) answered \(status), which says nothing of the token."
        case .postponed: "APNs could not say at present."
        case .unreachable: "At least one server gave no answer, and no other knows the token."
        }
    }

    /// What to do, for a person.
    var remedy: String {
        switch self {
        case .alive(_, .some): "Store the environment with the token."
        case .alive(_, nil): "Ask Apple's servers for its environment."
        case .dead:
            "Delete it, unless the app registered it again after that time. A 410 comes late on "
                + "purpose: it is no measure of uninstalls."
        case .otherTopic:
            "Check the bundle id, and that VoIP and ordinary tokens are not mixed up. A VoIP "
                + "token is not tested further: that would ring the phone."
        case .unknownEverywhere:
            "Compare it with what the app received, digit by digit; if it is right, delete it."
        case .unknown: "Ask the other environment too before you delete it."
        case .credentialRefused:
            "Check the key's environment, topics and ids ('rouse token --verify', 'rouse doctor')."
        case .unexplained:
            "Check that the server is APNs, and that no proxy or firewall answers in its place "
                + "('rouse doctor')."
        case .postponed: "Ask again in some minutes."
        case .unreachable: "Check the way to the server ('rouse doctor')."
        }
    }
}

extension PushOutcome.Rejection {
    /// Whether the answer is about the credential: key, certificate, provider token, or their right
    /// to the topic. An answer without a reason is not APNs' word on it.
    fileprivate var faultsCredential: Bool {
        guard reason != nil else { return false }
        switch advice.scope {
        case .providerToken, .key, .topic: return true
        case .request, .device, .deviceForTopic, .connection, .service: return false
        }
    }
}
