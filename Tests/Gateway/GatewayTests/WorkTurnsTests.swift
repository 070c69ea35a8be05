// SPDX-License-Identifier: Apache-2.0

import GatewayTestKit
import Synchronization
import Testing
import WaitKit

@testable import Gateway

@Suite("Turns on the processors", .timeLimit(.minutes(10)))
struct WorkTurnsTests {
    /// Who did something, in order.
    private final class Book: Sendable {
        private let lines = Mutex<[Int]>([])

        var all: [Int] { lines.withLock { $0 } }
        func note(_ line: Int) { lines.withLock { $0.append(line) } }
    }

    /// How many are at work at present, and were at most.
    private final class Workers: Sendable {
        private let count = Mutex((present: 0, most: 0))

        var most: Int { count.withLock { $0.most } }

        func begin() {
            count.withLock {
                $0.present += 1
                $0.most = max($0.most, $0.present)
            }
        }

        func end() { count.withLock { $0.present -= 1 } }
    }

    /// Works for longer than a turn.
    private static func work() {
        let end = ContinuousClock.now + WorkTurns.length
        while ContinuousClock.now < end {}
    }

    @Test("No more have a turn at a time than there are turns", arguments: [1, 3])
    func count(turnCount: Int) async {
        let turns = WorkTurns(processorCount: turnCount + 1)
        let workers = Workers()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    let turn = await turns.begin()
                    for _ in 0..<5 {
                        workers.begin()
                        Self.work()
                        workers.end()
                        await turn.pause()
                    }
                    turn.end()
                }
            }
        }
        #expect(workers.most <= turnCount)
    }

    @Test(
        "One processor is left to others, where there are several",
        arguments: [(1, 1), (2, 1), (3, 2), (64, 63)])
    func turnCount(processorCount: Int, turnCount: Int) async throws {
        let limits = GatewayLimits(processorCount: processorCount)
        let gateway = Gateway(
            apps: [Samples.app], store: InMemoryWakeStore(), sender: ScriptedSender(),
            limits: limits, logger: .silent)
        let turns = gateway.workTurns
        let book = Book()
        var held: [WorkTurn] = []
        for _ in 0..<turnCount { held.append(await turns.begin()) }
        let next = Task {
            book.note(1)
            let turn = await turns.begin()
            book.note(3)
            turn.end()
        }
        while book.all.isEmpty { await Task.yield() }
        #expect(try await holds(for: .milliseconds(20)) { book.all == [1] })
        book.note(2)
        for turn in held { turn.end() }
        await next.value
        #expect(book.all == [1, 2, 3])
    }

    @Test("Whoever has much to do lets whoever waits have a turn in between")
    func alternation() async {
        let turns = WorkTurns(processorCount: 2)
        let book = Book()
        let first = await turns.begin()
        let second = Task {
            let turn = await turns.begin()
            book.note(2)
            turn.end()
        }
        // Until the second one waits, each pause comes back at once.
        var pauses = 0
        while book.all.isEmpty, pauses < 100_000 {
            Self.work()
            await first.pause()
            pauses += 1
        }
        book.note(1)
        first.end()
        await second.value
        #expect(book.all == [2, 1])
    }

    @Test("A turn that is ended twice, or given to one who waits, is one turn")
    func ends() async {
        let turns = WorkTurns(processorCount: 2)
        let turn = await turns.begin()
        let waiting = Task { await turns.begin().end() }
        turn.end()
        turn.end()
        await waiting.value
        // Had the second end freed a turn of its own, two of these would work at a time.
        let workers = Workers()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    let turn = await turns.begin()
                    workers.begin()
                    Self.work()
                    workers.end()
                    turn.end()
                }
            }
        }
        #expect(workers.most == 1)
    }
}
