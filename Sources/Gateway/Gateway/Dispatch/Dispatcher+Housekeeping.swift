// SPDX-License-Identifier: Apache-2.0

import Logging
import Synchronization
import WakeModel

extension Dispatcher {
    /// At intervals: reads pauses that another gateway set, ends overdue wakes, and reclaims lapsed
    /// leases. In steps of a bounded size; a full step is followed by the next one soon. A failed
    /// step is retried at the next interval; it delays neither the others nor any claim.
    func keepHouse() async {
        let now = clock.now()
        let isDue = state.withLock { state in
            state.holds.clockStands(at: now)
            let longest = Int64(limits.housekeepingMilliseconds)
            // Otherwise a clock that is set back by an hour would stop it for an hour.
            return now >= state.nextHousekeeping
                || state.nextHousekeeping.milliseconds(since: now) > longest
        }
        guard isDue else { return }
        var areDone = await attempt("looking whether the store can be written again") {
            () async throws(StoreFailure) in
            try await context.tryWritingAgain()
        }
        areDone =
            await attempt("reading the queues") { () async throws(StoreFailure) in
                _ = try await readQueues()
            } && areDone
        let limit = limits.housekeepingBatchCount
        // The lapsed leases of other gateways, also while this one is busy or has leases that
        // lapsed: the outcomes of those are known here, or will be.
        var reclaimed = Reclaimed()
        if let own = state.withLock({ $0.leases.lapsed(at: now) }) {
            areDone =
                await attempt("taking back lapsed leases") { () async throws(StoreFailure) in
                    reclaimed = try await context.reclaimLapsed(at: now, limit: limit, except: own)
                } && areDone
        }
        var expired: [EndedWake] = []
        areDone =
            await attempt("ending overdue wakes") { () async throws(StoreFailure) in
                expired = try await expireOverdue(at: now, limit: limit)
            } && areDone
        log(reclaimed: reclaimed, expired: expired)
        let isFull = reclaimed.count >= limit || expired.count >= limit
        let whole = Int64(limits.housekeepingMilliseconds)
        let pause =
            areDone ? (isFull ? 0 : whole) : min(whole, Int64(limits.storePauseMilliseconds))
        state.withLock { $0.nextHousekeeping = now.advanced(byMilliseconds: pause) }
    }

    /// Ends wakes whose deadline has come, and records what kept their queues from sending.
    func expireOverdue(
        at now: WallInstant, limit: Int
    ) async throws(StoreFailure) -> [EndedWake] {
        let obstacles = state.withLock { state in
            let stuck = Set(state.holds.holds.keys)
                .union(state.silences.told(at: now).map(\.queue))
                .union(state.shares.unresponsive(at: now).keys)
            return stuck.reduce(into: [:]) { $0[$1] = state.obstacles(of: $1, at: now) }
        }
        return try await context.expireOverdue(at: now, limit: limit, obstacles: obstacles)
    }

    /// Does a step of the housekeeping; returns whether it succeeded. A failure of the whole store
    /// is logged once, by its watch.
    private func attempt(
        _ step: String, _ body: () async throws(StoreFailure) -> Void
    ) async -> Bool {
        do throws(StoreFailure) {
            try await body()
            return true
        } catch {
            context.logger.debug(
                "a step of the housekeeping failed",
                metadata: ["step": "\(step)", "reason": "\(error)"])
            return false
        }
    }

    private func log(reclaimed: Reclaimed, expired: [EndedWake]) {
        if reclaimed.count > 0 {
            context.logger.info(
                "lapsed leases were taken back",
                metadata: [
                    "returned": "\(reclaimed.returned.count)",
                    "ended": "\(reclaimed.ended.count)",
                ])
        }
        for wake in reclaimed.ended where wake.end == .failed(.fateUnknown) {
            context.logger.info(
                "the fate of a wake is unknown, and it is not repeated",
                metadata: ["wake": "\(wake.id)", "queue": "\(wake.queue)"])
        }
        if !expired.isEmpty {
            context.logger.info("wakes expired unsent", metadata: ["count": "\(expired.count)"])
        }
    }
}
