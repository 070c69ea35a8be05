// SPDX-License-Identifier: Apache-2.0

import GRDB

/// The tables, as a list of migrations. A migration that was released is never changed.
///
/// Instants are milliseconds since the epoch. `wake.state` and `wake.kind` are the numbers of
/// `WakeState.number` and `WakeKind.number`. The partial indexes cover only wakes that have not
/// ended, so that nothing on the hot path grows with what lies behind.
enum StoreSchema {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 wakes") { database in
            try database.execute(sql: wakes)
            try database.execute(sql: attempts)
            try database.execute(sql: idempotency)
        }
        return migrator
    }

    private static let wakes = """
        CREATE TABLE app (
            number INTEGER PRIMARY KEY,
            bundle_id TEXT NOT NULL,
            environment TEXT NOT NULL,
            UNIQUE (bundle_id, environment)
        ) STRICT;

        CREATE TABLE wake (
            number INTEGER PRIMARY KEY,
            id BLOB NOT NULL UNIQUE,
            app INTEGER NOT NULL REFERENCES app (number),
            kind INTEGER NOT NULL,
            device_token BLOB NOT NULL,
            payload BLOB NOT NULL,
            expiration INTEGER,            -- NULL: apns-expiration 0
            collapse_id TEXT,
            accepted_at INTEGER NOT NULL,
            due_at INTEGER NOT NULL,
            deadline INTEGER NOT NULL,
            state INTEGER NOT NULL DEFAULT 0,
            fence INTEGER NOT NULL DEFAULT 0,
            tries INTEGER NOT NULL DEFAULT 0,
            claimed_at INTEGER,
            lease_until INTEGER,
            previous_reason TEXT,
            ended_at INTEGER,
            status INTEGER,
            reason TEXT,
            token_dead_since INTEGER,
            detail TEXT
        ) STRICT;

        CREATE INDEX wake_due ON wake (app, kind, due_at) WHERE state = 0;
        CREATE INDEX wake_deadline ON wake (deadline) WHERE state = 0;
        CREATE INDEX wake_lease ON wake (lease_until) WHERE state = 1;

        CREATE TABLE book (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        INSERT INTO book VALUES ('accepted', 0);
        """

    /// Attempts that did not end in success; a successful one stands in the wake's own row.
    private static let attempts = """
        CREATE TABLE attempt (
            wake INTEGER NOT NULL REFERENCES wake (number) ON DELETE CASCADE,
            fence INTEGER NOT NULL,
            started_at INTEGER NOT NULL,
            ended_at INTEGER NOT NULL,
            result TEXT NOT NULL,
            status INTEGER,
            reason TEXT,
            token_dead_since INTEGER,
            detail TEXT,
            PRIMARY KEY (wake, fence)
        ) STRICT, WITHOUT ROWID;
        """

    private static let idempotency = """
        CREATE TABLE idempotency (
            key BLOB PRIMARY KEY,
            request BLOB NOT NULL,
            wake BLOB NOT NULL,
            expires_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE INDEX idempotency_expiry ON idempotency (expires_at);
        """
}
