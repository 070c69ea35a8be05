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

    @Test("callers who are answered together have their next pushes gathered; one alone has not")
    func gathering() async throws {
        let play = try Play()
        let client = play.client
        let count = 5
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                let push = try Samples.background(number)
                group.addTask { for _ in 0..<2 { _ = try await client.send(push) } }
            }
            var ids: [Submission.ID] = []
            for _ in 0..<count { ids.append(await play.nextSubmission().id) }
            #expect(play.transport.takeEvents().isEmpty)
            play.transport.accept(ids)
            ids = []
            for _ in 0..<count { ids.append(await play.nextSubmission().id) }
            var steps: [ScriptedTransport.Event] = []
            while steps.count < 2 {
                steps += play.transport.takeEvents()
                await Task.yield()
            }
            guard case (.beganGathering, .endedGathering) = (steps[0], steps[1]) else {
                Issue.record("It was not told that they come: \(steps)")
                return
            }
            for id in ids {
                play.transport.accept([id])
                for event in play.transport.takeEvents() {
                    if case .beganGathering = event { Issue.record("One alone was announced.") }
                }
            }
            try await group.waitForAll()
        }
    }
}
