// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing
import WakeModel

/// Sequences of pushes whose last one breaks a rule, and sequences that keep it throughout.
struct HistoryCase: Sendable, CustomTestStringConvertible {
    let rule: RuleID
    let name: String
    let pushes: [SentPush]
    let isFound: Bool

    var testDescription: String { "\(rule) \(isFound ? "breaks" : "keeps"): \(name)" }

    init(_ rule: RuleID, breaks isFound: Bool, _ name: String, _ pushes: [SentPush]) {
        self.rule = rule
        self.name = name
        self.pushes = pushes
        self.isFound = isFound
    }

    /// A good push of this type so many seconds after ``testNow``.
    static func push(
        _ type: PushType, at seconds: Int64, device: String = "d", payload: String? = nil,
        priority: String = "10", token: String? = nil, answer: SentPush.Answer? = nil
    ) -> SentPush {
        var changes: [PushDraft.Header] = [
            .init("authorization", token.map { "bearer " + $0 } ?? "")
        ]
        if type != .background { changes.append(.init("apns-priority", priority)) }
        return SentPush(
            at: testNow.advanced(bySeconds: seconds), device: device,
            draft: DraftCase.good(type, changes, payload), answer: answer)
    }

    private static func call(_ id: String, at seconds: Int64) -> SentPush {
        push(.voip, at: seconds, payload: "{\"callUUID\":\"\(id)\",\"handle\":\"Ann\"}")
    }

    private static func every(
        _ seconds: Int64, _ count: Int64, _ make: (_ at: Int64) -> SentPush
    ) -> [SentPush] {
        (0..<count).map { make($0 * seconds) }
    }

    private static let serviceUpdate = #"{"aps":{"ptt-push-type":"service-update"}}"#

    static let all: [HistoryCase] =
        backgroundCases + voipCases + otherCases + tokenCases
        + answerCases + deletionCases

    private static let backgroundCases: [HistoryCase] = [
        HistoryCase(
            "BG020", breaks: true, "four in an hour", every(1199, 4) { push(.background, at: $0) }),
        HistoryCase(
            "BG020", breaks: false, "three in an hour", every(1200, 9) { push(.background, at: $0) }
        ),
        HistoryCase(
            "BG021", breaks: true, "14 minutes apart", every(899, 2) { push(.background, at: $0) }),
        HistoryCase(
            "BG021", breaks: false, "15 minutes apart",
            every(900, 2) {
                push(
                    .background,
                    at: $0)
            }),
        HistoryCase(
            "BG021", breaks: false, "two devices",
            [push(.background, at: 0), push(.background, at: 1, device: "e")]),
        HistoryCase(
            "BG025", breaks: true, "a thousand and one devices",
            every(0, 1001) { at in push(.background, at: at) }.enumerated().map {
                renamed(
                    $1,
                    $0)
            }),
        HistoryCase(
            "BG025", breaks: false, "a thousand devices",
            every(0, 1000) { at in push(.background, at: at) }.enumerated().map {
                renamed(
                    $1,
                    $0)
            }),
        HistoryCase(
            "BG025", breaks: false, "spread over time",
            every(1, 1500) { at in push(.background, at: at / 5) }.enumerated().map {
                renamed($1, $0)
            }),
    ]

    private static func renamed(_ push: SentPush, _ number: Int) -> SentPush {
        var push = push
        push.device = "d\(number)"
        return push
    }

    private static let voipCases: [HistoryCase] = [
        HistoryCase(
            "VO011", breaks: true, "alert and voip", [push(.alert, at: 0), push(.voip, at: 1)]),
        HistoryCase(
            "VO011", breaks: false, "two tokens",
            [push(.alert, at: 0), push(.voip, at: 1, device: "e")]),
        HistoryCase(
            "VO012", breaks: true, "11 in an hour", every(359, 11) { call("\($0)", at: $0) }),
        HistoryCase(
            "VO012", breaks: false, "10 in an hour", every(360, 30) { call("\($0)", at: $0) }),
        HistoryCase("VO013", breaks: true, "after 11 s", [call("a", at: 0), call("a", at: 11)]),
        HistoryCase("VO013", breaks: false, "after 10 s", [call("a", at: 0), call("a", at: 10)]),
        HistoryCase("VO013", breaks: false, "another call", [call("a", at: 0), call("b", at: 11)]),
        HistoryCase(
            "VO014", breaks: true, "again", [call("a", at: 0), call("b", at: 1), call("a", at: 2)]),
        HistoryCase(
            "VO014", breaks: false, "the next day", [call("a", at: 0), call("a", at: 86_400)]),
    ]

    private static let otherCases: [HistoryCase] = [
        HistoryCase(
            "LA006", breaks: true, "11 updates", every(60, 11) { push(.liveactivity, at: $0) }),
        HistoryCase(
            "LA006", breaks: false, "10 updates", every(60, 10) { push(.liveactivity, at: $0) }),
        HistoryCase(
            "LA006", breaks: false, "at priority 5",
            every(60, 50) { push(.liveactivity, at: $0, priority: "5") }),
        HistoryCase(
            "LO002", breaks: true, "16 an hour", every(225, 16) { push(.location, at: $0) }),
        HistoryCase(
            "LO002", breaks: false, "15 an hour", every(240, 40) { push(.location, at: $0) }),
        HistoryCase(
            "PT002", breaks: true, "7 an hour",
            every(500, 7) { push(.pushtotalk, at: $0, payload: serviceUpdate) }),
        HistoryCase(
            "PT002", breaks: false, "speakers", every(50, 70) { push(.pushtotalk, at: $0) }),
    ]

    private static func signed(_ token: String, at seconds: Int64) -> SentPush {
        push(.background, at: seconds, device: "d\(seconds)", token: token)
    }

    private static let tokenCases: [HistoryCase] = [
        HistoryCase(
            "AU004", breaks: true, "after 1199 s",
            [
                signed(ProviderTokens.make(at: 0), at: 0),
                signed(ProviderTokens.make(at: 1199), at: 1199),
            ]),
        HistoryCase(
            "AU004", breaks: false, "after 1200 s",
            [
                signed(ProviderTokens.make(at: 0), at: 0),
                signed(ProviderTokens.make(at: 1200), at: 1200),
            ]),
        HistoryCase(
            "AU004", breaks: false, "the older one again",
            [
                signed(ProviderTokens.make(at: 1200), at: 1200),
                signed(ProviderTokens.make(at: 0), at: 1201),
            ]),
        HistoryCase(
            "AU005", breaks: true, "3601 s old", [signed(ProviderTokens.make(at: 0), at: 3601)]),
        HistoryCase(
            "AU005", breaks: false, "3600 s old", [signed(ProviderTokens.make(at: 0), at: 3600)]),
        HistoryCase(
            "AU008", breaks: true, "two teams",
            [
                signed(ProviderTokens.make(at: 0), at: 0),
                signed(ProviderTokens.make(team: "OTHERTEAM1", at: 0), at: 1),
            ]),
        HistoryCase(
            "AU008", breaks: true, "two keys",
            [
                signed(ProviderTokens.make(at: 0), at: 0),
                signed(ProviderTokens.make(key: "OTHERKEY12", at: 0), at: 1),
            ]),
        HistoryCase(
            "AU008", breaks: false, "one key",
            [
                signed(ProviderTokens.make(at: 0), at: 0),
                signed(ProviderTokens.make(at: 1500), at: 1500),
            ]),
    ]

    private static func answered(
        _ status: Int, _ reason: String?, then seconds: Int64, payload: String? = nil
    ) -> [SentPush] {
        [
            push(.background, at: 0, answer: .init(status: status, reason: reason)),
            push(.background, at: seconds, payload: payload),
        ]
    }

    /// A push to a host that APNs calls a bad token's, on which the sender perhaps deletes it.
    private static func badToken(
        on environment: APNsEnvironment?, at seconds: Int64 = 0, deletes isDeleted: Bool = true
    ) -> SentPush {
        var push = Self.push(
            .background, at: seconds, answer: .init(status: 400, reason: "BadDeviceToken"))
        if let environment { push.draft.headers.append(.init(":authority", environment.host)) }
        push.token.isDeleted = isDeleted
        return push
    }

    /// A push that APNs answers with a 410 of `testNow`, to a token that was registered then.
    private static func gone(
        registered seconds: Int64, deletes isDeleted: Bool, at sent: Int64 = 60
    ) -> SentPush {
        var push = Self.push(
            .background, at: sent,
            answer: .init(status: 410, reason: "Unregistered", inactiveAt: testNow))
        push.token = .init(
            registeredAt: testNow.advanced(bySeconds: seconds), isDeleted: isDeleted)
        return push
    }

    private static let deletionCases: [HistoryCase] = [
        HistoryCase(
            "SQ001", breaks: true, "deleted too eagerly", [gone(registered: 1, deletes: true)]),
        HistoryCase("SQ001", breaks: false, "deleted", [gone(registered: -1, deletes: true)]),
        HistoryCase("SQ001", breaks: false, "kept", [gone(registered: 1, deletes: false)]),
        HistoryCase(
            "SQ001", breaks: false, "registered anew",
            [
                gone(registered: -1, deletes: false),
                gone(registered: 30, deletes: false, at: 7200),
            ]),
        HistoryCase("SQ002", breaks: true, "one environment", [badToken(on: .sandbox)]),
        HistoryCase("SQ002", breaks: true, "no host", [badToken(on: nil)]),
        HistoryCase(
            "SQ002", breaks: true, "the same one twice",
            [badToken(on: .sandbox, deletes: false), badToken(on: .sandbox, at: 7200)]),
        HistoryCase("SQ002", breaks: false, "kept", [badToken(on: .sandbox, deletes: false)]),
        HistoryCase(
            "SQ002", breaks: false, "both environments",
            [badToken(on: .sandbox, deletes: false), badToken(on: .production, at: 1)]),
    ]

    private static let answerCases: [HistoryCase] = [
        HistoryCase("SQ001", breaks: true, "after 410", answered(410, "Unregistered", then: 7200)),
        HistoryCase("SQ001", breaks: false, "after 200", answered(200, nil, then: 7200)),
        HistoryCase(
            "SQ001", breaks: false, "the token lives again",
            [
                push(.background, at: 0, answer: .init(status: 200)),
                push(.background, at: 7200, answer: .init(status: 200)),
                push(.background, at: 14_400),
            ]),
        HistoryCase(
            "SQ003", breaks: true, "bad token", answered(400, "BadDeviceToken", then: 7200)),
        HistoryCase(
            "SQ003", breaks: false, "another payload",
            answered(413, "PayloadTooLarge", then: 7200, payload: "{}")),
        HistoryCase(
            "SQ004", breaks: true, "14 minutes", answered(500, "InternalServerError", then: 899)),
        HistoryCase(
            "SQ004", breaks: false, "15 minutes", answered(500, "InternalServerError", then: 900)),
        HistoryCase("SQ004", breaks: false, "shutdown", answered(503, "Shutdown", then: 1)),
    ]
}
