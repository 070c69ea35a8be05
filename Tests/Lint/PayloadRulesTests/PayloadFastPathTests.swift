// SPDX-License-Identifier: Apache-2.0

import JSONTestKit
import PayloadRules
import SeedKit
import Testing
import WakeModel

/// The quick look at payloads. `validate` uses it and `diagnostics(ofPayload:)` does not, so that
/// the two have to agree on every payload.
@Suite("Quick look at clean payloads")
struct PayloadFastPathTests {
    private let validator = WakeValidator()

    /// Whether both ways to check a payload find the same; what they find if not. The rules about
    /// headers have no remark on the request.
    private func disagreement(
        on payload: [UInt8], as kind: WakeKind = .background
    ) throws -> String? {
        let expiration = kind == .voip ? Expiration.immediately : ahead(60)
        let verdict = validator.validate(
            try request(kind, payload, expiration: expiration), now: testNow)
        let byPayload = validator.diagnostics(ofPayload: payload, as: kind)
        guard verdict.diagnostics == byPayload else {
            return "\(verdict.diagnostics) and \(byPayload)"
        }
        guard let wake = verdict.validWake, let start = payload.firstIndex(of: UInt8(ascii: "{"))
        else { return nil }
        // What is null is not looked at quickly, and names no call.
        let slow = payload[...start] + Array(#""zz":null,"#.utf8) + payload[(start + 1)...]
        let same = validator.validate(
            try request(kind, Array(slow), expiration: expiration), now: testNow)
        // Without a member behind it the comma is one too many.
        guard let slowWake = same.validWake else { return nil }
        return wake.callID == slowWake.callID ? nil : "\(wake.callID ?? "no call")"
    }

    @Test("agrees with the rules on every case of their tables")
    func tables() throws {
        for example in RuleCase.all {
            for kind in [WakeKind.background, .voip] {
                #expect(
                    try disagreement(on: example.payload, as: kind) == nil,
                    "\(example.testDescription), \(kind)")
            }
        }
        for text in JSONScannerCases.accepted {
            let payload = Array(#"{"aps":{"content-available":1},"v":1,"x":"#.utf8) + text.bytes
            #expect(try disagreement(on: payload + Array("}".utf8)) == nil, "\(text.name)")
        }
        for text in JSONScannerCases.refused {
            let payload = Array(#"{"aps":{"content-available":1},"v":1,"x":"#.utf8) + text.bytes
            #expect(try disagreement(on: payload + Array("}".utf8)) == nil, "\(text.name)")
        }
    }

    @Test("agrees with the rules on payloads that are nearly clean", arguments: [UInt64](31...34))
    func mutatedPayloads(seed: UInt64) throws {
        var payloads = RandomPushes(seed: seed)
        var clean = 0
        for index in PropertyRounds.few(500) {
            let payload = payloads.background()
            if let fault = try disagreement(on: payload) {
                Issue.record(
                    "seed \(seed), payload \(index), \(payload): \(fault)"
                )
                return
            }
            if validator.diagnostics(ofPayload: payload, as: .background).isEmpty { clean += 1 }
        }
        #expect(clean > 100)
    }

    @Test("agrees with the rules on calls that are nearly clean", arguments: [UInt64](41...44))
    func mutatedCalls(seed: UInt64) throws {
        var payloads = RandomPushes(seed: seed)
        var clean = 0
        for index in PropertyRounds.few(1000) {
            let payload = payloads.call()
            if let fault = try disagreement(on: payload, as: .voip) {
                Issue.record("seed \(seed), payload \(index), \(payload): \(fault)")
                return
            }
            if validator.diagnostics(ofPayload: payload, as: .voip).isEmpty { clean += 1 }
        }
        #expect(clean > 100)
    }

    @Test(
        "tells what is missing in a usual wake as the rules do",
        arguments: [nil, Expiration.immediately, ahead(60), ahead(100_000)],
        [
            #""v":1,"#, "", #""hint":"x","#, #""o":{"version":2},"#,
            #""v":"\#(String(repeating: "x", count: 3900))","#,
        ])
    func omissions(expiration: Expiration?, member: String) throws {
        func findings(_ start: String, _ end: String, most count: Int) throws -> [Diagnostic] {
            let text = start + member + #""aps":{"content-available":1}"# + end
            let wake = try request(.background, Array(text.utf8), expiration: expiration)
            return validator.validate(wake, now: testNow, most: count).diagnostics
        }
        for start in ["{", " {"] {
            for count in [.max, 1, 0] {
                // An escape is not looked at quickly.
                let slow = try findings(start, #","zz":"\/"}"#, most: count)
                let quick = try findings(start, #","zz":"ab"}"#, most: count)
                #expect(quick == slow)
            }
        }
    }

    @Test("takes the call's name by its rank, then by its place")
    func ranks() throws {
        for (text, id) in [
            (#"{"uuid":"u","call_id":"a","callId":"b","from":"x","ts":1}"#, "a"),
            (#"{"callUUID":"","uuid":17,"from":"x","ts":1,"aps":{}}"#, "17"),
            // A UUID in any letter case is the same call.
            (
                #"{"callUUID":"6F1D1F0A-4C8E-4F3E-9B5B-30A4F9C3E7D1","from":"x","ts":1}"#,
                "6f1d1f0a-4c8e-4f3e-9b5b-30a4f9c3e7d1"
            ),
        ] {
            let wake = try request(.voip, Array(text.utf8), expiration: .immediately)
            #expect(validator.validate(wake, now: testNow).validWake?.callID == id)
            #expect(try disagreement(on: Array(text.utf8), as: .voip) == nil)
        }
    }

    /// At each place one value of two or of eight, other ones at the next place; where more rounds
    /// are asked for, every value at every place.
    @Test(
        "agrees with the rules on every single byte changed",
        arguments: [
            (WakeKind.background, cleanBackground, 2),
            (
                .background,
                #"{"aps":{"content-available":1},"version":2,"type":"sync","a":[1,{"b":"c"}]}"#, 8
            ),
            (.voip, cleanCall, 8),
            (
                .voip,
                #"{"aps":{},"Call-Id":12,"from":"x","time":1,"type":"call","o":{"is":true}}"#, 8
            ),
        ])
    func everyByte(kind: WakeKind, text: String, stride: Int) throws {
        let payload = Array(text.utf8)
        let stride = PropertyRounds.areMany ? 1 : stride
        for place in payload.indices {
            for byte in UInt8.min...UInt8.max
            where (place + Int(byte)).isMultiple(of: stride) {
                var changed = payload
                changed[place] = byte
                if let fault = try disagreement(on: changed, as: kind) {
                    Issue.record("byte \(place) is \(byte): \(fault)")
                    return
                }
            }
        }
    }
}
