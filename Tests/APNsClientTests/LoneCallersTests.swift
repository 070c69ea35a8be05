// SPDX-License-Identifier: Apache-2.0

import APNsClient
import APNsWire
import PushTransport
import SeedKit
import Testing
import WakeModel

/// Many lone pushes at once, on a transport that the test plays.
@Suite("Callers with one push each", .timeLimit(.minutes(1)))
struct LoneCallersTests {
    @Test("answers in any order reach their own callers", arguments: 1...4 as ClosedRange<UInt64>)
    func order(seed: UInt64) async throws {
        let play = try Play()
        let client = play.client
        var random = SeededGenerator(seed: seed)
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
                // Now and then some are answered, so that the table is closed up.
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
}
