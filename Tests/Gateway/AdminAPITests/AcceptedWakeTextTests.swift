// SPDX-License-Identifier: Apache-2.0

import Gateway
import PayloadRules
import SeedKit
import Testing
import WakeBudget
import WakeModel

@testable import AdminAPI

@Suite("Accepted wakes of a batch as text")
struct AcceptedWakeTextTests {
    @Test(
        "Each is the same to the byte as in an answer of its own",
        arguments: 1...20 as ClosedRange<UInt64>)
    func same(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var text = AcceptedWakeText(withDiagnostics: true)
        for _ in 0..<200 {
            let wake = try Self.wake(&random)
            var bytes: [UInt8] = []
            text.append(wake, to: &bytes)
            #expect(
                String(decoding: bytes, as: UTF8.self)
                    == String(decoding: wake.json.bytes, as: UTF8.self))
        }
    }

    /// Few values of each kind, so that neighbours often share some and seldom all.
    private static func wake(_ random: inout SeededGenerator) throws -> AcceptedWake {
        let accepted = WallInstant(millisecondsSinceEpoch: 1_700_000_000_000)
            .advanced(bySeconds: Int64(random.below(2)))
        var wake = AdmittedWake(
            id: id(&random), acceptedAt: accepted,
            deadline: accepted.advanced(bySeconds: Int64(random.below(2))),
            decision: decision(&random))
        let remark = Diagnostic(
            rule: "BG001", severity: .warning,
            message: "a \"word\" and a line\nbreak", fix: "Mend it.", line: 1 + random.below(2))
        if random.chance(oneIn: 3) { wake.diagnostics = [remark] }
        return try AcceptedWake(.admitted(wake))
    }

    private static func id(_ random: inout SeededGenerator) -> WakeID {
        WakeID(number: Int64(random.below(1 << 50)), entropy: random.next())
    }

    private static func decision(_ random: inout SeededGenerator) -> WakeDecision {
        let until = WallInstant(millisecondsSinceEpoch: Int64(random.below(2)))
        let holds = random.pick([DelayReasons(), DelayReasons(.spacing), DelayReasons(.hourly)])
        return random.pick([
            .send, .send, .deferred(until: until, because: holds),
            .coalesced(into: id(&random), .union, until: until, because: holds),
            .expired(earliest: until, because: holds),
            .suppressed(.backgroundAppRefreshOff(until: until)),
        ])
    }
}
