// SPDX-License-Identifier: Apache-2.0

import Gateway

/// A finding about the setup of a shared store's database, for operators.
public struct DatabaseRemark: Hashable, Sendable {
    /// What follows from it.
    public enum Weight: Hashable, Sendable, CaseIterable {
        /// A gateway refuses to work on the database.
        case refused
        /// The database may lose what it has acknowledged. A gateway refuses to work on it, unless
        /// ``PostgreSQLWakeStore/Settings/acceptsLoss`` is set.
        case losesCommits
        /// A gateway works on it, and says so.
        case warning
    }

    /// What follows from it.
    public let weight: Weight
    /// What is wrong and what comes of it, as a sentence.
    public let problem: String
    /// What to do, as a sentence.
    public let cure: String

    /// What can be done instead about one that ``Weight/losesCommits``, as a sentence.
    public static let acceptance = "Or accept the loss with store-accepts-loss: true."
}

/// What a server says of itself, as far as a store's promises depend on it.
///
/// The settings are PostgreSQL's (postgresql.org/docs/current/runtime-config-wal.html,
/// runtime-config-replication.html).
struct ServerFacts: Hashable, Sendable {
    /// The server's version, such as 150018 for 15.18.
    var version: Int64 = 150_000
    /// The role that asks, and the database.
    var role = "rouse"
    var database = "rouse"
    var isFsyncOn = true
    var isFullPageWritesOn = true
    var synchronousCommit = "on"
    /// `synchronous_standby_names`; empty when no standby is waited for.
    var synchronousStandbys = ""
    /// How many standbys, or other receivers of the log, are connected.
    var standbyCount: Int64 = 0
    /// Whether the server is a standby, on which nothing can be written.
    var isStandby = false
    /// The settings of ``RoleSetting`` that the session lacks, as SQL.
    var missingSettings = ""
    /// The tables of the store that the role may not read and write.
    var closedTables = ""
    /// Whether the role may make and drop tables of the store, as it does with each day's.
    var mayMakeTables = true
    /// The encoding of the database's texts.
    var encoding = "UTF8"
    /// The tables of the store of which row-level security shows the role a part.
    var filteredTables = ""
    /// How many bytes of temporary files a session may have; below 0, any number.
    var temporaryByteLimit: Int64 = -1
    /// How far the database's clock is ahead of this machine's at least, in milliseconds: as far as
    /// the time that the question took leaves it open, it is not.
    var clockOffset: Int64 = 0
    /// How many hosts the store's URI names.
    var hostCount = 1

    /// The oldest version whose SQL is enough.
    static let oldestVersion: Int64 = 130_000
    /// The difference of the clocks, in milliseconds, from which on there is a warning.
    static let toleratedClockOffset: Int64 = 5_000
    /// How many bytes of temporary files ``WritePlan/room`` needs.
    static let trialByteCount: Int64 = 2_097_152

    static let statement = Statement(
        """
        SELECT current_setting('server_version_num')::bigint, session_user::text,
            current_database()::text, current_setting('fsync')::boolean,
            current_setting('full_page_writes')::boolean, current_setting('synchronous_commit'),
            current_setting('synchronous_standby_names'),
            (SELECT count(*) FROM pg_stat_replication), pg_is_in_recovery(),
            coalesce((SELECT string_agg(name || ' = ' || value, ', ' ORDER BY name)
                FROM \(RoleSetting.rows) WHERE current_setting(name, true) <> value), ''),
            CASE WHEN NOT has_schema_privilege(to_regnamespace('rouse')::oid, 'USAGE')
                THEN 'the schema rouse' ELSE
            coalesce((SELECT string_agg('rouse.' || relname, ', ' ORDER BY relname)
                FROM pg_class
                WHERE relnamespace = to_regnamespace('rouse') AND relkind IN ('r', 'p')
                    AND NOT (has_table_privilege(oid, 'SELECT')
                        AND has_table_privilege(oid, 'INSERT')
                        AND has_table_privilege(oid, 'UPDATE')
                        AND has_table_privilege(oid, 'DELETE'))), '') END,
            coalesce(has_schema_privilege(to_regnamespace('rouse')::oid, 'CREATE'), true)
                AND NOT EXISTS (SELECT 1 FROM pg_class
                    WHERE relnamespace = to_regnamespace('rouse') AND relkind IN ('r', 'p')
                        AND NOT pg_has_role(relowner, 'USAGE')),
            (extract(epoch FROM clock_timestamp()) * 1000)::bigint,
            current_setting('server_encoding'),
            coalesce((SELECT string_agg('rouse.' || relname, ', ' ORDER BY relname)
                FROM pg_class
                WHERE relnamespace = to_regnamespace('rouse') AND relkind IN ('r', 'p')
                    AND row_security_active(oid)), ''),
            pg_size_bytes(current_setting('temp_file_limit'))
        """)

    init() {}

    /// Takes over the one row of ``statement``, for which was asked between two instants of this
    /// machine's clock, in milliseconds since the epoch. Throws where a value is missing: a store
    /// whose server says nothing of itself is not taken for a good one.
    init(
        _ result: QueryResult, hostCount: Int, between start: Int64, and end: Int64
    ) throws(StoreFailure) {
        self.hostCount = hostCount
        guard result.rowCount == 1, let version = result.int64(0, 0),
            let role = result.string(0, 1), let database = result.string(0, 2),
            let isFsyncOn = result.bool(0, 3), let isFullPageWritesOn = result.bool(0, 4),
            let synchronousCommit = result.string(0, 5),
            let synchronousStandbys = result.string(0, 6),
            let standbyCount = result.int64(0, 7), let isStandby = result.bool(0, 8),
            let missingSettings = result.string(0, 9), let closedTables = result.string(0, 10),
            let mayMakeTables = result.bool(0, 11), let time = result.int64(0, 12),
            let encoding = result.string(0, 13), let filteredTables = result.string(0, 14),
            let temporaryByteLimit = result.int64(0, 15)
        else {
            throw StoreFailure(
                kind: .unavailable,
                message: "The database does not say how it is set up, as far as a store depends on "
                    + "it.")
        }
        self.version = version
        self.role = role
        self.database = database
        self.isFsyncOn = isFsyncOn
        self.isFullPageWritesOn = isFullPageWritesOn
        self.synchronousCommit = synchronousCommit
        self.synchronousStandbys = synchronousStandbys
        self.standbyCount = standbyCount
        self.isStandby = isStandby
        self.missingSettings = missingSettings
        self.closedTables = closedTables
        self.mayMakeTables = mayMakeTables
        self.encoding = encoding
        self.filteredTables = filteredTables
        self.temporaryByteLimit = temporaryByteLimit
        clockOffset = min(max(0, time - end), time - start)
    }

    /// What is to be said of them, the worst first.
    var remarks: [DatabaseRemark] { refusals + losses + warnings }

    private var refusals: [DatabaseRemark] {
        var remarks: [DatabaseRemark] = []
        func add(_ problem: String, _ cure: String) {
            remarks.append(DatabaseRemark(weight: .refused, problem: problem, cure: cure))
        }
        if version < Self.oldestVersion {
            add(
                "The server is PostgreSQL \(version / 10_000), and "
                    + "\(Self.oldestVersion / 10_000) is the oldest that can be used.",
                "Use a newer server.")
        }
        if isStandby {
            add(
                "The server is a standby, on which nothing can be written.",
                "Name the primary, or leave target_session_attrs at read-write.")
        }
        if !closedTables.isEmpty {
            add(
                "The role \(role) may not read and write \(closedTables).", Self.ownership)
        }
        // SQL_ASCII takes the bytes as they come.
        if encoding != "UTF8", encoding != "SQL_ASCII" {
            add(
                "The database's encoding is \(encoding), which lacks letters that users, reasons "
                    + "and names may contain, so that their rows cannot be written.",
                "Use another: createdb --template template0 --encoding UTF8 --locale C.")
        }
        if !filteredTables.isEmpty {
            add(
                "Row-level security hides rows of \(filteredTables) from the role \(role).",
                "Run ALTER TABLE … DISABLE ROW LEVEL SECURITY for each of them.")
        }
        return remarks
    }

    private static let ownership =
        "Use the role that made the tables with rouse store migrate, for all gateways."

    private var losses: [DatabaseRemark] {
        var remarks: [DatabaseRemark] = []
        func add(_ problem: String, _ cure: String) {
            remarks.append(DatabaseRemark(weight: .losesCommits, problem: problem, cure: cure))
        }
        if !isFsyncOn {
            add(
                "fsync is off, so that a crash of the server's machine may take acknowledged "
                    + "wakes, or the whole database.",
                "Set fsync = on in postgresql.conf.")
        }
        if synchronousCommit == "off" {
            add(
                "synchronous_commit is off, so that a crash of the server takes the last wakes "
                    + "that were acknowledged.",
                assignment("synchronous_commit = on"))
        }
        if synchronousCommit == "local", !synchronousStandbys.isEmpty {
            add(
                "synchronous_commit is local, so that a failover takes the last wakes that were "
                    + "acknowledged.",
                assignment("synchronous_commit = on"))
        }
        if hostCount > 1, synchronousStandbys.isEmpty {
            add(
                "The store's URI names \(hostCount) hosts, and no standby is synchronous, so that "
                    + "a failover takes the last wakes that were acknowledged.",
                "Name the standbys in synchronous_standby_names.")
        }
        return remarks
    }

    private var warnings: [DatabaseRemark] {
        var remarks: [DatabaseRemark] = []
        func add(_ problem: String, _ cure: String) {
            remarks.append(DatabaseRemark(weight: .warning, problem: problem, cure: cure))
        }
        if !isFullPageWritesOn {
            add(
                "full_page_writes is off, so that a crash of the server's machine may damage the "
                    + "database, unless its file system writes pages whole.",
                "Set full_page_writes = on in postgresql.conf.")
        }
        if hostCount == 1, standbyCount > 0, synchronousStandbys.isEmpty {
            add(
                "No standby is synchronous, so that a failover takes the last wakes that were "
                    + "acknowledged.",
                "Name the standbys in synchronous_standby_names.")
        }
        if closedTables.isEmpty, !mayMakeTables {
            add(
                "The role \(role) does not own the tables, or may not make others in the schema "
                    + "rouse, so that the partitions of new days will be missing and those of old "
                    + "ones will stay.", Self.ownership)
        }
        if abs(clockOffset) > Self.toleratedClockOffset {
            add(
                "The database's clock and this machine's differ by more than "
                    + "\(Self.toleratedClockOffset / 1000) s. Wakes come due and expire by the "
                    + "database's, and provider tokens are signed by this machine's.",
                "Set both, by NTP for example; rouse status shows the difference.")
        }
        if (0..<Self.trialByteCount).contains(temporaryByteLimit) {
            add(
                "temp_file_limit is \(temporaryByteLimit / 1024) kB, too little to try whether a "
                    + "full disk has room again, so that a gateway is ready too early then.",
                "As a superuser: ALTER ROLE \(Self.quoted(role)) SET temp_file_limit = -1;")
        }
        if !missingSettings.isEmpty {
            add(
                "The role \(role) lacks these settings: \(missingSettings). A gateway that hangs "
                    + "may stop the others, and a plan may read whole tables.",
                "Run rouse store migrate as this role; connections that are open keep theirs.")
        }
        return remarks
    }

    /// The statement that gives the role a setting, as advice.
    private func assignment(_ setting: String) -> String {
        "Run: ALTER ROLE \(Self.quoted(role)) IN DATABASE \(Self.quoted(database)) SET \(setting);"
    }

    /// A name as SQL spells it.
    static func quoted(_ name: String) -> String {
        let isPlain =
            name.utf8.allSatisfy {
                ($0 >= UInt8(ascii: "a") && $0 <= UInt8(ascii: "z")) || $0 == UInt8(ascii: "_")
            } && !name.isEmpty
        return isPlain
            ? name
            : "\""
                + name.split(
                    separator: "\"", omittingEmptySubsequences: false
                ).joined(separator: "\"\"") + "\""
    }
}
