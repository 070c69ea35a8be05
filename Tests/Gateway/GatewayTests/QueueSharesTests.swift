// SPDX-License-Identifier: Apache-2.0

import GatewayTestKit
import Testing
import WakeModel

@testable import Gateway

@Suite("Queues share the room in flight")
struct QueueSharesTests {
    private static let start = Samples.start
    private static let mute = WakeQueueKey(app: Samples.app, kind: .background)
    private static let other = WakeQueueKey(app: Samples.otherApp, kind: .background)
    private static let otherCalls = WakeQueueKey(app: Samples.otherApp, kind: .voip)

    private static var limits: GatewayLimits {
        var limits = GatewayLimits()
        limits.inFlightCount = 1_600
        limits.voipReserveCount = 100
        return limits
    }

    /// A queue that was answered so often that its window is as large as the pool, with as much in
    /// flight that is not answered.
    private static func busy() -> QueueShares {
        var shares = QueueShares(limits: limits)
        while true {
            let room = shares.room(for: mute, at: start)
            guard room > 0 else { break }
            shares.take(room, of: mute, at: start)
            shares.sent(room, of: mute, at: start)
            for _ in 0..<room { _ = shares.note(.answered, on: mute, at: start) }
        }
        let count = shares.inFlight
        shares.giveBack(count, of: mute)
        shares.take(count, of: mute, at: start)
        shares.sent(count, of: mute, at: start)
        return shares
    }

    @Test("A queue that is alone gets all of the pool but what is kept for calls")
    func alone() {
        let shares = Self.busy()
        #expect(shares.inFlight == 1_500)
        #expect(shares.inFlight(of: Self.mute) == 1_500)
    }

    @Test("When one queue has all of the pool, each other one has its reserve at once")
    func reserve() {
        var shares = Self.busy()
        #expect(shares.room(for: Self.other, at: Self.start) == 64)
        #expect(shares.room(for: Self.otherCalls, at: Self.start) == 100)
        shares.take(64, of: Self.other, at: Self.start)
        #expect(shares.room(for: Self.other, at: Self.start) == 0)
        // What the first gives back beyond that is for the one with fewer in flight.
        shares.giveBack(64 + 30, of: Self.mute)
        let (order, limit) = shares.order(
            of: [Self.mute, Self.other].map { ClaimOrder.Share(queue: $0, limit: 500) },
            limit: 500, at: Self.start)
        #expect(order.first == ClaimOrder.Share(queue: Self.other, limit: 30))
        #expect(limit == 30)
    }

    @Test("What is not answered from the start takes no more than the first window")
    func firstWindow() {
        var shares = QueueShares(limits: Self.limits)
        #expect(shares.room(for: Self.mute, at: Self.start) == 256)
        shares.take(256, of: Self.mute, at: Self.start)
        shares.sent(256, of: Self.mute, at: Self.start)
        #expect(shares.room(for: Self.mute, at: Self.start) == 0)
        // Each answer frees a place and adds one.
        for _ in 0..<100 { _ = shares.note(.answered, on: Self.mute, at: Self.start) }
        shares.giveBack(100, of: Self.mute)
        #expect(shares.room(for: Self.mute, at: Self.start) == 200)
    }

    @Test("A queue without any answer for long has a few probes, and its room is the others'")
    func unresponsive() {
        var shares = Self.busy()
        let silent = Self.start.advanced(bySeconds: 5)
        #expect(shares.unresponsiveness(of: Self.mute, at: silent)?.since == Self.start)
        #expect(shares.room(for: Self.other, at: silent) == 256)
        // Another probe goes now and then, although none has come back.
        #expect(shares.room(for: Self.mute, at: silent) == 1)
        shares.take(1, of: Self.mute, at: silent)
        #expect(shares.room(for: Self.mute, at: silent) == 0)
        let next = silent.advanced(bySeconds: 5)
        #expect(shares.nextProbe(of: [Self.mute], after: silent) == next)
        #expect(shares.room(for: Self.mute, at: next) == 1)

        for _ in 0..<1_501 { _ = shares.note(.unanswered("late"), on: Self.mute, at: next) }
        shares.giveBack(1_501, of: Self.mute)
        #expect(shares.room(for: Self.mute, at: next) == 4)
        shares.take(4, of: Self.mute, at: next)
        shares.sent(4, of: Self.mute, at: next)
        let responds = shares.note(.answered, on: Self.mute, at: next)
        #expect(responds)
        #expect(shares.unresponsiveness(of: Self.mute, at: next) == nil)
        #expect(shares.room(for: Self.mute, at: next) == 252)
    }

    @Test("Failures in a row make a queue unresponsive before its patience ends")
    func failures() {
        var shares = QueueShares(limits: Self.limits)
        shares.take(40, of: Self.mute, at: Self.start)
        shares.sent(40, of: Self.mute, at: Self.start)
        for _ in 0..<31 { _ = shares.note(.unanswered("lost"), on: Self.mute, at: Self.start) }
        #expect(shares.unresponsive(at: Self.start).isEmpty)
        _ = shares.note(.unanswered("lost"), on: Self.mute, at: Self.start)
        let found = shares.unresponsive(at: Self.start)[Self.mute]
        #expect(
            found?.explanation
                == "APNs has answered nothing since \(Self.start), so only 4 wakes at a time are "
                + "sent as probes until an answer comes; the rest waits.")
    }

    @Test("A queue that has nothing in flight is not unresponsive, however long that is so")
    func idle() {
        var shares = QueueShares(limits: Self.limits)
        shares.take(2, of: Self.mute, at: Self.start)
        shares.sent(2, of: Self.mute, at: Self.start)
        for _ in 0..<2 { _ = shares.note(.answered, on: Self.mute, at: Self.start) }
        shares.giveBack(2, of: Self.mute)
        let later = Self.start.advanced(bySeconds: 3_600)
        #expect(shares.unresponsive(at: later).isEmpty)
        // Reserved room that nothing was claimed for is no push without an answer.
        shares.take(5, of: Self.mute, at: later)
        shares.giveBack(5, of: Self.mute)
        #expect(shares.unresponsive(at: later.advanced(bySeconds: 60)).isEmpty)
    }

    @Test("A queue whose last push failed is not unresponsive while none is in flight")
    func failedLast() {
        var shares = QueueShares(limits: Self.limits)
        func fail(at now: WallInstant) {
            shares.take(1, of: Self.mute, at: now)
            shares.sent(1, of: Self.mute, at: now)
            _ = shares.note(.unanswered("lost"), on: Self.mute, at: now)
            shares.giveBack(1, of: Self.mute)
        }
        fail(at: Self.start)
        let later = Self.start.advanced(bySeconds: 60)
        #expect(shares.unresponsive(at: later).isEmpty)
        #expect(shares.room(for: Self.mute, at: later) == 256)
        // The next one has its own time, and failures add up until there is an answer.
        shares.take(1, of: Self.mute, at: later)
        shares.sent(1, of: Self.mute, at: later)
        #expect(shares.unresponsive(at: later.advanced(bySeconds: 4)).isEmpty)
        #expect(!shares.unresponsive(at: later.advanced(bySeconds: 5)).isEmpty)
        shares.giveBack(1, of: Self.mute)
        for _ in 0..<30 { fail(at: later) }
        #expect(shares.unresponsive(at: later).isEmpty)
        fail(at: later)
        #expect(shares.unresponsiveness(of: Self.mute, at: later)?.since == later)
    }

    /// Guards against "APNs has answered nothing" while its answers cannot be written, because the
    /// store is gone.
    @Test("A queue whose pushes are all answered is not unresponsive while they are unsettled")
    func unsettled() {
        var shares = QueueShares(limits: Self.limits)
        shares.take(10, of: Self.mute, at: Self.start)
        shares.sent(10, of: Self.mute, at: Self.start)
        for _ in 0..<9 { _ = shares.note(.answered, on: Self.mute, at: Self.start) }
        _ = shares.note(.unanswered("lost"), on: Self.mute, at: Self.start)
        let later = Self.start.advanced(bySeconds: 60)
        #expect(shares.unresponsive(at: later).isEmpty)
        #expect(shares.inFlight(of: Self.mute) == 10)
        // One more that is not answered is a silence from then on.
        shares.take(1, of: Self.mute, at: later)
        shares.sent(1, of: Self.mute, at: later)
        let silent = later.advanced(bySeconds: 5)
        #expect(shares.unresponsiveness(of: Self.mute, at: silent)?.since == later)
    }

    @Test("Pushes whose results come by a sender that was replaced are not waited for")
    func replaced() {
        var shares = QueueShares(limits: Self.limits)
        shares.take(3, of: Self.mute, at: Self.start)
        shares.reset(keeping: [], among: [Self.mute])
        // One was handed to the old sender a moment later.
        shares.sent(1, of: Self.mute, at: Self.start)
        shares.giveBack(3, of: Self.mute)
        shares.take(1, of: Self.mute, at: Self.start)
        #expect(shares.unresponsive(at: Self.start.advanced(bySeconds: 60)).isEmpty)
    }

    @Test("What other queues lost to unresponsive ones is bounded by as much again as the pool")
    func bounded() {
        var shares = Self.busy()
        let silent = Self.start.advanced(bySeconds: 5)
        shares.take(1_700, of: Self.other, at: silent)
        #expect(shares.inFlight == 3_200)
        #expect(shares.room(for: Self.otherCalls, at: silent) == 64)
    }
}
