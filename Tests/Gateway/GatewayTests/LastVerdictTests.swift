// SPDX-License-Identifier: Apache-2.0

import GatewayTestKit
import PayloadRules
import SeedKit
import Testing
import WakeModel

@testable import Gateway

@Suite("The verdict on the request before")
struct LastVerdictTests {
    @Test(
        "It is what the rules say of the request at hand",
        arguments: 1...10 as ClosedRange<UInt64>)
    func same(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let validator = WakeValidator()
        var verdicts = LastVerdict(validator, findingCount: 5)
        let payloads = [
            #"{"aps":{"content-available":1}}"#, #"{"aps":{"content-available":1},"a":1}"#,
            #"{"aps":{"content-available":2}}"#, #"{"callUUID":"1"}"#, #"{"callUUID":"2"}"#,
        ]
        for _ in 0..<300 {
            var request = Samples.request(
                random.chance(oneIn: 3) ? .voip : .background,
                app: random.chance(oneIn: 4) ? Samples.otherApp : Samples.app,
                device: UInt64(random.below(2)),
                expiration: random.chance(oneIn: 4) ? .immediately : nil)
            request.payload = Array(random.pick(payloads).utf8)
            request.collapseID = random.chance(oneIn: 4) ? try? CollapseID("inbox") : nil
            let now = Samples.start.advanced(bySeconds: Int64(random.below(2)))
            #expect(
                verdicts.verdict(on: request, now: now)
                    == validator.validate(request, now: now, most: 5))
        }
    }

    @Test("Repetitions that were accepted at many instants have the verdicts of those")
    func instants() {
        let validator = WakeValidator()
        var verdicts = LastVerdict(validator, findingCount: 5)
        // What the rules say of the time that is left depends on when they look.
        let expiration = Expiration.at(Samples.start.advanced(bySeconds: 30 * 86_400 + 60))
        var seen: Set<Int> = []
        for step in 0..<400 {
            let now = Samples.start.advanced(bySeconds: Int64(step % 100) * 3_600)
            let request = Samples.request(.background, device: UInt64(step), expiration: expiration)
            let verdict = verdicts.verdict(on: request, now: now)
            #expect(verdict == validator.validate(request, now: now, most: 5))
            if case .valid(_, let remarks) = verdict { seen.insert(remarks.count) }
        }
        #expect(seen.count > 1, "The instants made no difference.")
    }
}
