// SPDX-License-Identifier: Apache-2.0

import GRDB

@testable import StoreSQLite

/// Brings a store's file back to what an earlier version left.
enum EarlierStore {
    /// What undoes each step of the schema behind the first.
    private static let steps: [(name: String, undoing: String)] = [
        (
            "2 webhook endpoints",
            """
            DROP INDEX webhook_due;
            ALTER TABLE webhook DROP COLUMN endpoint;
            CREATE INDEX webhook_due ON webhook (due_at);
            DELETE FROM book WHERE name GLOB 'webhooks *';
            """
        ), ("3 idempotent answers", "ALTER TABLE idempotency DROP COLUMN answer"),
        ("4 told halts", "ALTER TABLE lane DROP COLUMN halt_told_at"),
        ("5 calls by key", "ALTER TABLE device DROP COLUMN calls"),
        ("6 feedback by lane", "DROP INDEX feedback_lane"),
        ("7 application id", "PRAGMA application_id = 0"),
    ]

    /// How many steps the schema has.
    static var stepCount: Int { steps.count + 1 }

    /// Takes the steps behind the first so many back. Nobody may have the file open.
    static func makeEarlier(_ path: String, steps count: Int) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.write { database in
            for step in steps.dropFirst(count - 1).reversed() {
                try database.execute(sql: step.undoing)
                try database.execute(
                    sql: "DELETE FROM grdb_migrations WHERE identifier = ?", arguments: [step.name])
            }
        }
        try queue.close()
    }
}
