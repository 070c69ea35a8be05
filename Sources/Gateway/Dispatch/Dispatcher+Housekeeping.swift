// SPDX-License-Identifier: Apache-2.0

import Logging
import Synchronization
import WakeModel

extension Dispatcher {
    /// When it is time: ends overdue wakes and takes lapsed leases back. In steps of a bounded
    /// size; a full step is followed by the next one soon.
    func keepHouse() async throws(StoreFailure) {
        let now = clock.now()
        guard now >= state.withLock({ $0.nextHousekeeping }) else { return }
        try await hall.tryWritingAgain()
        let limit = limits.housekeepingBatchCount
        // What this process has in hand is not taken back from it, however long the store failed or
        // the clock jumped: its results are known here, or about to be. What a process before this
        // one left behind is, even while this one is busy.
        let takesBack = state.withLock { $0.inFlight == 0 || !$0.hasRecovered }
        let reclaimed =
            takesBack ? try await hall.reclaimLapsed(at: now, limit: limit) : Reclaimed()
        if takesBack, reclaimed.count < limit { state.withLock { $0.hasRecovered = true } }
        let expired = try await hall.expireOverdue(at: now, limit: limit)
        log(reclaimed: reclaimed, expired: expired)
        let isFull = reclaimed.count >= limit || expired.count >= limit
        let pause = isFull ? 0 : Int64(limits.housekeepingMilliseconds)
        state.withLock { $0.nextHousekeeping = now.advanced(byMilliseconds: pause) }
    }

    private func log(reclaimed: Reclaimed, expired: [EndedWake]) {
        if reclaimed.count > 0 {
            hall.logger.info(
                "lapsed leases were taken back",
                metadata: [
                    "returned": "\(reclaimed.returned.count)",
                    "ended": "\(reclaimed.ended.count)",
                ])
        }
        for wake in reclaimed.ended where wake.end == .failed(.fateUnknown) {
            hall.logger.info("the fate of a VoIP wake is unknown", metadata: ["wake": "\(wake.id)"])
        }
        if !expired.isEmpty {
            hall.logger.info("wakes expired unsent", metadata: ["count": "\(expired.count)"])
        }
    }
}
