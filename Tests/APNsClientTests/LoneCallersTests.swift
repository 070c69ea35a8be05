// SPDX-License-Identifier: Apache-2.0

import APNsClient
import APNsWire
import PushTransport
import Testing
import WakeModel

/// Many lone pushes at once, on a transport that the test plays.
@Suite("Callers with one push each", .timeLimit(.minutes(1)))
struct LoneCallersTests {
    @Test("answers in any order reach their own callers", arguments: 1...4 as ClosedRange<UInt64>)
    func order(seed: UInt64) async throws {
        let play = try Play()
        let client = play.client
        var random = Generator(state: seed)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<400 {
                let push = try Samples.background(number)
                group.addTask {
                    let acceptance = try await client.send(push).acceptance
                    #expect(acceptance?.apnsID == push.apnsID, "seed \(seed)")
                }
            }
            var waiting: [Submission] = []
            for number in 0..<400 {
                waiting.append(await play.nextSubmission())
                // Now and then some are answered, so that the table grows and shrinks.
                guard number == 399 || random.next() % 8 == 0 else { continue }
                waiting.shuffle(using: &random)
                let left = number == 399 ? 0 : Int(random.next() % UInt64(waiting.count))
                while waiting.count > left {
                    let submission = waiting.removeLast()
                    play.transport.answer(
                        submission.id, 200, apnsID: submission.request.apnsID)
                }
            }
            try await group.waitForAll()
        }
    }

    /// SplitMix64.
    private struct Generator: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9e37_79b9_7f4a_7c15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
            return mixed ^ (mixed >> 31)
        }
    }
}
