// SPDX-License-Identifier: Apache-2.0

import Gateway

/// The queues as they were read last. They are few, and each load brings those that have changed.
struct QueueCache {
    /// All queues.
    private(set) var table = QueueTable()
    /// How many changes of queues are known.
    private(set) var known: Int64 = 0
    /// Whether they were read at all.
    private(set) var isRead = false
    private var changes: [Int64: Int64] = [:]

    /// Takes over the queues that a query has found. Returns all.
    mutating func take(_ columns: StoredColumns) -> QueueTable {
        isRead = true
        for row in 0..<columns.result.rowCount {
            let (number, queue, changed) = columns.queue(row)
            // Results may come in another order than they were asked for.
            guard changed > changes[number] ?? -1 else { continue }
            changes[number] = changed
            known = max(known, changed)
            if let queue { table.insert(queue) } else { table.reserve(number) }
        }
        return table
    }

    /// The query for the queues that have changed since.
    static func query(after known: Int64) -> Query { Query(statement, .int8(known)) }

    private static let statement = Statement(
        """
        SELECT number, bundle_id, environment, kind, confirms_launches, paused_at, pause_reason,
            held_told_at, changed
        FROM rouse.queue WHERE changed > $1
        """, .int8)
}
