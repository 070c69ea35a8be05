// SPDX-License-Identifier: Apache-2.0

import AdminAPI
import Gateway
import Logging
import ServiceLifecycle
import StoreSQLite

/// Ends the gateway when its store has failed for good, so that the supervisor restarts the
/// process: only reopening the store shows what is on the disk.
struct StoreFailureMonitor: Service {
    /// Yields the failure; see `SQLiteWakeStore.ends`.
    let failures: AsyncStream<StoreFailure>
    let logger: Logger

    /// Waits for the failure and throws it, or returns when the service group ends.
    func run() async throws {
        for await failure in failures.cancelOnGracefulShutdown() {
            logger.critical(
                "the gateway ends: its store has to be opened again",
                metadata: ["kind": "\(failure.kind.rawValue)", "reason": "\(failure)"])
            throw failure
        }
    }
}

extension StoreNotice {
    /// Writes it into the log.
    func log(to logger: Logger) {
        switch self {
        case .logIsNotCopied(let failure):
            logger.error(
                "the store's log cannot be copied into it, and grows; that is tried again",
                metadata: ["kind": "\(failure.kind.rawValue)", "reason": "\(failure)"])
        case .logIsCopiedAgain: logger.notice("the store's log is copied again")
        case .logIsFull:
            logger.error(
                """
                the store's log is so long that new wakes are refused, because a program has been \
                reading the store for long; they are taken again when that program has ended
                """)
        case .logHasRoom: logger.notice("the store's log has room again")
        }
    }
}

extension StoreLogStatus {
    /// Its metrics.
    var readings: [MetricReading] {
        [
            MetricReading(.logSize, [], Double(byteCount)),
            MetricReading(.logFull, [], isFull ? 1 : 0),
            MetricReading(.logCopyingFailed, [], isCopyingFailed ? 1 : 0),
        ]
    }
}
