// SPDX-License-Identifier: Apache-2.0

import Logging
import Synchronization
import WakeModel

extension Dispatcher {
    /// When it is time: ends overdue wakes, takes lapsed leases back, forgets old idempotency
    /// keys. In steps of a bounded size; a full step is followed by the next one soon.
    func keepHouse() async throws(StoreFailure) {
        let now = clock.now()
        guard now >= state.withLock({ $0.nextHousekeeping }) else { return }
        let limit = limits.housekeepingBatchCount
        // What this process has in hand is not taken back from it, however long the store failed or
        // the clock jumped: its results are known here, or about to be.
        let hasLeases = state.withLock { $0.inFlight > 0 }
        let step = try await watch.observe { () async throws(StoreFailure) in
            let reclaimed =
                hasLeases
                ? Reclaimed(returned: [], failed: [])
                : try await store.reclaimLapsed(at: now, limit: limit)
            let expired = try await store.expireOverdue(at: now, limit: limit)
            let forgotten = try await store.forgetIdempotencyKeys(at: now, limit: limit)
            return (reclaimed, expired, forgotten)
        }
        log(reclaimed: step.0, expired: step.1)
        let isFull =
            step.0.returned.count + step.0.failed.count >= limit || step.1.count >= limit
            || step.2 >= limit
        let pause = isFull ? 0 : Int64(limits.housekeepingMilliseconds)
        state.withLock { $0.nextHousekeeping = now.advanced(byMilliseconds: pause) }
    }

    private func log(reclaimed: Reclaimed, expired: [WakeID]) {
        if !reclaimed.returned.isEmpty || !reclaimed.failed.isEmpty {
            logger.info(
                "lapsed leases were taken back",
                metadata: [
                    "returned": "\(reclaimed.returned.count)",
                    "failed": "\(reclaimed.failed.count)",
                ])
        }
        for id in reclaimed.failed {
            logger.info("the fate of a VoIP wake is unknown", metadata: ["wake": "\(id)"])
        }
        if !expired.isEmpty {
            logger.info("wakes expired unsent", metadata: ["count": "\(expired.count)"])
        }
    }
}
