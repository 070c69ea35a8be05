// SPDX-License-Identifier: Apache-2.0

import GatewayTestKit
import Testing
import WakeModel

@testable import Gateway

@Suite("Holding back a queue that APNs refuses")
struct HeldQueuesTests {
    private let now = Samples.start
    private let queue = WakeQueueKey(app: Samples.app, kind: .background)
    private let other = WakeQueueKey(app: Samples.otherApp, kind: .background)
    private let blocked = RetryPolicy.QueueSignal.blocked(reason: "why", pauseSeconds: nil)

    private func limits(_ holds: HeldQueues, at now: WallInstant) -> [WakeQueueKey: Int] {
        let shares = holds.shares(of: [queue, other], limit: 50, now: now)
        return Dictionary(uniqueKeysWithValues: shares.map { ($0.queue, $0.limit) })
    }

    @Test("A refused queue sends nothing, then one probe, and other queues go on")
    func probing() {
        var holds = HeldQueues(limits: GatewayLimits())
        #expect(holds.note(blocked, on: queue, now: now) == .began)
        #expect(limits(holds, at: now) == [other: 50])
        #expect(holds.nextProbe(after: now) == now.advanced(bySeconds: 30))

        let later = now.advanced(bySeconds: 30)
        #expect(limits(holds, at: later) == [queue: 1, other: 50])
        holds.claimed(queue)
        #expect(limits(holds, at: later) == [other: 50])
        #expect(holds.note(.answered, on: queue, now: later) == .ended)
        #expect(limits(holds, at: later) == [queue: 50, other: 50])
    }

    @Test("Each refused probe doubles the pause, up to ten minutes")
    func doubling() {
        var holds = HeldQueues(limits: GatewayLimits())
        var now = now
        holds.note(blocked, on: queue, now: now)
        for pause in [60, 120, 240, 480, 600, 600] as [Int64] {
            now = holds.nextProbe(after: now) ?? now
            holds.claimed(queue)
            holds.note(blocked, on: queue, now: now)
            #expect(holds.nextProbe(after: now) == now.advanced(bySeconds: pause))
        }
    }

    @Test("Refusals of what was in flight before the hold do not lengthen it")
    func latecomers() {
        var holds = HeldQueues(limits: GatewayLimits())
        holds.note(blocked, on: queue, now: now)
        holds.note(blocked, on: queue, now: now.advanced(bySeconds: 1))
        #expect(holds.nextProbe(after: now) == now.advanced(bySeconds: 30))
    }

    @Test("A probe without an answer is repeated after a pause")
    func unansweredProbe() {
        var holds = HeldQueues(limits: GatewayLimits())
        holds.note(blocked, on: queue, now: now)
        let later = now.advanced(bySeconds: 30)
        holds.claimed(queue)
        holds.note(.unanswered("gone"), on: queue, now: later)
        #expect(holds.nextProbe(after: later) == later.advanced(bySeconds: 30))
    }

    @Test("A clock that is set back does not lengthen a pause")
    func clockSetBack() {
        var holds = HeldQueues(limits: GatewayLimits())
        holds.note(.blocked(reason: "why", pauseSeconds: 1_200), on: queue, now: now)
        let before = now.advanced(bySeconds: -86_400)
        holds.clockStands(at: before)
        #expect(holds.nextProbe(after: before) == before.advanced(bySeconds: 1_200))
        holds.clockStands(at: before.advanced(bySeconds: 600))
        #expect(holds.nextProbe(after: before) == before.advanced(bySeconds: 1_200))
    }

    @Test("A pause that the answer implies is a minimum")
    func impliedPause() {
        var holds = HeldQueues(limits: GatewayLimits())
        holds.note(.blocked(reason: "why", pauseSeconds: 1_200), on: queue, now: now)
        #expect(holds.nextProbe(after: now) == now.advanced(bySeconds: 1_200))
    }
}
