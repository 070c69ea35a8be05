// SPDX-License-Identifier: Apache-2.0

import StoreRows

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
        (
            "8 plain words",
            """
            DROP VIEW wakes;
            DROP VIEW devices;
            DROP VIEW queues;
            ALTER TABLE property RENAME TO book;
            UPDATE webhook SET kind = 'app-halted' WHERE kind = 'app-held';
            ALTER TABLE webhook RENAME COLUMN queue_kind TO lane_kind;
            DROP INDEX feedback_queue;
            ALTER TABLE feedback RENAME COLUMN queue TO lane;
            CREATE INDEX feedback_lane ON feedback (lane, number);
            ALTER TABLE device RENAME COLUMN queue TO lane;
            ALTER TABLE queue RENAME COLUMN held_told_at TO halt_told_at;
            ALTER TABLE queue RENAME TO lane;
            ALTER TABLE wake DROP COLUMN device;
            """
        ),
        // Its view stays, for the step to replace it again.
        ("9 push types", "SELECT 1"),
        (
            "10 users",
            """
            DROP VIEW users;
            DROP INDEX device_user;
            ALTER TABLE device DROP COLUMN user;
            """
        ),
        ("11 outcomes", "DROP TABLE outcome"),
    ]

    /// The step that gave wakes a column for their device.
    private static let deviceStep = 8

    /// How many steps the schema has.
    static var stepCount: Int { steps.count + 1 }

    /// Makes an empty file of the version whose last step this is.
    static func make(_ path: String, lastStep: String) throws {
        let connection = try Connection(path)
        try StoreSchema.migrate(connection, upTo: lastStep)
        try connection.close()
    }

    /// Takes the steps behind the first so many back. Nobody may have the file open.
    static func makeEarlier(_ path: String, steps count: Int) throws {
        let file = try Connection(path)
        if count < deviceStep { try putDevicesIntoRest(file) }
        for step in steps.dropFirst(count - 1).reversed() {
            try file.run(script: step.undoing)
            try file.rows("DELETE FROM grdb_migrations WHERE identifier = ?", [.text(step.name)])
        }
        try file.close()
    }

    /// Has each wake keep its device in `rest`, as versions before ``deviceStep`` did: behind the
    /// version, the parts and a word. What is damaged stays as it is.
    private static func putDevicesIntoRest(_ file: Connection) throws {
        let rows = try file.rows("SELECT number, rest, device FROM wake WHERE device IS NOT NULL")
        for row in rows {
            guard case .bytes(var rest) = row[1], case .integer(let device) = row[2],
                rest.first == 2, let end = rest.dropFirst().firstIndex(where: { $0 < 0x80 }),
                end + 9 <= rest.count
            else { continue }
            rest[0] = 1
            rest.insert(
                contentsOf: withUnsafeBytes(of: device.littleEndian) { Array($0) }, at: end + 9)
            try file.rows("UPDATE wake SET rest = ? WHERE number = ?", [.bytes(rest), row[0]])
        }
    }
}
