// SPDX-License-Identifier: Apache-2.0

import Testing

/// The rules themselves: each breach is seen.
@Suite("rules of the three books")
struct WakeCaseTests {
    private static let call = AskedWake(isCall: true, bundleID: "a.b", device: "ab")
    private static let wake = AskedWake(isCall: false, bundleID: "a.b", device: "ab")

    private static func told(
        _ state: String, _ results: [ToldWake.Result], reason: String? = nil, cause: String? = nil,
        apart: Double = 1, deadline: Double = 10_000
    ) -> ToldWake {
        let attempts = results.enumerated().map { index, result in
            let time = Double(index) * apart
            return ToldWake.Attempt(result: result, startedAt: time, endedAt: time)
        }
        return ToldWake(
            state: state, reason: reason, cause: cause, deadline: deadline,
            endedAt: attempts.last?.endedAt ?? 0, attempts: attempts)
    }

    private static func pushes(_ asked: AskedWake, _ answers: [String?]) -> [SeenPush] {
        answers.map { answer in
            SeenPush(
                device: asked.device, topic: asked.topic, pushType: asked.pushType,
                status: answer.map {
                    $0.isEmpty ? 200 : ["Unregistered", "ExpiredToken"].contains($0) ? 410 : 500
                },
                reason: answer.flatMap { $0.isEmpty ? nil : $0 })
        }
    }

    struct Example: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let asked: AskedWake
        let told: ToldWake
        /// The reasons that pushes were answered with, "" for 200 and `nil` for no answer.
        let answers: [String?]
        var feedback: [ToldFeedback] = []
        let isRight: Bool

        init(
            _ name: String, _ asked: AskedWake, _ told: ToldWake, _ answers: [String?],
            _ feedback: [ToldFeedback] = [], isRight: Bool = false
        ) {
            testDescription = name
            self.asked = asked
            self.told = told
            self.answers = answers
            self.feedback = feedback
            self.isRight = isRight
        }
    }

    private static let anew = AskedWake(
        isCall: false, bundleID: "a.b", device: "ab", isRegisteredAnew: true)
    private static let dead = ToldFeedback(kind: "token-dead", device: "ab")

    static let examples: [Example] = [
        Example("sent", wake, told("sent", [.accepted]), [""], isRight: true),
        Example("never received", wake, told("sent", [.accepted]), []),
        Example("no end", wake, told("pending", []), []),
        Example("again", wake, told("sent", [.unknown, .accepted]), [nil, ""], isRight: true),
        Example(
            "a call again", call, told("sent", [.unknown, .accepted]), [nil, ""]),
        Example("a call twice", call, told("sent", [.accepted]), ["", ""]),
        Example(
            "a call again at once", call, told("sent", [.accepted]), ["Shutdown", ""],
            isRight: true),
        Example(
            "a call's fate", call, told("failed", [.unknown], cause: "fate-unknown"), [nil],
            isRight: true),
        Example("no call", wake, told("failed", [.unknown], cause: "fate-unknown"), [nil]),
        Example("arrived unsent", wake, told("sent", [.notSent, .accepted]), ["", ""]),
        Example(
            "accepted, untold", wake,
            told(
                "sent", [.refused("Shutdown"), .refused("Shutdown"), .accepted]),
            ["Shutdown", "", "Shutdown", ""]),
        Example("moved", wake, told("sent", [.notSent, .accepted]), [""], isRight: true),
        Example(
            "dead", wake,
            told("undeliverable", [.refused("Unregistered")], reason: "Unregistered"),
            ["Unregistered"], [dead], isRight: true),
        Example(
            "dead, untold", wake,
            told("undeliverable", [.refused("Unregistered")], reason: "Unregistered"),
            ["Unregistered"]),
        Example(
            "dead, cut off", wake, told("undeliverable", [.cutOff(500), .cutOff(410)]),
            ["Unregistered"], [dead]),
        Example(
            "dead for all that is known", wake, told("undeliverable", [.cutOff(410)]),
            ["ExpiredToken"], [dead], isRight: true),
        Example(
            "perhaps alive", anew, told("rejected", [.cutOff(410)]), ["ExpiredToken"],
            isRight: true),
        Example(
            "perhaps alive, called dead", anew, told("undeliverable", [.cutOff(410)]),
            ["ExpiredToken"], [dead]),
        Example("told, alive", wake, told("sent", [.accepted]), [""], [dead]),
        Example(
            "in time", wake,
            told("sent", [.refused("TooManyRequests"), .accepted], apart: 61),
            ["TooManyRequests", ""], isRight: true),
        Example(
            "too soon", wake,
            told("sent", [.refused("ServiceUnavailable"), .accepted], apart: 61),
            ["ServiceUnavailable", ""]),
        Example(
            "never answered so", wake,
            told("rejected", [.refused("BadDeviceToken")], reason: "BadDeviceToken"), [nil],
            [ToldFeedback(kind: "environment-mismatch", device: "ab")]),
        Example(
            "given up early", wake, told("expired", [.refused("TooManyRequests")]),
            ["TooManyRequests"]),
        Example(
            "expired", wake, told("expired", [.refused("TooManyRequests")], deadline: 50),
            ["TooManyRequests"], isRight: true),
    ]

    @Test("a breach is seen, and nothing else", arguments: examples)
    func breach(_ example: Example) {
        let complaints = WakeCase(
            asked: example.asked, told: example.told,
            pushes: Self.pushes(example.asked, example.answers), feedback: example.feedback
        ).complaints
        #expect(complaints.isEmpty == example.isRight, "\(complaints)")
    }
}
