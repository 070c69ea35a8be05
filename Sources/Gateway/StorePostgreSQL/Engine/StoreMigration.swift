// SPDX-License-Identifier: Apache-2.0

public import Gateway

extension PostgreSQLWakeStore {
    /// The version of the tables that this program reads and writes.
    public static var schemaVersion: Int { StoreTables.version }

    /// Makes the tables, or brings those of an earlier version up to date, and gives the role what
    /// its sessions need (``RoleSetting``), in one transaction; one who comes at the same time
    /// waits. Returns the version that was there, 0 for none. No gateway needs to be stopped for it
    /// to be safe: one of an earlier version writes nothing from then on.
    ///
    /// Throws a ``Gateway/StoreFailure``: `corrupt` when the tables are of a newer version.
    @discardableResult
    public static func migrate(
        url: String, settings: Settings = Settings()
    ) async throws(StoreFailure) -> Int {
        try await StoreMigration.withSession(url, settings) { session, _ throws(StoreFailure) in
            let version = try await StoreMigration.version { query throws(StoreFailure) in
                try await session.run([query]).results()[0]
            }
            guard version <= schemaVersion else { throw StoreMigration.newer(version) }
            let steps = [
                StoreMigration.patience, StoreMigration.statement, RoleSetting.assignment,
            ]
            _ = try await session.run(
                steps.map { Query($0) }, transaction: .write, within: .seconds(3_600)
            ).results()
            return version
        }
    }

    /// The version of the tables that are there, 0 for none and `nil` where the role may not look,
    /// and what is to be said of the database. Changes nothing.
    public static func survey(
        url: String, settings: Settings = Settings()
    ) async throws(StoreFailure) -> (version: Int?, remarks: [DatabaseRemark]) {
        try await StoreMigration.withSession(url, settings) {
            session, hostCount throws(StoreFailure) in
            let start = settings.machineClock()
            let result = try await session.run([Query(ServerFacts.statement)]).results()[0]
            let facts = try ServerFacts(
                result, hostCount: hostCount, between: start, and: settings.machineClock())
            guard facts.closedTables.isEmpty else { return (nil, facts.remarks) }
            let version = try await StoreMigration.version { query throws(StoreFailure) in
                try await session.run([query]).results()[0]
            }
            return (version, facts.remarks)
        }
    }
}

/// How tables come to be.
enum StoreMigration {
    /// A number that no other program locks, it is hoped: "rouse" in ASCII.
    static let lock = 0x72_6f75_7365

    /// Lifts the limits of time that the role may have from an earlier migration: another one may
    /// be waited for, and a large table takes its time.
    static let patience = Statement(
        """
        SELECT set_config(name, '0', true) FROM \(RoleSetting.rows)
        WHERE name LIKE '%timeout' AND current_setting(name, true) IS NOT NULL
        """)

    /// All migrations that have not been made yet, as one statement, so that it needs no session
    /// of its own behind a pooler. Each ends all writers: those of a gateway of the earlier version
    /// do not come back (``StoreLink/register(_:)``).
    static var statement: Statement {
        let steps = StoreTables.migrations.enumerated().map { index, statements in
            let ending =
                index == 0 ? "" : "UPDATE rouse.writer SET ended = true WHERE NOT ended;"
            return """
                IF (SELECT coalesce(max(version), 0) FROM rouse.schema_version) < \(index + 1) THEN
                    \(ending)
                    EXECUTE $migration$ \(statements.joined(separator: "\n")) $migration$;
                    INSERT INTO rouse.schema_version (version) VALUES (\(index + 1));
                END IF;
                """
        }
        return Statement(
            """
            DO $steps$ BEGIN
            PERFORM pg_advisory_xact_lock(\(lock));
            CREATE SCHEMA IF NOT EXISTS rouse;
            CREATE TABLE IF NOT EXISTS rouse.schema_version (
                version integer PRIMARY KEY,
                migrated_at timestamptz NOT NULL DEFAULT clock_timestamp());
            \(steps.joined(separator: "\n"))
            END $steps$
            """)
    }

    /// Waits for a migration that is under way, and keeps others waiting for the transaction's end.
    static let pause = Statement("SELECT pg_advisory_xact_lock_shared(\(lock))")

    /// The version of the tables that are there, 0 for none.
    static func version(
        _ run: (Query) async throws(StoreFailure) -> QueryResult
    ) async throws(StoreFailure) -> Int {
        let place = try await run(Query(exists))
        guard place.bool(0, 0) ?? false else { return 0 }
        return Int(try await run(Query(newest)).int64(0, 0) ?? 0)
    }

    private static let exists = Statement(
        "SELECT to_regclass('rouse.schema_version') IS NOT NULL")
    static let newest = Statement(
        "SELECT coalesce(max(version), 0)::bigint FROM rouse.schema_version")

    /// Throws unless tables of this version are the program's.
    static func check(_ version: Int) throws(StoreFailure) {
        guard version <= StoreTables.version else { throw newer(version) }
        guard version > 0 else {
            throw StoreFailure(
                kind: .corrupt,
                message: "The database holds no store. Make its tables: rouse store migrate.")
        }
        guard version == StoreTables.version else {
            throw StoreFailure(
                kind: .corrupt,
                message: "The store's tables are of version \(version), and this program needs "
                    + "version \(StoreTables.version). Bring them up to date: rouse store migrate.")
        }
    }

    static func newer(_ version: Int) -> StoreFailure {
        StoreFailure(
            kind: .corrupt,
            message: "The store's tables are of version \(version), and this program knows version "
                + "\(StoreTables.version) at most. Use the newer program.")
    }

    /// Opens one connection, and closes it behind `body`, which also gets how many hosts the URI
    /// names.
    static func withSession<Answer: Sendable>(
        _ url: String, _ settings: PostgreSQLWakeStore.Settings,
        _ body: (Session, _ hostCount: Int) async throws(StoreFailure) -> Answer
    ) async throws(StoreFailure) -> Answer {
        let pool: PostgreSQLPool
        let hostCount: Int
        do {
            let connection = try ConnectionSettings(uri: url, passwordFile: settings.passwordFile)
            hostCount = connection.hostCount
            pool = try PostgreSQLPool(connection, writers: 1, readers: 0)
        } catch let error as ConnectionSettings.Failure {
            throw StoreFailure(kind: .unavailable, message: error.description)
        } catch let error as Unavailable {
            throw StoreFailure(error)
        } catch {
            throw StoreFailure(kind: .unavailable, message: "\(error)")
        }
        let answer: Result<Answer, StoreFailure>
        switch await pool.take(.writer, within: .seconds(20)) {
        case .failure(let failure): answer = .failure(StoreFailure(failure))
        case .success(let session):
            do throws(StoreFailure) {
                answer = .success(try await body(session, hostCount))
            } catch {
                answer = .failure(error)
            }
            pool.giveBack(session)
        }
        await pool.shutDown(within: .seconds(5))
        return try answer.get()
    }
}
