// SPDX-License-Identifier: Apache-2.0

import Logging
import Synchronization
import WakeBudget
import WakeModel

/// Removes rows whose retention has ended, in small steps with pauses, so that other transactions
/// are not delayed.
struct Pruner: Sendable {
    let context: GatewayContext
    let signal: AsyncSignal
    let isStopping: @Sendable () -> Bool

    /// Prunes until the gateway stops.
    func run() async {
        var removedWebhooks = 0
        var waitingUntil: WallInstant?
        while !isStopping() {
            let done = await step()
            let pruned = done ?? Pruned()
            removedWebhooks += pruned.webhooks
            if done != nil { tellWaiting(pruned, &waitingUntil) }
            let isFull = pruned.isFull(context.limits.pruneBatchCount)
            if !isFull { tell(&removedWebhooks) }
            let pause =
                isFull
                ? context.limits.prunePauseMilliseconds : context.limits.pruneIdleMilliseconds
            await signal.wait(
                until: context.clock.now().advanced(byMilliseconds: Int64(pause)),
                clock: context.clock)
        }
        tell(&removedWebhooks)
    }

    /// Logs the undelivered events that were removed, in one line for all steps.
    private func tell(_ removedWebhooks: inout Int) {
        guard removedWebhooks > 0 else { return }
        context.logger.notice(
            "webhooks that waited were removed, because no configured endpoint asks for them",
            metadata: ["count": "\(removedWebhooks)"])
        removedWebhooks = 0
    }

    /// Logs, once for each time, events that wait for an unconfigured endpoint.
    private func tellWaiting(_ pruned: Pruned, _ told: inout WallInstant?) {
        context.metrics.webhooksWaitUnconfigured(pruned.waitingWebhooks)
        defer { told = pruned.waitingUntil }
        guard let end = pruned.waitingUntil, end != told else { return }
        context.logger.warning(
            "webhooks wait for an endpoint that is not configured",
            metadata: ["count": "\(pruned.waitingWebhooks)", "removed_at": "\(end)"])
    }

    /// One step; nothing when the store fails.
    private func step() async -> Pruned? {
        let configuration = context.configuration
        let now = context.clock.now()
        // A wake may wait for this long after its acceptance, by which its row is ordered.
        let kept = Int64(configuration.keptSeconds)
        let keptDevices = max(Int64(configuration.deviceRetentionSeconds), kept)
        let order = PruneOrder(
            now: now, wakesBefore: now.advanced(bySeconds: -kept),
            devicesBefore: now.advanced(bySeconds: -keptDevices),
            webhooks: configuration.webhooks,
            webhookGraceSeconds: context.limits.webhookGraceSeconds,
            limit: context.limits.pruneBatchCount)
        do throws(StoreFailure) {
            return try await context.watch.observe(.readThenWrite) {
                () async throws(StoreFailure) in
                try await context.store.prune(order)
            }
        } catch {
            return nil
        }
    }
}

extension GatewayConfiguration {
    /// The retention of wakes and feed entries after their acceptance, in seconds, with the longest
    /// wait of any app's wakes.
    var keptSeconds: Int {
        retentionSeconds
            + (apps.map { (policies[$0] ?? .standard).settings.holdSeconds }.max() ?? 0)
    }
}
