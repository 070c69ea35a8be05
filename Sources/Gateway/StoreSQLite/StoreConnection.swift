// SPDX-License-Identifier: Apache-2.0

import CGatheredLog
import Gateway
import StoreRows

/// The rows of one connection, and its transactions.
final class StoreConnection {
    let rows: SQLiteRows
    private var retention: Retention

    /// Creates one over a database connection whose tables exist.
    init(
        _ connection: Connection, cachedDevices: Int, damage: DamageListener
    ) throws(StoreFailure) {
        rows = try SQLiteRows(connection, cachedDevices: cachedDevices, damage: damage)
        retention = Retention(of: rows)
    }

    var connection: Connection { rows.connection }

    /// Removes rows whose retention has ended, within the running transaction.
    func prune(_ order: PruneOrder) throws(StoreFailure) -> Pruned { try retention.step(order) }

    /// Runs one reading transaction; one that takes longer than `duration` fails.
    func read<Answer>(
        within duration: Duration, _ body: (StoreConnection) throws(StoreFailure) -> Answer
    ) throws(StoreFailure) -> Answer {
        try connection.checkIsOpen()
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

    /// Runs one writing transaction.
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

    /// Other connections may change what a reading transaction cached.
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
