// SPDX-License-Identifier: Apache-2.0

import CGatheredLog
import Gateway

/// The rows of one connection, and its transactions.
final class StoreConnection {
    let rows: SQLiteRows
    private var retention: Retention

    /// A connection over a connection whose tables are there.
    init(
        _ connection: Connection, cachedDevices: Int, damage: DamageListener
    ) throws(StoreFailure) {
        rows = try SQLiteRows(connection, cachedDevices: cachedDevices, damage: damage)
        retention = Retention(of: rows)
    }

    var connection: Connection { rows.connection }

    /// Removes what has had its time, within the running transaction.
    func prune(_ order: PruneOrder) throws(StoreFailure) -> Pruned { try retention.step(order) }

    /// Lets go of the statements, as closing the connection needs.
    func close() { connection.finalize() }

    /// One transaction that reads; one that takes longer than `duration` fails.
    func read<Answer>(
        within duration: Duration, _ body: (StoreConnection) throws(StoreFailure) -> Answer
    ) throws(StoreFailure) -> Answer {
        connection.interrupt(after: duration)
        defer { connection.interrupt(after: nil) }
        try connection.execute("BEGIN")
        do throws(StoreFailure) {
            let answer = try body(self)
            try connection.execute("COMMIT")
            forget()
            return answer
        } catch {
            rollBack(after: error)
            throw error
        }
    }

    /// One transaction that writes.
    func write(
        _ body: (StoreConnection) throws(StoreFailure) -> Void
    ) throws(StoreFailure) {
        try connection.execute("BEGIN IMMEDIATE")
        do throws(StoreFailure) {
            try body(self)
            try rows.flush()
            try connection.execute("COMMIT")
            rows.committed()
            retention.committed()
        } catch {
            rollBack(after: error)
            throw error
        }
    }

    /// What a reading transaction looked up is another's to change.
    private func forget() { rows.rolledBack() }

    private func rollBack(after failure: StoreFailure) {
        // SQLite rolls some failures back by itself; a second failure here changes nothing.
        if connection.isInTransaction { try? connection.execute("ROLLBACK") }
        CGatheredLog_forget(connection.handle)
        // The file may have been repaired, or the read itself may have been faulty.
        if failure.kind == .corrupt { connection.forgetPages() }
        rows.rolledBack()
        retention.rolledBack()
    }
}
