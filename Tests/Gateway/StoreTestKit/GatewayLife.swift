// SPDX-License-Identifier: Apache-2.0

package import Gateway
package import GatewayTestKit
package import Logging
import ServiceLifecycle
import Synchronization
import WakeModel

/// One of several gateways on a store, which ends when the test says: as a process that is stopped,
/// or as one that dies.
package final class GatewayLife: Sendable {
    package let gateway: Gateway
    private let store: WatchfulStore
    private let clock: ManualClock
    private let group: ServiceGroup
    private let run: Task<Void, any Error>

    /// Starts a gateway for the sample apps, with the webhooks of the sample rules.
    package init(
        on store: any WakeStore, sender: any WakeSender, clock: ManualClock,
        limits: GatewayLimits = GatewayLimits(), logger: Logger = .silent
    ) {
        var limits = limits
        limits.storePauseMilliseconds = 1
        let watchful = WatchfulStore(store)
        var configuration = GatewayConfiguration(apps: [Samples.app, Samples.otherApp])
        configuration.webhooks = Samples.rules.webhooks
        let gateway = Gateway(
            configuration: configuration, store: watchful, sender: sender, clock: clock,
            limits: limits, logger: logger)
        let group = ServiceGroup(services: [gateway], logger: .silent)
        self.store = watchful
        self.clock = clock
        self.gateway = gateway
        self.group = group
        run = Task { try await group.run() }
    }

    /// Shuts it down gracefully.
    package func stop() async throws {
        await group.triggerGracefulShutdown()
        try await run.value
    }

    /// Cuts it off from the store, where its leases stay, and ends it.
    package func die() async {
        store.fail(with: StoreFailure(kind: .unavailable, message: "The process is dead."))
        run.cancel()
        // It pauses by the clock before it asks a failing store again.
        let mover = Task { [clock] in
            while !Task.isCancelled {
                clock.advance(byMilliseconds: 1)
                try await Task.sleep(for: .milliseconds(2))
            }
        }
        // How it ends is nobody's matter.
        _ = await run.result
        mover.cancel()
    }
}

/// The gateways that a test runs on one store.
package final class GatewayLives: Sendable {
    private let store: any WakeStore
    private let clock: ManualClock
    private let lives = Mutex<[GatewayLife]>([])

    package init(on store: any WakeStore, clock: ManualClock) {
        self.store = store
        self.clock = clock
    }

    /// Starts another one.
    package func start(
        _ sender: any WakeSender, limits: GatewayLimits = GatewayLimits(),
        logger: Logger = .silent
    ) -> GatewayLife {
        let life = GatewayLife(
            on: store, sender: sender, clock: clock, limits: limits, logger: logger)
        lives.withLock { $0.append(life) }
        return life
    }

    /// Has all die.
    package func die() async {
        for life in lives.withLock({ $0 }) { await life.die() }
    }
}
