// SPDX-License-Identifier: Apache-2.0

import Logging
import Synchronization
import WakeModel

extension Dispatcher {
    /// When it is time: learns of pauses that another gateway set, ends overdue wakes, and takes
    /// lapsed leases back. In steps of a bounded size; a full step is followed by the next one
    /// soon.
    func keepHouse() async throws(StoreFailure) {
        let now = clock.now()
        let isDue = state.withLock { state in
            state.holds.clockStands(at: now)
            let longest = Int64(limits.housekeepingMilliseconds)
            // Else a clock that was set back by an hour would stop it for as long.
            return now >= state.nextHousekeeping
                || state.nextHousekeeping.milliseconds(since: now) > longest
        }
        guard isDue else { return }
        try await hall.tryWritingAgain()
        try await readLanes()
        let limit = limits.housekeepingBatchCount
        // What others left behind, even while this one is busy, and even while something of its own
        // has outlasted its lease: what came of that is known here, or about to be.
        var reclaimed = Reclaimed()
        if let own = state.withLock({ $0.leases.lapsed(at: now) }) {
            reclaimed = try await hall.reclaimLapsed(at: now, limit: limit, except: own)
        }
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
