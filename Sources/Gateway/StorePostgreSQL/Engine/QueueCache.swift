// SPDX-License-Identifier: Apache-2.0

import Gateway

/// The queues as they were read last. They are few, and each load brings those that have changed.
struct QueueCache {
    /// How far the changes of queues are known: up to the last one, which was this queue's.
    struct Mark: Hashable, Sendable {
        var change: Int64 = 0
        var queue: Int64 = 0
        /// How often all was forgotten before.
        var life = 0
    }

    /// All queues.
    private(set) var table = QueueTable()
    /// How far the changes are known.
    private(set) var mark = Mark()
    /// Whether they were read at all.
    private(set) var isRead = false
    private var changes: [Int64: Int64] = [:]

    /// Takes over the queues that a query has found. Returns all; `nil` when the database has other
    /// queues than it had: then nothing that is known of it counts any more.
    ///
    /// The last queue that was changed is found again, with that change or a later one, and no
    /// number ever gets another queue. In a database that was restored from a back-up, or has lost
    /// its last transactions in a failover, that may not be so.
    mutating func take(_ columns: StoredColumns, after mark: Mark) -> QueueTable? {
        // What has changed since then is not all, when what was known then is forgotten.
        guard mark.life == self.mark.life else { return nil }
        var isSame = mark.change == 0
        for row in 0..<columns.result.rowCount {
            let (number, queue, changed) = columns.queue(row)
            if number == mark.queue { isSame = true }
            if let queue, let known = table[number], known.queue != queue.queue { return nil }
            // Results may come in another order than they were asked for.
            guard changed > changes[number] ?? -1 else { continue }
            changes[number] = changed
            if changed > self.mark.change {
                self.mark.change = changed
                self.mark.queue = number
            }
            if let queue { table.insert(queue) } else { table.reserve(number) }
        }
        guard isSame else { return nil }
        isRead = true
        return table
    }

    /// Forgets all.
    mutating func forget() {
        let life = mark.life + 1
        self = QueueCache()
        mark.life = life
    }

    /// The query for the queues that have changed since, and the one that changed last.
    static func query(after mark: Mark) -> Query { Query(statement, .int8(mark.change)) }

    private static let statement = Statement(
        """
        SELECT number, bundle_id, environment, kind, confirms_launches, paused_at, pause_reason,
            held_told_at, changed
        FROM rouse.queue WHERE changed >= $1
        """, .int8)
}
