// SPDX-License-Identifier: Apache-2.0

import Gateway
import StoreRows
import WakeModel

/// The tables, as a list of migrations. A migration that was released is never changed.
///
/// There are views for people: `wakes`, `devices`, `users` and `queues`.
///
/// Instants are milliseconds since the epoch. A wake's `number` is what its id begins with, so rows
/// are appended in the order of time and need no index by id. `queue` is the number of its queue
/// while it is pending, 0 while it is claimed after it has waited, else NULL; `at` is when it is
/// due there, or when its lease ends. A wake that was claimed with its admission is in none for its
/// first minute (see `SQLiteRows+Leases.swift`). The indexes cover only wakes that have not ended,
/// so that nothing on the hot path grows with the number of ended wakes; and a device's wakes are a
/// chain through `previous`, which costs no index at all.
enum StoreSchema {
    private struct Migration {
        let name: String
        let run: (Connection) throws(StoreFailure) -> Void

        init(_ name: String, _ run: @escaping (Connection) throws(StoreFailure) -> Void) {
            self.name = name
            self.run = run
        }

        init(_ name: String, _ scripts: String...) {
            self.init(name) { connection throws(StoreFailure) in
                for script in scripts { try connection.run(script: script) }
            }
        }
    }

    private static var migrations: [Migration] {
        [
            Migration("1 wakes", transaction, devices, wakes, attempts, idempotency, feeds),
            Migration("2 webhook endpoints", webhookEndpoints),
            Migration("3 idempotent answers", idempotentAnswers),
            Migration("4 told halts", toldHolds),
            Migration("5 calls by key") { connection throws(StoreFailure) in
                try connection.run(script: callsByKey)
                try CallMigration.run(connection)
            },
            Migration("6 feedback by lane", feedbackByQueue),
            Migration(
                "7 application id", "PRAGMA application_id = \(StoreIdentity.applicationID)"),
            Migration("8 plain words", plainWords, views),
            Migration("9 push types", pushTypes),
            Migration("10 users", users),
            Migration("11 outcomes", outcomes),
        ]
    }

    /// The names of the migrations that a file has had. The table is named after the library that
    /// made it in earlier versions.
    private static func applied(_ connection: Connection) throws(StoreFailure) -> [String] {
        guard try !connection.columns(of: "grdb_migrations").isEmpty else { return [] }
        return try connection.texts("SELECT identifier FROM grdb_migrations")
    }

    /// Whether a newer version wrote the file.
    static func isNewer(_ connection: Connection) throws(StoreFailure) -> Bool {
        try !Set(applied(connection)).isSubset(of: migrations.map(\.name))
    }

    /// Brings the tables up to this version, with a transaction for each migration; or no further
    /// than `last`.
    static func migrate(
        _ connection: Connection, upTo last: String? = nil
    ) throws(StoreFailure) {
        try connection.run(
            script: """
                CREATE TABLE IF NOT EXISTS grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)
                """)
        let applied = try applied(connection)
        for migration in migrations {
            if !applied.contains(migration.name) { try apply(migration, connection) }
            if migration.name == last { return }
        }
    }

    private static func apply(
        _ migration: Migration, _ connection: Connection
    ) throws(StoreFailure) {
        try connection.transaction("BEGIN IMMEDIATE") { () throws(StoreFailure) in
            try migration.run(connection)
            let note = try connection.prepare(
                "INSERT INTO grdb_migrations (identifier) VALUES (?)")
            note.bind(1, migration.name)
            try note.run()
        }
    }

    private static let transaction = """
        CREATE TABLE book (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        INSERT INTO book VALUES ('token key 0', random()), ('token key 1', random());

        CREATE TABLE lane (
            number INTEGER PRIMARY KEY,
            bundle_id TEXT NOT NULL,
            environment TEXT NOT NULL,
            kind INTEGER NOT NULL,
            confirms_launches INTEGER NOT NULL DEFAULT 0,
            paused_at INTEGER,
            pause_reason TEXT,
            UNIQUE (bundle_id, environment, kind)
        ) STRICT;
        """

    /// The number is a keyed hash of queue and token, so that one lookup finds a device; two with
    /// the same hash have adjacent numbers.
    private static let devices = """
        CREATE TABLE device (
            number INTEGER PRIMARY KEY,
            lane INTEGER NOT NULL,
            token BLOB NOT NULL,
            ledger BLOB NOT NULL,
            pending INTEGER NOT NULL,
            latest INTEGER NOT NULL,
            registered_at INTEGER,
            dead_since INTEGER,
            receipt_at INTEGER,
            touched_at INTEGER NOT NULL
        ) STRICT;
        """

    /// A wake is few columns, those by which it is found, and the rest in one (``StoredWake``):
    /// a column more is a value more to bind, to encode and to decode for each of a wake's writes.
    private static let wakes = """
        CREATE TABLE wake (
            number INTEGER PRIMARY KEY,
            state INTEGER NOT NULL,
            queue INTEGER,
            at INTEGER,
            deadline INTEGER,              -- NULL unless it is pending
            rest BLOB NOT NULL,
            payload BLOB                   -- NULL once it has ended
        ) STRICT;

        CREATE INDEX wake_queue ON wake (queue, at) WHERE queue IS NOT NULL;
        CREATE INDEX wake_deadline ON wake (deadline) WHERE deadline IS NOT NULL;
        """

    /// Attempts that did not end in success; a successful one is in the wake's own row.
    private static let attempts = """
        CREATE TABLE attempt (
            wake INTEGER NOT NULL,
            fence INTEGER NOT NULL,
            started_at INTEGER NOT NULL,
            ended_at INTEGER NOT NULL,
            result TEXT NOT NULL,
            status INTEGER,
            reason TEXT,
            since INTEGER,
            detail TEXT,
            PRIMARY KEY (wake, fence)
        ) STRICT, WITHOUT ROWID;
        """

    private static let idempotency = """
        CREATE TABLE idempotency (
            key BLOB PRIMARY KEY,
            request BLOB NOT NULL,
            wake INTEGER NOT NULL,
            expires_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE INDEX idempotency_expiry ON idempotency (expires_at);
        """

    private static let feeds = """
        CREATE TABLE feedback (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            kind TEXT NOT NULL,
            lane INTEGER NOT NULL,
            token BLOB NOT NULL,
            at INTEGER NOT NULL,
            status INTEGER NOT NULL,
            reason TEXT,
            since INTEGER,
            wake INTEGER NOT NULL,
            wake_low INTEGER NOT NULL
        ) STRICT;

        CREATE TABLE webhook (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            kind TEXT NOT NULL,
            subject INTEGER NOT NULL,      -- a wake, an entry of feedback, or whether it is halted
            created_at INTEGER NOT NULL,
            due_at INTEGER NOT NULL,
            fence INTEGER NOT NULL DEFAULT 0,
            tries INTEGER NOT NULL DEFAULT 0,
            bundle_id TEXT,
            environment TEXT,
            lane_kind INTEGER,
            reason TEXT
        ) STRICT;

        CREATE INDEX webhook_due ON webhook (due_at);
        """

    /// Each event has one row for each endpoint that receives it. Existing rows have no recorded
    /// endpoint: they are assigned to ``Gateway/WebhookEndpointID/unnamed``, and the first pruning
    /// reassigns them.
    private static let webhookEndpoints = """
        DROP INDEX webhook_due;
        ALTER TABLE webhook ADD COLUMN endpoint INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX webhook_due ON webhook (endpoint, due_at);
        INSERT INTO book SELECT 'webhooks 0', count(*) FROM webhook;
        """

    /// What a request with a key was answered (``Gateway/AdmittedWake``); NULL for the keys that
    /// are there already, whose wakes have to say.
    private static let idempotentAnswers = """
        ALTER TABLE idempotency ADD COLUMN answer BLOB;
        """

    /// The feed of one app is read without a walk through those of all others. Entries are few
    /// beside wakes, so what the index costs does not show.
    private static let feedbackByQueue = """
        CREATE INDEX feedback_lane ON feedback (lane, number);
        """

    /// Since when webhooks have reported a queue as held; NULL for existing queues, whose reports
    /// were not recorded.
    private static let toldHolds = """
        ALTER TABLE lane ADD COLUMN halt_told_at INTEGER;
        """

    /// The calls that a device's ledger counts, with their wakes; NULL for none.
    private static let callsByKey = """
        ALTER TABLE device ADD COLUMN calls BLOB;
        """

    /// Renames to the program's terms, and a column for a wake's device. Existing wakes keep theirs
    /// in `rest` only (``StoredWake``), so that a large file is migrated quickly.
    private static let plainWords = """
        ALTER TABLE lane RENAME TO queue;
        ALTER TABLE queue RENAME COLUMN halt_told_at TO held_told_at;
        ALTER TABLE device RENAME COLUMN lane TO queue;
        ALTER TABLE feedback RENAME COLUMN lane TO queue;
        DROP INDEX feedback_lane;
        CREATE INDEX feedback_queue ON feedback (queue, number);
        ALTER TABLE webhook RENAME COLUMN lane_kind TO queue_kind;
        UPDATE webhook SET kind = 'app-held' WHERE kind = 'app-halted';
        ALTER TABLE book RENAME TO property;
        ALTER TABLE wake ADD COLUMN device INTEGER;
        """

    /// Under which user a device is registered; NULL for none.
    private static let users = """
        ALTER TABLE device ADD COLUMN user TEXT;
        CREATE INDEX device_user ON device (user, queue, number) WHERE user IS NOT NULL;
        CREATE VIEW users AS
        SELECT device.user, lower(hex(device.token)) AS token, queues.bundle_id,
            queues.environment, queues.kind,
            datetime(device.registered_at / 1000, 'unixepoch') AS registered_at
        FROM device LEFT JOIN queues ON queues.number = device.queue
        WHERE device.user IS NOT NULL;
        """

    /// The feed of outcomes: a row for each transaction in which wakes ended, with their numbers,
    /// eight bytes each, the least significant first. The row's number is the cursor of the last
    /// one, and the others' are those before it.
    private static let outcomes = """
        CREATE TABLE outcome (number INTEGER PRIMARY KEY, wakes BLOB NOT NULL) STRICT;
        """

    /// For use with `sqlite3`: times as text, numbers as words, tokens in hexadecimal, and of
    /// payloads their lengths only. The program reads none of them. `id` is how a wake's id begins.
    private static let views = """
        CREATE VIEW queues AS
        SELECT number, bundle_id, environment,
            CASE kind WHEN 0 THEN 'voip' WHEN 1 THEN 'background' END AS kind,
            confirms_launches, datetime(paused_at / 1000, 'unixepoch') AS paused_at, pause_reason,
            datetime(held_told_at / 1000, 'unixepoch') AS held_told_at
        FROM queue;

        CREATE VIEW devices AS
        SELECT lower(hex(device.token)) AS token, queues.bundle_id, queues.environment, queues.kind,
            \(id("device.latest")) AS latest_wake,
            \(id("device.pending")) AS pending_wake,
            datetime(device.registered_at / 1000, 'unixepoch') AS registered_at,
            datetime(device.dead_since / 1000, 'unixepoch') AS dead_since,
            datetime(device.receipt_at / 1000, 'unixepoch') AS receipt_at,
            datetime(device.touched_at / 1000, 'unixepoch') AS touched_at
        FROM device LEFT JOIN queues ON queues.number = device.queue;

        CREATE VIEW wakes AS
        SELECT \(id("wake.number")) AS id,
            datetime((wake.number >> 12) / 1000, 'unixepoch') AS accepted_at,
            CASE wake.state \(stateWords) END AS state,
            CASE wake.state WHEN 0 THEN datetime(wake.at / 1000, 'unixepoch') END AS due_at,
            CASE wake.state WHEN 1 THEN datetime(wake.at / 1000, 'unixepoch') END AS lease_until,
            datetime(wake.deadline / 1000, 'unixepoch') AS deadline,
            lower(hex(device.token)) AS token, queues.bundle_id, queues.environment, queues.kind,
            length(wake.payload) AS payload_bytes
        FROM wake LEFT JOIN device ON device.number = wake.device
            LEFT JOIN queues ON queues.number = device.queue;
        """

    /// Wakes of all push types. Their queues have numbers for kinds, and their rows a part, that
    /// earlier versions do not support; for readability the view has the kinds' names.
    private static var pushTypes: String {
        """
        DROP VIEW queues;
        CREATE VIEW queues AS
        SELECT number, bundle_id, environment, CASE kind \(kindWords) END AS kind,
            confirms_launches, datetime(paused_at / 1000, 'unixepoch') AS paused_at, pause_reason,
            datetime(held_told_at / 1000, 'unixepoch') AS held_told_at
        FROM queue;
        """
    }

    private static var kindWords: String {
        WakeKind.allCases.map { "WHEN \($0.number) THEN '\($0.rawValue)'" }.joined(separator: " ")
    }

    /// How the id of the wake with a number begins, in SQL; NULL for the number 0.
    private static func id(_ number: String) -> String {
        "CASE WHEN \(number) > 0 THEN printf('%08x-%04x-7%03x', \(number) >> 28, "
            + "(\(number) >> 12) & 65535, \(number) & 4095) END"
    }

    private static var stateWords: String {
        WakeState.allCases.map { "WHEN \($0.number) THEN '\($0.rawValue)'" }.joined(separator: " ")
    }
}
