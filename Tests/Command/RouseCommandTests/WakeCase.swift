// SPDX-License-Identifier: Apache-2.0

import APNsSimulator
import Foundation
import WakeModel

/// What a sender asked for and was answered 202.
struct AskedWake: Sendable {
    let isCall: Bool
    let bundleID: String
    /// In hexadecimal; no other wake goes to it.
    let device: String
    /// The app registered the device token after APNs had found it dead.
    var isRegisteredAnew = false
    /// The feedback feed had called the device token dead before.
    var isDeadAlready = false

    var topic: String { isCall ? bundleID + ".voip" : bundleID }
    var pushType: String { isCall ? "voip" : "background" }
}

/// What the gateway says became of a wake, read from `GET /v1/wakes`.
struct ToldWake: Sendable {
    /// What came of one attempt.
    enum Result: Hashable, Sendable {
        case accepted
        case refused(String)
        /// Refused with this status; the answer was cut off before its reason.
        case cutOff(Int)
        /// It certainly never left.
        case notSent
        /// It may have arrived.
        case unknown
    }

    /// One attempt; times in seconds since 1970.
    struct Attempt: Sendable {
        let result: Result
        let startedAt: Double
        let endedAt: Double
    }

    let state: String
    var reason: String?
    var cause: String?
    let deadline: Double
    var endedAt: Double?
    var attempts: [Attempt]
}

/// What the simulator saw: a request that arrived whole.
struct SeenPush: Sendable {
    let device: String?
    let topic: String?
    let pushType: String?
    /// What it was answered with; `nil` when a fault forbade any answer.
    let status: Int?
    let reason: String?

    /// Whether the device may have got it.
    var mayHaveReached: Bool { status == nil || status == 200 }
}

/// An entry of the feedback feed.
struct ToldFeedback: Hashable, Sendable {
    let kind: String
    let device: String
}

/// One wake in three books: what was asked for, what the gateway told, and what the simulator saw.
///
/// The rules are the gateway's life of a wake and facts §3.3, written a second time
/// so that they do not agree with the product by construction.
struct WakeCase {
    let asked: AskedWake
    let told: ToldWake
    /// The whole requests with its apns-id, in the order in which they came.
    let pushes: [SeenPush]
    let feedback: [ToldFeedback]

    /// What follows from a refusal.
    enum Consequence: Hashable {
        /// It goes again at once.
        case again
        /// It goes again after so many seconds at least, or ends as expired if that is too late.
        case later(seconds: Double)
        /// It ends in this state, and the feed says so much of the device token.
        case end(String, feedback: String?)
    }

    /// A reason that no table has, with a status of 500.
    static let newReason = "SomethingNew"

    static let consequences: [String: Consequence] = [
        "Shutdown": .again, "IdleTimeout": .again, "ExpiredProviderToken": .again,
        "TooManyRequests": .later(seconds: 60), "InternalServerError": .later(seconds: 900),
        "ServiceUnavailable": .later(seconds: 900), newReason: .later(seconds: 900),
        "BadDeviceToken": .end("rejected", feedback: "environment-mismatch"),
        "DeviceTokenNotForTopic": .end("undeliverable", feedback: "wrong-topic"),
        "Unregistered": .end("undeliverable", feedback: "token-dead"),
        "ExpiredToken": .end("undeliverable", feedback: "token-dead"),
        "PayloadTooLarge": .end("rejected", feedback: nil),
    ]

    /// What follows from a status without a reason. That it is a 410 says that the token is dead,
    /// but not since when.
    private func consequence(ofStatus status: Int) -> Consequence? {
        switch status {
        case 400, 413: .end("rejected", feedback: nil)
        case 403: .again
        case 410 where asked.isRegisteredAnew: .end("rejected", feedback: nil)
        case 410: .end("undeliverable", feedback: "token-dead")
        case 429: .later(seconds: 60)
        case 500...599: .later(seconds: 900)
        default: nil
        }
    }

    /// What follows from the result of an attempt, if it is a refusal.
    private func consequence(of result: ToldWake.Result?) -> Consequence? {
        switch result {
        case .refused("Unregistered") where asked.isRegisteredAnew,
            .refused("ExpiredToken") where asked.isRegisteredAnew:
            .end("rejected", feedback: nil)
        case .refused(let reason): Self.consequences[reason]
        case .cutOff(let status): consequence(ofStatus: status)
        case .accepted, .notSent, .unknown, nil: nil
        }
    }

    /// How often a wake may be tried by attempts that may have arrived.
    static let triesCount = 12
    /// How many attempts a history keeps.
    static let keptAttempts = 16
    /// Times are told in milliseconds.
    static let precision = 0.001

    /// All that is not as it should be, in words.
    var complaints: [String] {
        identityComplaints + ringComplaints + countComplaints + orderComplaints + endComplaints
            + feedbackComplaints
    }

    /// Every push is the one that was asked for.
    private var identityComplaints: [String] {
        let isRight = pushes.allSatisfy { push in
            push.device == asked.device && push.topic == asked.topic
                && push.pushType == asked.pushType
        }
        return isRight ? [] : ["a push went to another device or topic, or is of another kind"]
    }

    /// A phone does not ring twice: what was taken, or may have been, is the last.
    private var ringComplaints: [String] {
        guard asked.isCall else { return [] }
        return pushes.dropLast().contains(where: \.mayHaveReached)
            ? ["a call was sent again after it may have rung"] : []
    }

    /// Each answer that the gateway tells of was given, and each push belongs to an attempt.
    private var countComplaints: [String] {
        var complaints: [String] = []
        for result in Set(told.attempts.map(\.result)) {
            let count = told.attempts.count { $0.result == result }
            switch result {
            case .accepted where count > pushes.count { $0.status == 200 }:
                complaints.append("it counts as accepted, and the simulator did not accept it")
            case .refused(let reason)
            where count > pushes.count { $0.reason == reason }:
                complaints.append("\(reason) was never answered")
            case .cutOff(let status) where count > pushes.count { $0.status == status }:
                complaints.append("\(status) was never answered")
            default: break
            }
        }
        guard told.attempts.count < Self.keptAttempts else { return complaints }
        let takings = told.attempts.count { [.accepted, .unknown].contains($0.result) }
        if pushes.count(where: { $0.status == 200 }) > takings {
            complaints.append("it was accepted, and no attempt says so or may have been it")
        }
        // What is to go again at once may do so within an attempt.
        let ofAttempts = pushes.count { push in
            push.reason.map { Self.consequences[$0] != .again } ?? true
        }
        let arrivals = told.attempts.count { $0.result != .notSent }
        if ofAttempts > arrivals {
            complaints.append("\(ofAttempts) pushes arrived in \(arrivals) attempts")
        }
        return complaints
    }

    /// What may follow what.
    private var orderComplaints: [String] {
        zip(told.attempts, told.attempts.dropFirst()).compactMap { attempt, next in
            switch attempt.result {
            case .accepted: return "it was tried again after it had been accepted"
            case .notSent: return nil
            case .unknown:
                return asked.isCall ? "a call of unknown fate was tried again" : nil
            case .refused, .cutOff:
                switch consequence(of: attempt.result) {
                case .again: return nil
                case .later(let seconds)
                where next.startedAt - attempt.endedAt >= seconds - Self.precision: return nil
                default: return "it was tried again after \(attempt.result), or too soon"
                }
            }
        }
    }

    /// The end is the one that follows from the last attempt.
    private var endComplaints: [String] {
        if asked.isDeadAlready {
            let isRight = told.state == "suppressed" && told.attempts.isEmpty && pushes.isEmpty
            return isRight ? [] : ["a wake for a dead device token is \(told.state)"]
        }
        let last = told.attempts.last
        let fits =
            switch told.state {
            case "sent": last?.result == .accepted
            case "rejected", "undeliverable": told.state == refusedState
            case "expired": isExpiredInTime
            case "failed":
                switch told.cause {
                case "fate-unknown": asked.isCall && last?.result == .unknown
                case "tries-used-up": !asked.isCall && told.attempts.count >= Self.triesCount
                default: false
                }
            default: false
            }
        return fits ? [] : ["it is \(told.state) after \(last.map { "\($0.result)" } ?? "nothing")"]
    }

    /// The state that the last answer leads to, if it is a final refusal.
    private var refusedState: String? {
        let result = told.attempts.last?.result
        guard case .end(let state, _) = consequence(of: result) else { return nil }
        var reason: String?
        if case .refused(let given) = result { reason = given }
        return told.reason == reason ? state : nil
    }

    /// It ended at its deadline, or because the next attempt would have come after that.
    private var isExpiredInTime: Bool {
        guard let endedAt = told.endedAt else { return false }
        // Transport failures wait for 100 ms and double from there, all with a fifth of jitter.
        var pause = min(60, 0.1 * pow(2, Double(told.attempts.count)))
        switch told.attempts.last?.result {
        case nil: pause = 0
        case .accepted: return false
        case .notSent: break
        case .unknown: if asked.isCall { return false }
        case .refused, .cutOff:
            switch consequence(of: told.attempts.last?.result) {
            case .again: break
            // It doubles with each try.
            case .later(let seconds):
                let tries = told.attempts.count { $0.result != .notSent }
                pause = seconds * pow(2, Double(tries - 1))
            default: return false
            }
        }
        return endedAt + pause * 1.2 + Self.precision >= told.deadline
    }

    /// The feed tells of the device token what the answer says, once, and nothing else.
    private var feedbackComplaints: [String] {
        var expected: [ToldFeedback] = []
        if let state = refusedState, state == told.state,
            case .end(state, let kind?) = consequence(of: told.attempts.last?.result)
        {
            expected = [ToldFeedback(kind: kind, device: asked.device)]
        }
        return feedback == expected
            ? [] : ["the feed tells \(feedback.map(\.kind)) after \(told.reason ?? told.state)"]
    }
}

extension ToldWake {
    /// Reads a wake as the API tells it.
    init?(_ json: [String: Any]) {
        guard let state = json["state"] as? String,
            let deadline = Self.seconds(json["deadline"]),
            let attempts = json["attempts"] as? [[String: Any]]
        else { return nil }
        let outcome = json["outcome"] as? [String: Any]
        self.init(
            state: state, reason: outcome?["reason"] as? String,
            cause: outcome?["cause"] as? String, deadline: deadline,
            endedAt: Self.seconds(json["ended_at"]), attempts: attempts.compactMap(Attempt.init))
        if self.attempts.count != attempts.count { return nil }
    }

    fileprivate static func seconds(_ value: Any?) -> Double? {
        guard let text = value as? String else { return nil }
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        return try? style.parse(text).timeIntervalSince1970
    }
}

extension ToldWake.Attempt {
    fileprivate init?(_ json: [String: Any]) {
        guard let startedAt = ToldWake.seconds(json["started_at"]),
            let endedAt = ToldWake.seconds(json["ended_at"])
        else { return nil }
        self.startedAt = startedAt
        self.endedAt = endedAt
        switch (json["result"] as? String, json["reason"] as? String) {
        case ("accepted", _): result = .accepted
        case ("refused", let reason?):
            result = .refused(reason)
        case ("refused", nil):
            guard let status = json["status"] as? Int else { return nil }
            result = .cutOff(status)
        case ("unanswered", _):
            result = json["certainty"] as? String == "not-sent" ? .notSent : .unknown
        default: return nil
        }
    }
}

extension SeenPush {
    init(_ push: ReceivedPush) {
        self.init(
            device: push.deviceTokenHex, topic: push["apns-topic"],
            pushType: push["apns-push-type"], status: push.status, reason: push.reason?.rawValue)
    }
}
