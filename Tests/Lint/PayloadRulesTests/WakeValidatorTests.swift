// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing
import WakeModel

@Suite("Wake validator")
struct WakeValidatorTests {
    private let validator = WakeValidator()

    @Test("a payload is checked in three lines")
    func threeLineUse() {
        let payload = Array(#"{"aps":{"content-available":1},"version":7}"#.utf8)
        let findings = WakeValidator().diagnostics(ofPayload: payload, as: .background)
        #expect(findings.isEmpty)
    }

    @Test("a valid wake is the request, byte for byte, with the defaults of its kind")
    func validBackground() throws {
        let request = try request(
            .background, Array(cleanBackground.utf8), collapseID: "inbox")
        let verdict = validator.validate(request, now: testNow)
        let wake = try #require(verdict.validWake)
        #expect(wake.kind == .background)
        #expect(wake.payload == request.payload)
        #expect(wake.deviceToken == request.deviceToken)
        #expect(wake.bundleID == request.bundleID)
        #expect(wake.collapseID == request.collapseID)
        #expect(wake.expiration == ahead(86_400))
        #expect(wake.callID == nil)
        #expect(Set(verdict.diagnostics.map(\.rule)) == ["BG018", "BG026"])
    }

    @Test("the verdict is the same for every device token")
    func addressed() throws {
        let other = try DeviceToken(hex: "ff")
        for (kind, payload) in [(WakeKind.background, cleanBackground), (.voip, cleanCall)] {
            var request = try request(kind, Array(payload.utf8), collapseID: "inbox")
            let first = validator.validate(request, now: testNow)
            request.deviceToken = other
            let second = validator.validate(request, now: testNow)
            #expect(first.diagnostics == second.diagnostics)
            #expect(first.validWake?.addressed(to: other) == second.validWake)
        }
    }

    @Test("an expiration that is given stays")
    func givenExpiration() throws {
        let wake = try request(.background, Array(cleanBackground.utf8), expiration: ahead(60))
        #expect(validator.validate(wake, now: testNow).validWake?.expiration == ahead(60))
        let call = try request(.voip, Array(cleanCall.utf8), expiration: ahead(5))
        #expect(validator.validate(call, now: testNow).validWake?.expiration == ahead(5))
    }

    @Test("a call without an expiration gets one attempt")
    func validCall() throws {
        let call = try request(.voip, Array(cleanCall.utf8))
        let wake = try #require(validator.validate(call, now: testNow).validWake)
        #expect(wake.expiration == .immediately)
        #expect(wake.callID == "6f1c9d5e")
    }

    @Test(
        "the call's identifier is found by the order of the keys, at the top level first",
        arguments: [
            (#"{"callUUID":"a"}"#, "a"), (#"{"uuid":"b","call_uuid":"a"}"#, "a"),
            (#"{"data":{"callId":"b"},"sessionId":"a"}"#, "a"), (#"{"data":{"callId":"b"}}"#, "b"),
            (#"{"callId":17}"#, "17"), (#"{"callId":1.5,"uuid":"c"}"#, "c"),
            (#"{"callId":"","uuid":"c"}"#, "c"), (#"{"callId":"\u0061\u0062"}"#, "ab"),
            (#"{"aps":{"callUUID":"d"}}"#, "d"), (#"{"CALL-ID":"e"}"#, "e"),
            (#"{"callId":"ROOM-7"}"#, "ROOM-7"),
            (
                #"{"uuid":"6F1D1F0A-4C8E-4F3E-9B5B-\u0030A4F9C3E7D11"}"#,
                "6f1d1f0a-4c8e-4f3e-9b5b-0a4f9c3e7d11"
            ),
        ])
    func callIdentifier(payload: String, callID: String) throws {
        let call = try request(.voip, Array(payload.utf8), expiration: .immediately)
        #expect(validator.validate(call, now: testNow).validWake?.callID == callID)
    }

    @Test("call keys, thresholds and reserved names can be set")
    func configuration() throws {
        var configuration = WakeValidator.Configuration()
        configuration.callIdentifierKeys = ["room"]
        configuration.voipExpirationLimitSeconds = 5
        configuration.backgroundLifetimeSeconds = 60
        configuration.reservedKeys = ["mine", "x-*"]
        let own = WakeValidator(configuration: configuration)

        let call = try request(.voip, Array(#"{"Room":"7"}"#.utf8), expiration: ahead(6))
        let verdict = own.validate(call, now: testNow)
        #expect(verdict.validWake?.callID == "7")
        #expect(verdict.diagnostics.contains { $0.rule == "VO005" })
        let other = try request(.voip, Array(cleanCall.utf8), expiration: .immediately)
        // By its own keys alone a call is known again; other names only still the remark.
        #expect(own.validate(other, now: testNow).validWake?.callID == nil)

        let payload = #"{"aps":{"content-available":1},"v":1,"mine":1,"x-a":1,"from":1}"#
        let wake = try request(.background, Array(payload.utf8))
        let found = own.validate(wake, now: testNow)
        #expect(found.validWake?.expiration == ahead(60))
        #expect(found.diagnostics.filter { $0.rule == "G016" }.map(\.pointer) == ["/mine", "/x-a"])
        // The keys that a team names are reserved in calls too.
        let marked = try request(.voip, Array(#"{"Room":"7","mine":1}"#.utf8), expiration: ahead(6))
        #expect(own.validate(marked, now: testNow).diagnostics.contains { $0.rule == "G016" })
    }

    @Test("only errors refuse, and then all findings are in the list, in the payload's order")
    func allFindings() throws {
        let payload = """
            {
              "aps": {"content-available": true, "alert": "", "thread_id": 1},
              "größe": 1, "from": null,
              "badge": 1
            }
            """
        let wake = try request(.background, Array(payload.utf8))
        guard case .invalid(let found) = validator.validate(wake, now: testNow) else {
            Issue.record("the wake is valid")
            return
        }
        #expect(
            found.map { "\($0.line):\($0.column) \($0.rule)" } == [
                "1:1 BG018", "1:1 BG023", "2:32 BG011", "2:38 BG002", "2:51 G012",
                "3:15 G016", "3:23 G015", "4:3 G013",
            ])
        #expect(found.map(\.offset) == found.map(\.offset).sorted())
    }

    @Test("warnings and notes are remarks")
    func remarks() throws {
        let payload = #"{"aps":{"content-available":true},"from":1}"#
        let wake = try request(.background, Array(payload.utf8), expiration: ahead(60))
        guard case .valid(_, let remarks) = validator.validate(wake, now: testNow) else {
            Issue.record("the wake is invalid")
            return
        }
        #expect(remarks.map(\.rule) == ["BG023", "BG011", "G016"])
    }

    @Test("a payload by itself is not asked for headers")
    func payloadAlone() {
        let call = Array(#"{"callUUID":"x"}"#.utf8)
        let found = validator.diagnostics(ofPayload: call, as: .voip)
        #expect(Set(found.map(\.rule)) == ["VO004", "VO015"])
    }

    @Test("neither a wake's description nor a finding shows the payload or the token")
    func secretsStay() throws {
        let payload = #"{"aps":{"content-available":1,"badge":"c0ffee"},"v":"c0ffee@example.com"}"#
        let wake = try request(.background, Array(payload.utf8))
        for diagnostic in validator.validate(wake, now: testNow).diagnostics {
            #expect(!"\(diagnostic)".contains("c0ffee"))
        }
        let valid = try request(.background, Array(#"{"aps":{"content-available":1}}"#.utf8))
        let description = try #require(validator.validate(valid, now: testNow).validWake)
            .description
        #expect(!description.contains("content"))
        #expect(!description.contains("a5a5"))
        #expect(description.contains("31 bytes"))
    }

    @Test("a finding reads like a compiler's")
    func description() throws {
        let payload = Array("{\"aps\":{\"content-available\":1,\n \"badge\":0},\"v\":1}".utf8)
        let found = validator.diagnostics(ofPayload: payload, as: .background)
        #expect(
            found.map(\.description) == [
                """
                2:2: error BG004 /aps/badge: a background push has `badge`. Remove `badge`, or \
                send an alert push.
                """
            ])
    }

    @Test("a payload over 16 KiB is refused by its size alone")
    func hugePayload() throws {
        let wake = try request(.background, [UInt8](repeating: 0x5b, count: 1_000_000))
        let found = validator.validate(wake, now: testNow).diagnostics
        #expect(Set(found.map(\.rule)) == ["G003", "BG018"])
    }

    @Test("of many findings as many are told as were asked for, errors first, in their order")
    func manyFindings() throws {
        let twins = Array(repeating: #""":1"#, count: 400).joined(separator: ",")
        let payload = Array(#"{"aps":{"content-available":1},\#(twins),"aps":{"badge":1}}"#.utf8)
        let wake = try request(.background, payload)
        let all = validator.validate(wake, now: testNow).diagnostics
        #expect(all.count > 400)
        let told = validator.validate(wake, now: testNow, most: 10).diagnostics
        #expect(told.count == 10)
        let errors = all.count { $0.severity == .error }
        #expect(told.count { $0.severity == .error } == min(10, errors) && errors > 0)
        #expect(told.map(\.offset) == told.map(\.offset).sorted())
        #expect(validator.validate(wake, now: testNow, most: 10).validWake == nil)
    }
}
