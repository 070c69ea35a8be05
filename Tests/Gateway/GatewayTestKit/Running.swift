// SPDX-License-Identifier: Apache-2.0

package import Gateway
package import Logging
import SeedKit
package import ServiceLifecycle
import Synchronization
import WakeModel

/// Runs a gateway, and what goes with it, in a service group while `body` runs, then shuts all down
/// gracefully.
package func withRunning(
    _ gateway: Gateway, with others: [any Service] = [], _ body: () async throws -> Void
) async throws {
    let group = ServiceGroup(services: [gateway] + others, logger: .silent)
    let run = Task { try await group.run() }
    do {
        try await body()
    } catch {
        await group.triggerGracefulShutdown()
        try await run.value
        throw error
    }
    await group.triggerGracefulShutdown()
    try await run.value
}

extension Logger {
    /// A logger that says nothing.
    package static var silent: Logger { Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } }
}

/// A gateway for the sample apps, with a seeded source of randomness.
package func sampleGateway(
    store: any WakeStore, sender: any WakeSender, clock: any GatewayClock = SystemGatewayClock(),
    limits: GatewayLimits = GatewayLimits(), seed: UInt64 = 1, logger: Logger = .silent
) -> Gateway {
    let generator = Mutex(SeededGenerator(seed: seed))
    return Gateway(
        apps: [Samples.app, Samples.otherApp], store: store, sender: sender, clock: clock,
        limits: limits, logger: logger
    ) { generator.withLock { $0.next() } }
}

extension WakeSubmission {
    /// The same, with a key that recognises its repetition.
    package func with(_ key: IdempotencyKey?) -> WakeSubmission {
        var submission = self
        submission.idempotency = key
        return submission
    }
}

extension AdmissionResult {
    /// The id of an admitted wake.
    package var admittedID: WakeID? {
        if case .admitted(let wake) = self { wake.id } else { nil }
    }
}
