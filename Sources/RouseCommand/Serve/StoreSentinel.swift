// SPDX-License-Identifier: Apache-2.0

import Gateway
import Logging
import ServiceLifecycle

/// Ends the gateway when its store has failed for good, so that whoever supervises the process
/// starts it anew: only opening the store again can tell what the disk has kept.
struct StoreSentinel: Service {
    /// Gives the failure when it comes; see `SQLiteWakeStore.ends`.
    let failures: AsyncStream<StoreFailure>
    let logger: Logger

    /// Waits for the failure and throws it, or returns when the service group ends.
    func run() async throws {
        for await failure in failures.cancelOnGracefulShutdown() {
            logger.critical(
                "the gateway ends: its store has to be opened again",
                metadata: ["kind": "\(failure.kind.rawValue)", "reason": "\(failure.message)"])
            throw failure
        }
    }
}
