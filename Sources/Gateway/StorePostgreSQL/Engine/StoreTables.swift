// SPDX-License-Identifier: Apache-2.0

import Gateway
import StoreRows
import WakeModel

/// The tables in the schema `rouse`, as a list of migrations. A migration that was released is
/// never changed.
///
/// For reading by eye there are views: `wakes`, `devices`, `users` and `queues`.
///
/// Instants are milliseconds since the epoch. A wake's `number` is what its id begins with. `place`
/// is the number of its queue while it is pending, 0 while it is claimed after it has waited, else
/// NULL; `at` is when it is due there, or when its lease ends. A wake that was claimed with its
/// admission is in no place (see `FreshLeases`), so that its end changes no column of an index, and
/// the row is written on the page where it was (a HOT update). `deadline` changes only where
/// `place` does, so its index keeps no update from that. Only wakes in a place are indexed, so that
/// nothing on the hot path grows with the number of ended wakes; and a device's wakes are a chain
/// through `previous`, which costs no index at all.
enum StoreTables {
    /// The migrations, each a list of statements: those of version 1 come first.
    static let migrations: [[String]] = [
        [
            conflict, writers, properties, queues, devices, wakes, attempts, idempotency, feeds,
            views,
        ],
        [pushTypes],
        [partitions],
        [users],
        [outcomes, gateways],
    ]

    /// The version of the tables that this program reads and writes.
    static var version: Int { migrations.count }

    /// The state of an error by which a statement says that rows are not what they were.
    static let conflictState = "RW409"
    /// The error state for a writer whose slot was taken over.
    static let fencedState = "RW410"

    private static let conflict = """
        CREATE FUNCTION rouse.expect(actual bigint, expected bigint) RETURNS void
        LANGUAGE plpgsql AS $$
        BEGIN
            IF actual <> expected THEN
                RAISE EXCEPTION 'rows were changed by another gateway, which decides anew'
                    USING ERRCODE = '\(conflictState)';
            END IF;
        END $$;
        CREATE FUNCTION rouse.expect_writer(actual bigint) RETURNS void
        LANGUAGE plpgsql AS $$
        BEGIN
            IF actual <> 1 THEN
                RAISE EXCEPTION 'this writer was replaced by another one'
                    USING ERRCODE = '\(fencedState)';
            END IF;
        END $$;
        """

    /// A row for each connection that writes, for as long as it does. Its id is never given again;
    /// `slot` is, and makes its numbers different from those of all others. `ended` is the fence:
    /// a writer whose row has ended writes no more. `sequence` counts its transactions, so that it
    /// can be known whether one of which no answer came was committed.
    private static let writers = """
        CREATE TABLE rouse.writer (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            slot integer NOT NULL,
            gateway text NOT NULL,
            ended boolean NOT NULL DEFAULT false,
            sequence bigint NOT NULL DEFAULT 0,
            recovered boolean NOT NULL DEFAULT false,
            floor bigint NOT NULL,
            last_number bigint NOT NULL,
            began_at timestamptz NOT NULL DEFAULT clock_timestamp(),
            seen_at timestamptz NOT NULL DEFAULT clock_timestamp()
        ) WITH (fillfactor = 10, autovacuum_vacuum_scale_factor = 0,
            autovacuum_vacuum_threshold = 1000);
        CREATE UNIQUE INDEX writer_slot ON rouse.writer (slot) WHERE NOT ended;
        CREATE TABLE rouse.counter (
            name text NOT NULL,
            slot integer NOT NULL,
            value bigint NOT NULL,
            PRIMARY KEY (name, slot)
        ) WITH (fillfactor = 10, autovacuum_vacuum_scale_factor = 0,
            autovacuum_vacuum_threshold = 1000);
        -- Who looks for what is due just now. Lost with the server's memory, and not missed then.
        CREATE UNLOGGED TABLE rouse.turn (
            name text PRIMARY KEY,
            writer bigint NOT NULL,
            until timestamptz NOT NULL
        ) WITH (fillfactor = 10);
        CREATE TABLE rouse.duty (
            name text PRIMARY KEY,
            gateway text NOT NULL,
            until timestamptz NOT NULL
        );
        INSERT INTO rouse.duty VALUES ('prune', '', '-infinity');
        """

    /// The keys of the devices' hash, and the count of changes of queues.
    private static let properties = """
        CREATE TABLE rouse.property (name text PRIMARY KEY, value bigint NOT NULL)
            WITH (fillfactor = 50);
        INSERT INTO rouse.property
        SELECT 'token key ' || place, ('x' || substr(gen_random_uuid()::text, 1, 8)
            || substr(gen_random_uuid()::text, 1, 8))::bit(64)::bigint
        FROM generate_series(0, 1) AS place;
        INSERT INTO rouse.property VALUES ('queue changes', 0);
        """

    /// `changed` is how many changes of queues there had been with the row's last one.
    private static let queues = """
        CREATE TABLE rouse.queue (
            number bigint PRIMARY KEY,
            bundle_id text NOT NULL,
            environment text NOT NULL,
            kind smallint NOT NULL,
            confirms_launches boolean NOT NULL DEFAULT false,
            paused_at bigint,
            pause_reason text,
            held_told_at bigint,
            changed bigint NOT NULL,
            UNIQUE (bundle_id, environment, kind)
        );
        CREATE INDEX queue_changed ON rouse.queue (changed);
        """

    /// The number is a keyed hash of queue and token, so that one lookup finds a device; two with
    /// the same hash have adjacent numbers.
    private static let devices = """
        CREATE TABLE rouse.device (
            number bigint PRIMARY KEY,
            version bigint NOT NULL,
            queue bigint NOT NULL,
            pending bigint NOT NULL,
            latest bigint NOT NULL,
            registered_at bigint,
            dead_since bigint,
            receipt_at bigint,
            touched_at bigint NOT NULL,
            token bytea NOT NULL,
            ledger bytea NOT NULL,
            calls bytea
        ) WITH (fillfactor = 80);
        """

    /// A wake is few columns, those by which it is found, and the rest in one, in the form that
    /// SQLite's store has too (`StoredWake`): a column more is an array more in each write.
    private static let wakes = """
        CREATE TABLE rouse.wake (
            number bigint PRIMARY KEY,
            version bigint NOT NULL,
            device bigint NOT NULL,
            previous bigint NOT NULL,
            place bigint,
            at bigint,                     -- of no meaning once it has ended
            deadline bigint,               -- NULL unless it is pending
            state smallint NOT NULL,
            rest bytea NOT NULL,
            payload bytea                  -- NULL once it has ended
        ) WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02,
            autovacuum_vacuum_insert_scale_factor = 0.05);
        CREATE INDEX wake_place ON rouse.wake (place, at, number) WHERE place IS NOT NULL;
        CREATE INDEX wake_deadline ON rouse.wake (deadline, number) WHERE deadline IS NOT NULL;
        """

    /// Attempts that did not end in success; a successful one is in the wake's own row.
    private static let attempts = """
        CREATE TABLE rouse.attempt (
            wake bigint NOT NULL,
            fence bigint NOT NULL,
            started_at bigint NOT NULL,
            ended_at bigint NOT NULL,
            result text NOT NULL,
            status bigint,
            reason text,
            since bigint,
            detail text,
            PRIMARY KEY (wake, fence)
        );
        """

    private static let idempotency = """
        CREATE TABLE rouse.idempotency (
            key bytea PRIMARY KEY,
            request bytea NOT NULL,
            wake bigint NOT NULL,
            expires_at bigint NOT NULL,
            answer bytea NOT NULL
        );
        CREATE INDEX idempotency_expiry ON rouse.idempotency (expires_at);
        """

    /// `feed` has the last number of each feed. Its row is locked from when a number is given until
    /// that is committed, so that a reader who has seen a number has seen all before it.
    private static let feeds = """
        CREATE TABLE rouse.feed (name text PRIMARY KEY, last bigint NOT NULL)
            WITH (fillfactor = 10);
        INSERT INTO rouse.feed VALUES ('feedback', 0);
        CREATE TABLE rouse.feedback (
            number bigint PRIMARY KEY,
            kind text NOT NULL,
            queue bigint NOT NULL,
            token bytea NOT NULL,
            at bigint NOT NULL,
            status bigint NOT NULL,
            reason text,
            since bigint,
            wake bigint NOT NULL,
            wake_low bigint NOT NULL
        );
        CREATE INDEX feedback_queue ON rouse.feedback (queue, number);
        CREATE TABLE rouse.webhook (
            number bigint PRIMARY KEY,
            endpoint bigint NOT NULL,
            kind text NOT NULL,
            subject bigint NOT NULL,       -- a wake, an entry of feedback, or whether it is held
            created_at bigint NOT NULL,
            due_at bigint NOT NULL,
            fence bigint NOT NULL DEFAULT 0,
            tries bigint NOT NULL DEFAULT 0,
            bundle_id text,
            environment text,
            queue_kind bigint,
            reason text
        ) WITH (fillfactor = 80);
        CREATE INDEX webhook_due ON rouse.webhook (endpoint, due_at, number);
        """

    /// Under which user a device is registered; NULL for none. From now on a `payload` may have
    /// parts (`StoredPayload`), which a gateway of an earlier version would send verbatim: without
    /// the function that it calls in each transaction it writes nothing, and so sends nothing.
    private static let users = """
        ALTER FUNCTION rouse.expect_writer(bigint) RENAME TO require_writer;
        ALTER TABLE rouse.device ADD COLUMN user_id text;
        CREATE INDEX device_user ON rouse.device (user_id, queue, number)
            WHERE user_id IS NOT NULL;
        CREATE VIEW rouse.users AS
        SELECT device.user_id, encode(device.token, 'hex') AS token, queues.bundle_id,
            queues.environment, queues.kind, rouse.instant(device.registered_at) AS registered_at
        FROM rouse.device LEFT JOIN rouse.queues ON queues.number = device.queue
        WHERE device.user_id IS NOT NULL;
        """

    /// A row for each gateway, for information only. Nothing depends on it: takeovers are decided
    /// by the writers' rows.
    private static let gateways = """
        CREATE TABLE rouse.gateway (
            name text PRIMARY KEY,
            leases bigint NOT NULL,
            began_at timestamptz NOT NULL DEFAULT clock_timestamp(),
            seen_at timestamptz NOT NULL DEFAULT clock_timestamp()
        ) WITH (fillfactor = 10);
        """

    /// The feed of outcomes: a row for each transaction in which wakes ended, with their numbers.
    /// The row's number is the cursor of the last one, and the others' are those before it.
    private static let outcomes = """
        INSERT INTO rouse.feed VALUES ('outcomes', 0);
        CREATE TABLE rouse.outcome (
            number bigint PRIMARY KEY,
            wakes bigint[] NOT NULL
        );
        """

    /// For use with `psql`: times, numbers as words, tokens in hexadecimal, and of payloads their
    /// lengths only. The program reads none of them. `id` is how a wake's id begins.
    private static let views = """
        CREATE FUNCTION rouse.instant(milliseconds bigint) RETURNS timestamptz
        LANGUAGE sql IMMUTABLE AS $$ SELECT to_timestamp(milliseconds / 1000.0) $$;
        CREATE FUNCTION rouse.wake_id(number bigint) RETURNS text
        LANGUAGE sql IMMUTABLE AS $$
            SELECT CASE WHEN number > 0 THEN lpad(to_hex(number >> 28), 8, '0') || '-'
                || lpad(to_hex(number >> 12 & 65535), 4, '0') || '-7'
                || lpad(to_hex(number & 4095), 3, '0') END $$;
        CREATE VIEW rouse.queues AS
        SELECT number, bundle_id, environment,
            CASE kind WHEN 0 THEN 'voip' WHEN 1 THEN 'background' END AS kind, confirms_launches,
            rouse.instant(paused_at) AS paused_at, pause_reason,
            rouse.instant(held_told_at) AS held_told_at
        FROM rouse.queue;
        CREATE VIEW rouse.devices AS
        SELECT encode(device.token, 'hex') AS token, queues.bundle_id, queues.environment,
            queues.kind, rouse.wake_id(device.latest) AS latest_wake,
            rouse.wake_id(device.pending) AS pending_wake,
            rouse.instant(device.registered_at) AS registered_at,
            rouse.instant(device.dead_since) AS dead_since,
            rouse.instant(device.receipt_at) AS receipt_at,
            rouse.instant(device.touched_at) AS touched_at
        FROM rouse.device LEFT JOIN rouse.queues ON queues.number = device.queue;
        \(wakesView)
        """

    static let wakesView = """
        CREATE VIEW rouse.wakes AS
        SELECT rouse.wake_id(wake.number) AS id,
            rouse.instant(wake.number >> 12) AS accepted_at,
            CASE wake.state \(stateWords) END AS state,
            CASE wake.state WHEN 0 THEN rouse.instant(wake.at) END AS due_at,
            CASE wake.state WHEN 1 THEN rouse.instant(wake.at) END AS lease_until,
            rouse.instant(wake.deadline) AS deadline, encode(device.token, 'hex') AS token,
            queues.bundle_id, queues.environment, queues.kind,
            octet_length(wake.payload) AS payload_bytes
        FROM rouse.wake LEFT JOIN rouse.device ON device.number = wake.device
            LEFT JOIN rouse.queues ON queues.number = device.queue;
        """

    /// Wakes of all push types. Their queues have numbers for kinds, and their rows a part, that
    /// earlier versions do not support; for readability the view has the kinds' names.
    private static let pushTypes = """
        CREATE OR REPLACE VIEW rouse.queues AS
        SELECT number, bundle_id, environment, CASE kind \(kindWords) END AS kind,
            confirms_launches, rouse.instant(paused_at) AS paused_at, pause_reason,
            rouse.instant(held_told_at) AS held_told_at
        FROM rouse.queue;
        """

    private static var kindWords: String {
        WakeKind.allCases.map { "WHEN \($0.number) THEN '\($0.rawValue)'" }.joined(separator: " ")
    }

    private static var stateWords: String {
        WakeState.allCases.map { "WHEN \($0.number) THEN '\($0.rawValue)'" }.joined(separator: " ")
    }
}
