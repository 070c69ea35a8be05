// SPDX-License-Identifier: Apache-2.0

import PushTransport
import WakeModel

/// The result of `rouse probe` for a person.
struct ProbeText {
    private let console: Console

    /// Writes to this console.
    init(_ console: Console) { self.console = console }

    /// Each answer with its likely cause, then what they add up to.
    func tell(_ findings: ProbeFindings) {
        for answer in findings.answers {
            let words =
                switch answer.result {
                case .success(.accepted): "200 accepted"
                case .success(.rejected(let rejection)): rejection.words
                case .failure(let failure): "no answer: \(failure)"
                }
            console.say("Asked", "\(answer.name): \(words), after \(answer.milliseconds) ms")
            console.say("", answer.likelyCause)
        }
        let verdict = findings.verdict
        let colour: Console.Colour =
            switch verdict.status {
            case .success: .good
            case .no: .bad
            default: .doubtful
            }
        console.say("Result", verdict.meaning, colour)
        console.say("Next", verdict.remedy)
    }

    /// What is left to look at, by its place.
    func tell(_ causes: [ProbeCause]) {
        var place: ProbeCause.Place?
        for cause in causes {
            let label = cause.place == place ? "" : cause.place.title
            place = cause.place
            console.say(label, "\(cause.cause) (\(cause.confidence.words))")
            console.say("", "→ \(cause.look)")
        }
    }
}

/// `rouse probe --json`.
///
/// | Key | Value |
/// |---|---|
/// | `verdict` | `alive`, `dead`, `other-topic`, `unknown-everywhere`, `unknown-here`, … |
/// | `environment` | the token's environment, where the answers tell it |
/// | `dead_since` | RFC 3339, with `dead` |
/// | `device`, `topic` | the token's digest, and the topic that was tried |
/// | `meaning`, `next` | the verdict in words, and what to do |
/// | `causes` | with `--why`: each with `place`, `cause`, `look` and `confidence` |
/// | `answers` | each with `server`, `environment`, `milliseconds`, `likely_cause`, and either |
/// | | `status` and `reason`, or `failure` and `certainty` |
struct ProbeDocument: Encodable {
    let verdict: String
    let environment: String?
    let deadSince: String?
    let device: String
    let topic: String
    let meaning: String
    let next: String
    let causes: [ProbeCause]?
    let answers: [AnswerDocument]

    /// Describes what was found.
    init(_ plan: ProbePlan, _ findings: ProbeFindings, withCauses: Bool) {
        let verdict = findings.verdict
        self.verdict = verdict.word
        var name: String?
        var since: WallInstant?
        switch verdict {
        case .alive(let names, .some): name = names[0]
        case .dead(let server, let instant): (name, since) = (server, instant)
        case .otherTopic(let server): name = server
        default: break
        }
        environment = findings.answers.first { $0.name == name }?.environment?.rawValue
        deadSince = since?.description
        device = plan.deviceToken.description
        topic = plan.bundleID.topic(for: .background).value
        meaning = verdict.meaning
        next = verdict.remedy
        causes = withCauses ? findings.causes : nil
        answers = findings.answers.map(AnswerDocument.init)
    }

    /// One server's answer, as JSON.
    struct AnswerDocument: Encodable {
        let server: String
        let environment: String?
        let milliseconds: Int
        let likelyCause: String
        var status: Int?
        var reason: String?
        var failure: String?
        var certainty: String?

        init(_ answer: ProbeFindings.Answer) {
            server = answer.name
            environment = answer.environment?.rawValue
            milliseconds = answer.milliseconds
            likelyCause = answer.likelyCause
            switch answer.result {
            case .success(.accepted): status = 200
            case .success(.rejected(let rejection)):
                status = rejection.status
                reason = rejection.reason?.rawValue
            case .failure(let error):
                failure = error.kind.rawValue
                certainty = error.certainty.rawValue
            }
        }
    }
}

extension ProbeCause.Place {
    /// The heading before its first cause.
    fileprivate var title: String {
        switch self {
        case .server: "Server"
        case .apple: "Apple"
        case .phone: "Phone"
        case .app: "App"
        }
    }
}

extension ProbeCause.Confidence {
    /// What it is called in the manual.
    fileprivate var words: String {
        switch self {
        case .documented: "documented"
        case .appleEngineer: "said by an Apple engineer"
        case .observed: "observed"
        }
    }
}
