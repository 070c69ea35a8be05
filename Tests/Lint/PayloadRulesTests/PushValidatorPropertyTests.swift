// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import SeedKit
import Testing
import WakeModel

@Suite("Push validator, by seed")
struct PushValidatorPropertyTests {
    @Test(
        "every draft gets an answer whose places lie in the payload", arguments: [UInt64](51...54))
    func randomDrafts(seed: UInt64) {
        var pushes = RandomPushes(seed: seed)
        let validator = PushValidator()
        var rules: Set<RuleID> = []
        for index in PropertyRounds.few(800) {
            let draft = pushes.draft()
            let report = validator.report(on: draft)
            rules.formUnion(report.diagnostics.map(\.rule))
            let count = draft.payload.count
            let fault = report.diagnostics.first { found in
                let edits = found.repair?.edits ?? []
                return !(0...count).contains(found.offset) || found.line < 1 || found.column < 1
                    || found.message.isEmpty || found.fix.isEmpty
                    || edits.contains { $0.range.lowerBound < 0 || $0.range.upperBound > count }
                    || (found.header != nil && found.offset != 0)
            }
            if let fault {
                Issue.record("seed \(seed), draft \(index): \(fault)")
                return
            }
        }
        // The generator is worth something only if it reaches most rules.
        #expect(rules.count > 60)
    }

    @Test("so does every history", arguments: [UInt64](61...62))
    func randomHistories(seed: UInt64) {
        var pushes = RandomPushes(seed: seed)
        var history = PushHistory()
        var rules: Set<RuleID> = []
        var milliseconds: Int64 = 1_795_255_200_000
        for _ in PropertyRounds.few(1_000) {
            milliseconds += pushes.generator.pick([-60_000, 0, 0, 1, 1000, 60_000, 4_000_000])
            let answer = pushes.generator.pick(
                [
                    nil, .init(status: 200), .init(status: 410, reason: "Unregistered"),
                    .init(status: 500), .init(status: 400, reason: "BadDeviceToken"),
                ] as [SentPush.Answer?])
            let push = SentPush(
                at: WallInstant(millisecondsSinceEpoch: milliseconds),
                device: pushes.generator.pick(["a", "b", "c"]), draft: pushes.draft(),
                answer: answer, token: .init(isDeleted: pushes.generator.chance(oneIn: 8)))
            rules.formUnion(history.examine(push).map(\.rule))
        }
        #expect(rules.count > 4)
    }
}
