// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing
import WakeModel

/// The quick look at background payloads. `validate` uses it and `diagnostics(ofPayload:)` does
/// not, so that the two have to agree on every payload.
@Suite("Quick look at clean payloads")
struct PayloadFastPathTests {
    private let validator = WakeValidator()

    /// Whether both ways to check a payload find the same; what they find if not. The rules about
    /// headers have no remark on the request.
    private func disagreement(on payload: [UInt8]) throws -> String? {
        let wake = try request(.background, payload, expiration: ahead(60))
        let byRequest = validator.validate(wake, now: testNow).diagnostics
        let byPayload = validator.diagnostics(ofPayload: payload, as: .background)
        return byRequest == byPayload ? nil : "\(byRequest) and \(byPayload)"
    }

    @Test("agrees with the rules on every case of their tables")
    func tables() throws {
        for example in RuleCase.all {
            #expect(try disagreement(on: example.payload) == nil, "\(example.testDescription)")
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

    /// At each place one value of two or of eight, other ones at the next place; where more rounds
    /// are asked for, every value at every place.
    @Test(
        "agrees with the rules on every single byte changed",
        arguments: [
            (cleanBackground, 2),
            (#"{"aps":{"content-available":1},"version":2,"type":"sync","a":[1,{"b":"c"}]}"#, 8),
        ])
    func everyByte(text: String, stride: Int) throws {
        let payload = Array(text.utf8)
        let stride = PropertyRounds.areMany ? 1 : stride
        for place in payload.indices {
            for byte in UInt8.min...UInt8.max
            where (place + Int(byte)).isMultiple(of: stride) {
                var changed = payload
                changed[place] = byte
                if let fault = try disagreement(on: changed) {
                    Issue.record("byte \(place) is \(byte): \(fault)")
                    return
                }
            }
        }
    }
}
