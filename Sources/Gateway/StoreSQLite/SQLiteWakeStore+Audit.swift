// SPDX-License-Identifier: Apache-2.0

public import Gateway
import StoreRows

extension SQLiteWakeStore {
    /// Checks that accepted wakes are the sum of ended and pending ones in a store's file, checks
    /// the file, and reads every wake, device, queue, attempt, idempotency key, feedback entry and
    /// webhook. It only reads, and takes no lock, so that it may run while a gateway runs; it then
    /// sees one moment. It leaves no new files, and includes the log if there is one.
    ///
    /// Linear in the size of the file. Throws a ``Gateway/StoreFailure``: `readOnly` when the file
    /// cannot be opened, `corrupt` when it is no store, `unavailable` when it has several names
    /// (hard links): its log may be under another one.
    public static func audit(path: String) throws(StoreFailure) -> StoreAudit {
        try AuditedFile(path: path).read { connection throws(StoreFailure) in
            if let failure = try StoreIdentity.failure(
                in: connection, path: path, allowsEmpty: false)
            {
                throw failure
            }
            let complaints = try connection.texts(
                "PRAGMA integrity_check(\(StoreAudit.maximumFaults))")
            let collector = DamageCollector()
            let damage = DamageListener()
            damage.listen { collector.note($0) }
            connection.isOfEarlierVersion = try connection.columns(of: "property").isEmpty
            let store = try StoreConnection(connection, cachedDevices: 0, damage: damage)
            try store.rows.readEverything()
            let damaged = collector.found
            return StoreAudit(
                count: try store.rows.perform(RecountWakes()),
                faults: try complaints.filter { $0 != "ok" } + miscountedWebhooks(connection),
                damaged: damaged.rows, damagedCount: damaged.count)
        }
    }

    /// The path of the file of a store at this path, or of the file that would be created, all
    /// symbolic links resolved: its log and its lock are next to it.
    public static func place(of path: String) -> String { StorePath.resolve(path) }

    /// The reason why a gateway would refuse the file at this path, as a sentence: it is another
    /// program's, or its log is another database's. `nil` when it is a store or a database without
    /// tables. It only reads, as ``audit(path:)`` does, and throws as that does. Not for a process
    /// that has the store open: closing a descriptor of the file drops SQLite's locks on it there.
    public static func refusal(path: String) throws(StoreFailure) -> String? {
        if let failure = LogPairing.failure(at: path) { return failure.message }
        return try StoreIdentity.failure(at: path, allowsEmpty: true)?.message
    }

    /// The reason why a gateway would refuse to create a store at a path without a file, or with an
    /// empty one: there is the log of a former one. `nil` when it would not. May be called from any
    /// thread.
    public static func refusalToMake(path: String) -> String? {
        StoreIdentity.orphanedLog(besides: StorePath.resolve(path))?.message
    }

    /// Whether a store's file was written by a newer version, so that this one will not open it. It
    /// only reads, as ``audit(path:)`` does, and throws as that does; its cost does not grow with
    /// the file.
    public static func isOfNewerVersion(path: String) throws(StoreFailure) -> Bool {
        try AuditedFile(path: path).read(StoreSchema.isNewer)
    }

    /// A sentence for each webhook endpoint whose counter, which limits the backlog, differs from
    /// the number of its rows.
    private static func miscountedWebhooks(
        _ connection: Connection
    ) throws(StoreFailure) -> [String] {
        // A file that no gateway of this version has opened yet has no endpoints.
        guard try connection.columns(of: "webhook").contains("endpoint") else { return [] }
        let counters = connection.isOfEarlierVersion ? "book" : "property"
        return try connection.texts(
            """
            SELECT 'The counter "' || name || '" is ' || sum(counted) || ', and '
                || sum(kept) || ' are kept.'
            FROM (
                SELECT name, value AS counted, 0 AS kept FROM \(counters)
                    WHERE name GLOB 'webhooks *' AND name NOT GLOB 'webhooks dropped *'
                UNION ALL
                SELECT 'webhooks ' || endpoint, 0, count(*) FROM webhook GROUP BY endpoint)
            GROUP BY name HAVING sum(counted) <> sum(kept)
            """)
    }
}
