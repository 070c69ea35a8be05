// SPDX-License-Identifier: Apache-2.0

import Logging
import Synchronization

/// Logs and counts the rows of the store that cannot be read, each once in the life of the process.
final class DamageWatch: Sendable {
    /// The most rows that are known by name; more of them are counted whenever they are met.
    static let maximumKnownCount = 10_000

    private let known = Mutex<Set<DamagedRow>>([])
    private let metrics: any GatewayMetrics
    private let logger: Logger

    init(metrics: any GatewayMetrics, logger: Logger) {
        self.metrics = metrics
        self.logger = logger
    }

    /// A row was met that cannot be read. May be called from any thread.
    func note(_ row: DamagedRow) {
        let isNew = known.withLock { known in
            known.count < Self.maximumKnownCount ? known.insert(row).inserted : !known.contains(row)
        }
        guard isNew else { return }
        metrics.damaged(1, table: row.table)
        logger.error(
            "a row of the store is damaged; what belongs to it is left out",
            metadata: [
                "table": "\(row.table.rawValue)", "row": "\(row.key)",
                "problem": "\(row.problem)",
            ])
    }
}
