// SPDX-License-Identifier: Apache-2.0

import Logging
import Synchronization
import WakeModel

extension Dispatcher {
    /// Claims what is due until the dispatcher is stopped.
    func claimUntilStopped() async {
        while !state.withLock({ $0.isStopping }) {
            await keepHouse()
            tellUnresponsive()
            let pass = await claim()
            if pass.found > 0 { continue }
            do throws(StoreFailure) {
                if let failure = pass.failure { throw failure }
                let instant = try await nextInstant()
                state.withLock { $0.nextLook = instant }
                await signal.wait(until: instant, clock: clock)
                state.withLock { $0.nextLook = WallInstant(millisecondsSinceEpoch: .max) }
            } catch {
                let pause = Int64(limits.storePauseMilliseconds)
                await signal.wait(
                    until: clock.now().advanced(byMilliseconds: pause), clock: clock)
            }
        }
    }

    /// The result of asking the store for due wakes.
    private struct ClaimPass {
        /// How many were claimed.
        var claimed = 0
        /// How many were found, including those that ended or still wait.
        var found = 0
        /// The reason why the store did not return some of them.
        var failure: StoreFailure?

        static func + (left: ClaimPass, right: ClaimPass) -> ClaimPass {
            ClaimPass(
                claimed: left.claimed + right.claimed, found: left.found + right.found,
                failure: left.failure ?? right.failure)
        }
    }

    /// Claims once, calls and Push to Talk first, then the rest; in each the queue with the fewest
    /// in flight first.
    private func claim() async -> ClaimPass {
        await claim(\.voipQueues) + (await claim(\.backgroundQueues))
    }

    private func claim(_ path: KeyPath<State, [WakeQueueKey]>) async -> ClaimPass {
        let now = clock.now()
        let (shares, limit) = state.withLock { state in
            state.claimable(path, limit: context.batchCount(limits.claimBatchCount), at: now)
        }
        guard !shares.isEmpty else { return ClaimPass() }
        let pass = await claim(shares, limit: limit, now: now)
        // Damage in one queue does not stop the others.
        guard let failure = pass.failure, failure.isOfSomeRows, shares.count > 1 else {
            return pass
        }
        var all = ClaimPass()
        for share in shares where limit > all.claimed {
            all = all + (await claim([share], limit: limit - all.claimed, now: now))
        }
        return all
    }

    private func claim(
        _ shares: [ClaimOrder.Share], limit: Int, now: WallInstant
    ) async -> ClaimPass {
        let leaseSeconds = state.withLock { $0.leaseSeconds(limits) }
        let order = ClaimOrder(
            shares: shares, limit: limit, now: now,
            leaseUntil: now.advanced(bySeconds: Int64(leaseSeconds)))
        let answer: ClaimAnswer
        do throws(StoreFailure) {
            answer = try await context.claim(order)
        } catch {
            return ClaimPass(failure: error)
        }
        state.withLock { state in
            state.leases.take(answer.claims)
            var counts: [WakeQueueKey: Int] = [:]
            for claim in answer.claims { counts[claim.queue, default: 0] += 1 }
            for (queue, count) in counts {
                state.noteUse(of: queue)
                state.shares.take(count, of: queue, at: now)
            }
            for share in shares {
                if answer.unfinished.contains(share.queue) {
                    state.unfinished.insert(share.queue)
                } else {
                    state.unfinished.remove(share.queue)
                }
            }
            guard !state.holds.holds.isEmpty else { return }
            for claim in answer.claims { state.holds.claimed(claim.queue) }
        }
        if !answer.claims.isEmpty { sendQueue.put(answer.claims) }
        return ClaimPass(
            claimed: answer.claims.count,
            found: answer.claims.count + answer.ended.count + answer.deferred)
    }

    /// Logs which queues have become unresponsive, and which no longer are.
    private func tellUnresponsive() {
        let now = clock.now()
        let (begun, ended) = state.withLock { state in
            let present = state.shares.unresponsive(at: now)
            let begun = present.filter { state.toldUnresponsive[$0.key] == nil }
            let ended = state.toldUnresponsive.filter { present[$0.key] == nil }.map {
                (queue: $0.key, isAnswered: state.shares.isAnswered($0.key, since: $0.value))
            }
            if !begun.isEmpty || !ended.isEmpty {
                state.toldUnresponsive = present.mapValues(\.since)
            }
            return (begun, ended)
        }
        for (queue, unresponsiveness) in begun {
            context.logger.notice(
                "a queue gets no answers and sends only probes",
                metadata: ["queue": "\(queue)", "why": "\(unresponsiveness.explanation)"])
        }
        for (queue, isAnswered) in ended {
            context.logger.notice(
                isAnswered
                    ? "APNs answers a queue again, which has its full share"
                    : "a queue that got no answers has nothing in flight any more",
                metadata: ["queue": "\(queue)"])
        }
    }

    /// When to check again without a signal: the next due time in a queue that may send and has
    /// free slots, the next probe, or the next housekeeping. Other queues get slots by a settlement
    /// only, which signals.
    private func nextInstant() async throws(StoreFailure) -> WallInstant {
        let now = clock.now()
        let (queues, earliest) = state.withLock { state in
            let open = state.open(\.voipQueues) + state.open(\.backgroundQueues)
            let free = state.holds.shares(of: open, limit: 1, now: now).map(\.queue)
            let queues = free.filter { state.shares.room(for: $0, at: now) > 0 }
            state.withoutRoom = Set(free).subtracting(queues)
            let probes = [
                state.holds.nextProbe(after: now), state.shares.nextProbe(of: free, after: now),
            ]
            return (queues, probes.compactMap(\.self).reduce(state.nextHousekeeping, min))
        }
        let due = queues.isEmpty ? nil : try await context.perform(NextDue(in: queues))
        // The clock may have been set back since the housekeeping, which is never farther away.
        let longest = clock.now().advanced(byMilliseconds: Int64(limits.housekeepingMilliseconds))
        return min(due ?? earliest, earliest, longest)
    }
}

extension Dispatcher.State {
    /// The limits of a claim from the queues of a kind, for each queue and in all.
    fileprivate mutating func claimable(
        _ path: KeyPath<Self, [WakeQueueKey]>, limit: Int, at now: WallInstant
    ) -> (shares: [ClaimOrder.Share], limit: Int) {
        let queues = open(path)
        return shares.order(
            of: holds.shares(of: queues, limit: limit, now: now), limit: limit, at: now)
    }

    /// The queues of a kind that are not paused, starting with another one each time, so that none
    /// is always the last.
    fileprivate mutating func open(_ path: KeyPath<Self, [WakeQueueKey]>) -> [WakeQueueKey] {
        let queues = self[keyPath: path].filter { paused[$0.app] == nil }
        guard queues.count > 1 else { return queues }
        rotation &+= 1
        let start = Int(UInt(bitPattern: rotation) % UInt(queues.count))
        return Array(queues[start...] + queues[..<start])
    }
}
