// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing
import WakeModel

/// The test vectors of facts §12, as wakes where a wake can express them, and all as drafts.
/// The lists there name errors and warnings; notes are listed for clean pushes only.
@Suite("Test vectors")
struct TestVectorTests {
    private func findings(
        _ kind: WakeKind, _ payload: String, expiration: Expiration? = nil
    ) throws -> [Diagnostic] {
        let request = try request(kind, Array(payload.utf8), expiration: expiration)
        return WakeValidator().validate(request, now: testNow).diagnostics
    }

    private func weighty(_ diagnostics: [Diagnostic]) -> Set<RuleID> {
        Set(diagnostics.filter { $0.severity > .note }.map(\.rule))
    }

    @Test("1: a background push with content-available alone is clean but for its expiration")
    func cleanBackgroundPush() throws {
        let found = try findings(.background, #"{"aps":{"content-available":1},"v":7}"#)
        #expect(found.map(\.rule) == ["BG018"])
    }

    @Test(
        "4 to 6: background pushes",
        arguments: [
            (#"{"aps":{"content-available":1,"badge":0}}"#, ["BG004"]),
            (#"{"aps":{"content-available":"1"}}"#, ["BG001", "BG010"]),
            (#"{"content-available":1}"#, ["BG001", "G010", "G013"]),
        ] as [(String, Set<RuleID>)])
    func background(payload: String, rules: Set<RuleID>) throws {
        #expect(try weighty(findings(.background, payload)) == rules)
    }

    @Test("10: an expiration of 300")
    func relativeExpiration() throws {
        let found = try findings(
            .background, #"{"aps":{"content-available":1},"v":7}"#, expiration: absolute(300))
        #expect(found.map(\.rule) == ["H011"])
    }

    @Test("11: a call with an identifier and a caller is clean but for its time")
    func cleanCallPush() throws {
        let found = try findings(
            .voip, #"{"callUUID":"…","handle":"Ann"}"#, expiration: .immediately)
        #expect(found.map(\.rule) == ["VO015"])
    }

    @Test("12: a chat message is no call")
    func chatAsCall() throws {
        let found = try findings(.voip, #"{"aps":{"alert":"hi"},"type":"chat"}"#)
        #expect(weighty(found) == ["VO003", "VO008", "VO009"])
    }

    @Test("13: a cancelled call is no call")
    func cancellation() throws {
        let found = try findings(
            .voip, #"{"callUUID":"…","event":"cancel"}"#, expiration: .immediately)
        #expect(weighty(found) == ["VO007"])
    }

    @Test("14 and 15: one byte too many")
    func sizes() throws {
        let call = try request(
            .voip, body(5121, #""callUUID":"x","handle":"Ann""#), expiration: .immediately)
        let wake = try request(
            .background, body(4097, #""aps":{"content-available":1},"v":7"#))
        let validator = WakeValidator()
        #expect(weighty(validator.validate(call, now: testNow).diagnostics) == ["VO002"])
        #expect(weighty(validator.validate(wake, now: testNow).diagnostics) == ["G003"])
    }

    @Test("16: a collapse id of 66 bytes cannot be made")
    func collapseID() {
        let error = #expect(throws: InvalidField.self) {
            try CollapseID(String(repeating: "é", count: 33))
        }
        #expect(error?.problem.contains("66 bytes") == true)
    }

    /// One row of the table: headers, body, and the errors and warnings that are expected.
    struct Row: Sendable, CustomTestStringConvertible {
        let number: Int
        let type: PushType
        let changes: [PushDraft.Header]
        let payload: String
        let expected: Set<RuleID>
        var notes: Set<RuleID>?

        var testDescription: String { "\(number)" }
    }

    private static let clean = #"{"aps":{"content-available":1},"v":7}"#
    private static let noExpiration = PushDraft.Header("apns-expiration", "")

    static let rows: [Row] = [
        Row(
            number: 1, type: .background, changes: [noExpiration], payload: clean, expected: [],
            notes: ["BG018"]),
        Row(
            number: 2, type: .background, changes: [noExpiration, .init("apns-priority", "")],
            payload: clean, expected: ["BG007"]),
        Row(
            number: 3, type: .background, changes: [noExpiration, .init("apns-priority", "10")],
            payload: clean, expected: ["BG006"]),
        Row(
            number: 4, type: .background, changes: [noExpiration],
            payload: #"{"aps":{"content-available":1,"badge":0}}"#, expected: ["BG004"]),
        Row(
            number: 5, type: .background, changes: [noExpiration],
            payload: #"{"aps":{"content-available":"1"}}"#, expected: ["BG010", "BG001"]),
        Row(
            number: 6, type: .background, changes: [noExpiration],
            payload: #"{"content-available":1}"#, expected: ["G010", "G013", "BG001"]),
        Row(
            number: 7, type: .alert, changes: [noExpiration, .init("apns-priority", "5")],
            payload: #"{"aps":{"content-available":1}}"#, expected: ["BG013", "AL001"]),
        Row(
            number: 8, type: .alert, changes: [noExpiration],
            payload: #"{"aps":{"alert":{"body":"x"},"content-available":1}}"#, expected: [],
            notes: ["BG015"]),
        Row(
            number: 9, type: .background,
            changes: [noExpiration, .init("apns-topic", "com.example.app.voip")], payload: clean,
            expected: ["BG009", "H007"]),
        Row(
            number: 10, type: .background, changes: [.init("apns-expiration", "300")],
            payload: clean, expected: ["H011"]),
        Row(
            number: 11, type: .voip, changes: [], payload: #"{"callUUID":"…","handle":"Ann"}"#,
            expected: [], notes: ["VO015"]),
        Row(
            number: 12, type: .voip, changes: [noExpiration],
            payload: #"{"aps":{"alert":"hi"},"type":"chat"}"#,
            expected: ["VO003", "VO005", "VO008", "VO009"]),
        Row(
            number: 13, type: .voip, changes: [],
            payload: #"{"callUUID":"…","event":"cancel"}"#, expected: ["VO007"]),
        Row(
            number: 14, type: .voip, changes: [],
            payload: String(
                decoding: body(5121, #""callUUID":"x","handle":"Ann""#), as: UTF8.self),
            expected: ["VO002"]),
        Row(
            number: 15, type: .background, changes: [],
            payload: String(
                decoding: body(4097, #""aps":{"content-available":1},"v":7"#), as: UTF8.self),
            expected: ["G003"]),
        Row(
            number: 16, type: .alert,
            changes: [.init("apns-collapse-id", String(repeating: "é", count: 33))],
            payload: #"{"aps":{"alert":"x"}}"#, expected: ["H016"]),
    ]

    @Test("each row of the table, as a draft", arguments: rows)
    func rowsAsDrafts(row: Row) {
        let draft = DraftCase.good(row.type, row.changes, row.payload)
        let found = PushValidator().report(on: draft).diagnostics
        #expect(weighty(found) == row.expected)
        if let notes = row.notes {
            #expect(Set(found.filter { $0.severity == .note }.map(\.rule)) == notes)
        }
    }
}
