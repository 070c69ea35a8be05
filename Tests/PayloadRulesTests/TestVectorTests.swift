// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing
import WakeModel

/// The test vectors of reference §12 that a request can express. The lists there name errors and
/// warnings; notes are listed for clean pushes only.
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
        #expect(weighty(found) == ["VO003", "VO005", "VO008", "VO009"])
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
}
