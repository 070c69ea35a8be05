// SPDX-License-Identifier: Apache-2.0

import Logging
import Synchronization

/// Logs and counts the rows of the store that cannot be read, each once per process.
final class DamageWatch: Sendable {
    /// The most rows that are logged and remembered. Further ones are counted at each read, and the
    /// log mentions them once.
    static let maximumKnownCount = 10_000

    private struct State {
        var known: Set<DamagedRow> = []
        var hasSaidMore = false
    }

    private enum News {
        case row
        /// The first one beyond those that are remembered, or another.
        case more(isFirst: Bool)
    }

    private let state = Mutex(State())
    private let metrics: any GatewayMetrics
    private let logger: Logger

    init(metrics: any GatewayMetrics, logger: Logger) {
        self.metrics = metrics
        self.logger = logger
    }

    /// Records a row that cannot be read. May be called from any thread.
    func note(_ row: DamagedRow) {
        let news = state.withLock { state -> News? in
            guard !state.known.contains(row) else { return nil }
            guard state.known.count < Self.maximumKnownCount else {
                defer { state.hasSaidMore = true }
                return .more(isFirst: !state.hasSaidMore)
            }
            state.known.insert(row)
            return .row
        }
        guard let news else { return }
        metrics.damaged(1, table: row.table)
        switch news {
        case .row:
            logger.error(
                "a row of the store is damaged; what belongs to it is left out",
                metadata: [
                    "table": "\(row.table.rawValue)", "row": "\(row.key)",
                    "problem": "\(row.problem)",
                ])
        case .more(isFirst: true):
            logger.error(
                "more rows of the store are damaged than are logged; see rouse audit-store",
                metadata: ["logged": "\(Self.maximumKnownCount)"])
        case .more(isFirst: false): break
        }
    }
}
