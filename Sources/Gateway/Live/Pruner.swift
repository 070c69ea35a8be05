// SPDX-License-Identifier: Apache-2.0

import Logging
import Synchronization
import WakeBudget
import WakeModel

/// Removes what has had its time, in small steps with pauses, so that the hot path hardly notices.
struct Pruner: Sendable {
    let hall: Hall
    let bell: Bell
    let isStopping: @Sendable () -> Bool

    /// Prunes until the gateway stops.
    func run() async {
        while !isStopping() {
            let pause = await step()
            await bell.wait(
                until: hall.clock.now().advanced(byMilliseconds: Int64(pause)), clock: hall.clock)
        }
    }

    /// One step; how long to pause after it, in milliseconds.
    private func step() async -> Int {
        let configuration = hall.configuration
        let now = hall.clock.now()
        // A wake may wait for so long after its acceptance, by which its row is ordered.
        let kept = Int64(configuration.retentionSeconds + configuration.longestHoldSeconds)
        let keptDevices = max(Int64(configuration.deviceRetentionSeconds), kept)
        let order = PruneOrder(
            now: now, wakesBefore: now.advanced(bySeconds: -kept),
            devicesBefore: now.advanced(bySeconds: -keptDevices),
            webhookEndpoints: Set(configuration.webhooks.map(\.endpoint)),
            limit: hall.limits.pruneBatchCount)
        do throws(StoreFailure) {
            let pruned = try await hall.watch.observe { () async throws(StoreFailure) in
                try await hall.store.prune(order)
            }
            return pruned.isFull(order.limit)
                ? hall.limits.prunePauseMilliseconds : hall.limits.pruneIdleMilliseconds
        } catch {
            return hall.limits.pruneIdleMilliseconds
        }
    }
}

extension GatewayConfiguration {
    /// The longest that any of the apps' wakes may wait, in seconds.
    fileprivate var longestHoldSeconds: Int {
        apps.map { (policies[$0] ?? .standard).settings.holdSeconds }.max() ?? 0
    }
}
