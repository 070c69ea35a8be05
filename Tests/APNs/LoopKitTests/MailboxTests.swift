// SPDX-License-Identifier: Apache-2.0

import Foundation
import PushTransport
import Synchronization
import Testing
import TransportTestKit
import WaitKit

@testable import LoopKit

@Suite("Mailbox", .timeLimit(.minutes(10)))
struct MailboxTests {
    /// Counts wakes, and holds each one up while its gate is closed.
    final class GatedWaker: LoopWaker {
        let wakes = Atomic(0)
        let isWaking = Atomic(false)
        let isOpen = Atomic(true)

        func wake() {
            isWaking.store(true, ordering: .sequentiallyConsistent)
            while !isOpen.load(ordering: .sequentiallyConsistent) { usleep(1000) }
            wakes.add(1, ordering: .sequentiallyConsistent)
        }
    }

    private func waitUntil(_ condition: () -> Bool) async throws {
        while !condition() { try await Task.sleep(for: .milliseconds(1)) }
    }

    @Test("a loop is woken once, and only if it said that it sleeps")
    func wakes() {
        let waker = GatedWaker()
        let mailbox = Mailbox(waker: waker)
        #expect(mailbox.submit(TestPush.submission(1)) == nil)
        #expect(waker.wakes.load(ordering: .relaxed) == 0)
        #expect(mailbox.fallAsleep() == 0, "a message is there")
        var contents = Mailbox.Contents()
        mailbox.take(into: &contents)
        #expect(contents.submissions.map(\.id) == [1])
        contents = Mailbox.Contents()
        #expect(mailbox.fallAsleep() == .max)
        #expect(mailbox.submit([TestPush.submission(2), TestPush.submission(3)]) == nil)
        mailbox.cancel(2)
        mailbox.ring()
        #expect(waker.wakes.load(ordering: .relaxed) == 1)
        mailbox.take(into: &contents)
        #expect(contents.submissions.map(\.id) == [2, 3])
        #expect(contents.cancellations.map(\.submittedBefore) == [2])
    }

    @Test("messages are handed out in the order in which they came, and then forgotten")
    func drain() {
        let mailbox = Mailbox(waker: GatedWaker())
        #expect(mailbox.submit([TestPush.submission(1), TestPush.submission(2)]) == nil)
        mailbox.cancel(1)
        #expect(mailbox.submit(TestPush.submission(3)) == nil)
        #expect(mailbox.submit([TestPush.submission(4), TestPush.submission(5)]) == nil)
        mailbox.cancel(2)
        mailbox.cancel(5)
        #expect(mailbox.submit(TestPush.submission(6)) == nil)
        mailbox.replaceConnections()
        mailbox.ring()
        var contents = Mailbox.Contents()
        mailbox.take(into: &contents)
        var story: [String] = []
        contents.drain(
            submission: { story.append("+\($0.id)") }, cancellation: { story.append("-\($0)") })
        #expect(story == ["+1", "+2", "-1", "+3", "+4", "+5", "-2", "-5", "+6"])
        contents.drain(
            submission: { story.append("+\($0.id)") }, cancellation: { story.append("-\($0)") })
        #expect(story.count == 9, "nothing is handed out twice")
        #expect(contents.submissions.isEmpty && contents.cancellations.isEmpty)
        #expect(!contents.replacesConnections && !contents.isRung)
    }

    @Test("what comes after shutdown began is given back as it was")
    func refused() {
        let mailbox = Mailbox(waker: GatedWaker())
        mailbox.requestShutdown(grace: .zero)
        #expect(mailbox.submit(TestPush.submission(7))?.id == 7)
        let batch = mailbox.submit([TestPush.submission(8), TestPush.submission(9)])
        #expect(batch?.map(\.id) == [8, 9])
    }

    @Test("submissions that gather wake the loop once, when the last group has come")
    func gathering() {
        let waker = GatedWaker()
        let mailbox = Mailbox(waker: waker)
        mailbox.beginGathering()
        mailbox.beginGathering()
        #expect(mailbox.submit(TestPush.submission(1)) == nil)
        #expect(mailbox.fallAsleep() == 1, "it may wait for the others, for a moment")
        #expect(mailbox.submit(TestPush.submission(2)) == nil)
        mailbox.endGathering()
        #expect(mailbox.submit(TestPush.submission(3)) == nil)
        #expect(waker.wakes.load(ordering: .relaxed) == 0)
        mailbox.endGathering()
        #expect(waker.wakes.load(ordering: .relaxed) == 1)
        var contents = Mailbox.Contents()
        mailbox.take(into: &contents)
        #expect(contents.submissions.map(\.id) == [1, 2, 3])
        contents = Mailbox.Contents()
        #expect(mailbox.fallAsleep() == .max, "nobody gathers any more")
        #expect(mailbox.submit(TestPush.submission(4)) == nil)
        #expect(waker.wakes.load(ordering: .relaxed) == 2)
    }

    @Test("a loop that fell asleep before they began to gather is woken by the first")
    func gatheringLate() {
        let waker = GatedWaker()
        let mailbox = Mailbox(waker: waker)
        #expect(mailbox.fallAsleep() == .max)
        mailbox.beginGathering()
        #expect(mailbox.submit(TestPush.submission(1)) == nil)
        #expect(waker.wakes.load(ordering: .relaxed) == 1)
        #expect(mailbox.submit(TestPush.submission(2)) == nil)
        mailbox.endGathering()
        #expect(waker.wakes.load(ordering: .relaxed) == 1)
    }

    @Test("nothing else waits for those that gather")
    func pressing() {
        let messages: [@Sendable (Mailbox) -> Void] = [
            { _ = $0.submit([TestPush.submission(2)]) }, { $0.cancel(1) }, { $0.ring() },
            { $0.replaceConnections() }, { $0.requestShutdown(grace: .zero) },
        ]
        for message in messages {
            let waker = GatedWaker()
            let mailbox = Mailbox(waker: waker)
            mailbox.beginGathering()
            #expect(mailbox.submit(TestPush.submission(1)) == nil)
            #expect(mailbox.fallAsleep() == 1)
            message(mailbox)
            #expect(waker.wakes.load(ordering: .relaxed) == 1)
            #expect(mailbox.fallAsleep() == 0, "a message is there that does not wait")
            mailbox.endGathering()
            #expect(waker.wakes.load(ordering: .relaxed) == 1)
        }
    }

    @Test("closing waits for who is waking the loop, and nobody wakes it afterwards")
    func closing() async throws {
        let waker = GatedWaker()
        let mailbox = Mailbox(waker: waker)
        waker.isOpen.store(false, ordering: .sequentiallyConsistent)
        #expect(mailbox.fallAsleep() == .max)
        let ringing = Thread { mailbox.ring() }
        ringing.start()
        try await waitUntil { waker.isWaking.load(ordering: .sequentiallyConsistent) }
        let isClosed = SharedFlag()
        let closing = Thread {
            _ = mailbox.close(gauges: TransportGauges())
            isClosed.raise()
        }
        closing.start()
        #expect(
            try await holds(for: .milliseconds(50)) { !isClosed.isRaised },
            "the reactor is still being written to")
        waker.isOpen.store(true, ordering: .sequentiallyConsistent)
        try await waitUntil { isClosed.isRaised }
        mailbox.ring()
        mailbox.requestShutdown(grace: .zero)
        #expect(mailbox.submit(TestPush.submission(1)) != nil)
        #expect(waker.wakes.load(ordering: .relaxed) == 1)
    }

    @Test("whoever shuts down while the loop closes waits until it has left")
    func secondShutdown() async throws {
        let mailbox = Mailbox(waker: GatedWaker())
        mailbox.requestShutdown(grace: .zero)
        _ = mailbox.close(gauges: TransportGauges())
        let hasReturned = SharedFlag()
        let second = Task {
            await mailbox.shutDown(grace: .zero)
            hasReturned.raise()
        }
        #expect(
            try await holds(for: .milliseconds(50)) { !hasReturned.isRaised },
            "the last outcomes are not reported yet")
        mailbox.releaseWaiters()
        await second.value
        await mailbox.shutDown(grace: .zero)
    }

    final class SharedFlag: Sendable {
        private let flag = Atomic(false)
        func raise() { flag.store(true, ordering: .sequentiallyConsistent) }
        var isRaised: Bool { flag.load(ordering: .sequentiallyConsistent) }
    }
}
