// SPDX-License-Identifier: Apache-2.0

import Synchronization
import WakeModel

/// Resumes the tasks that wait for the outcome of one wake: immediately when this gateway has
/// written it, and after a poll of the store when another one has.
final class OutcomeBroadcaster: Sendable {
    private struct State {
        var waiters: [WakeID: Awaited] = [:]
        var waiterCount = 0
        var nextKey = 0
        var isLooking = false
    }

    private struct Awaited {
        var signals: [(key: Int, signal: AsyncSignal)] = []
        /// The time of the next poll of the store.
        var look: WallInstant
        /// The interval until the next poll.
        var pause: Int64
    }

    /// The most wakes of one poll.
    private static let lookCount = 500

    private let state = Mutex(State())
    private let store: any WakeStore
    private let clock: any GatewayClock
    private let limits: GatewayLimits
    /// The readers of all outcomes.
    let feed: OutcomeFeed

    init(
        store: any WakeStore, watch: StoreWatch, clock: any GatewayClock, limits: GatewayLimits
    ) {
        self.store = store
        self.clock = clock
        self.limits = limits
        feed = OutcomeFeed(store: store, watch: watch, clock: clock, limits: limits)
    }

    /// A signal that fires when this wake ends; `nil` when too many wait already.
    func signal(for id: WakeID) -> (key: Int, signal: AsyncSignal)? {
        let pause = Int64(limits.outcomeLookMilliseconds)
        let look = clock.now().advanced(byMilliseconds: pause)
        return state.withLock { state in
            guard state.waiterCount < limits.outcomeWaiterCount else { return nil }
            state.nextKey += 1
            state.waiterCount += 1
            let entry = (key: state.nextKey, signal: AsyncSignal())
            state.waiters[id, default: Awaited(look: look, pause: pause)].signals.append(entry)
            if !state.isLooking {
                state.isLooking = true
                Task { await self.lookForEnds() }
            }
            return entry
        }
    }

    /// Removes a signal that is not used any more.
    func release(_ key: Int, for id: WakeID) {
        state.withLock { state in
            guard var awaited = state.waiters[id] else { return }
            let before = awaited.signals.count
            awaited.signals.removeAll { $0.key == key }
            state.waiterCount -= before - awaited.signals.count
            state.waiters[id] = awaited.signals.isEmpty ? nil : awaited
        }
    }

    /// Publishes the wakes that this gateway has ended.
    func publish(_ ended: [EndedWake]) {
        guard !ended.isEmpty else { return }
        ring(ended.map(\.id))
        feed.ring()
    }

    /// How many wait for an outcome.
    var waiterCount: Int { state.withLock { $0.waiterCount } }

    /// Ends all streams.
    func finish() { feed.finish() }

    private func ring(_ ids: some Sequence<WakeID>) {
        let signals = state.withLock { state in
            state.waiterCount == 0
                ? [] : ids.flatMap { state.waiters[$0]?.signals.map(\.signal) ?? [] }
        }
        for signal in signals { signal.ring() }
    }

    /// Polls for ends written by other gateways while tasks wait: for each wake at growing
    /// intervals, so that long waits cost little.
    private func lookForEnds() async {
        while true {
            let now = clock.now()
            let due = state.withLock { state -> [Int64: WakeID]? in
                guard state.waiterCount > 0 else {
                    state.isLooking = false
                    return nil
                }
                var due: [Int64: WakeID] = [:]
                for (id, awaited) in state.waiters where awaited.look <= now {
                    guard due.count < Self.lookCount else { break }
                    due[id.number] = id
                    let pause = min(
                        2 * awaited.pause, Int64(limits.outcomeLookMaximumMilliseconds))
                    state.waiters[id]?.pause = pause
                    state.waiters[id]?.look = now.advanced(byMilliseconds: pause)
                }
                return due
            }
            guard let due else { return }
            if !due.isEmpty,
                let ended = try? await store.perform(FindEnded(among: Set(due.keys)))
            {
                // The next poll follows a failed one; each waiting task reads the record itself.
                ring(ended.compactMap { due[$0] })
            }
            guard due.count < Self.lookCount else { continue }
            let next = clock.now().advanced(byMilliseconds: Int64(limits.outcomeLookMilliseconds))
            try? await clock.sleep(until: next)
        }
    }
}
