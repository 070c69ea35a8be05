// SPDX-License-Identifier: Apache-2.0

import Gateway
import Synchronization
import WakeModel

/// A gateway's view of the shared store beside its rows, updated with each heartbeat.
final class StoreSurvey: Sendable {
    private struct State {
        var verbs: [String: SharedStoreStatus.Verb] = [:]
        /// The conflicts that there had been at the last look, and when that was.
        var conflicts = 0
        var lookedAt = ContinuousClock.now
        var status: SharedStoreStatus?
        /// The transactions that were reported.
        var told: Set<String> = []
        /// When each lease that this gateway has taken ends.
        var leases: [Int64: WallInstant] = [:]
    }

    private let state = Mutex(State())

    /// The status at the last heartbeat; `nil` before the first.
    var status: SharedStoreStatus? { state.withLock { $0.status } }

    // MARK: Counting

    /// Counts a round trip of a command.
    func note(_ verb: String, since start: ContinuousClock.Instant, isConflict: Bool = false) {
        let elapsed = start.duration(to: .now).components
        let microseconds =
            elapsed.seconds * 1_000_000 + elapsed.attoseconds / 1_000_000_000_000
        state.withLock { state in
            state.verbs[verb, default: SharedStoreStatus.Verb()].tripCount += 1
            state.verbs[verb]?.microseconds += microseconds
            if isConflict { state.verbs[verb]?.conflictCount += 1 }
        }
    }

    /// Takes note of the leases that a write took and ended.
    func note(_ changes: Changes) {
        state.withLock { state in
            for wake in changes.newWakes where wake.state == .claimed {
                state.leases[wake.number] = wake.leaseUntil
            }
            for change in changes.wakes {
                state.leases[change.row.number] =
                    change.row.state == .claimed ? change.row.leaseUntil : nil
            }
        }
    }

    /// How many leases this gateway holds; those whose time is over are others' to take back.
    func leaseCount(at now: WallInstant) -> Int {
        state.withLock { state in
            state.leases = state.leases.filter { $0.value > now }
            return state.leases.count
        }
    }

    // MARK: Looking

    /// The statements of a survey, sent after the heartbeat.
    static func queries(gateway: String, longSeconds: Int) -> [Query] {
        [
            Query(members, .text(gateway)), Query(openTransactions, .int8(Int64(longSeconds))),
            Query(preparedTransactions, .int8(Int64(longSeconds))), Query(server),
        ]
    }

    private static let members = Statement(
        """
        SELECT gateway.name, gateway.name = $1,
            (extract(epoch FROM gateway.began_at) * 1000)::bigint,
            greatest(0, extract(epoch FROM clock_timestamp() - gateway.seen_at) * 1000)::bigint,
            (SELECT count(*) FROM rouse.writer
                WHERE writer.gateway = gateway.name AND NOT writer.ended),
            gateway.leases
        FROM rouse.gateway AS gateway
        WHERE gateway.seen_at > clock_timestamp() - interval '1 hour'
        ORDER BY gateway.name <> $1, gateway.began_at, gateway.name
        """, .text)
    /// A gateway's own last some milliseconds. Of other roles' sessions only who has the role
    /// pg_read_all_stats sees since when they are in a transaction. In another database one that
    /// has written counts: as long as it is open, no session of the server learns that later
    /// versions of rows can go, and their pages fill until the next vacuum.
    private static let openTransactions = Statement(
        """
        SELECT pid::bigint, coalesce(usename::text, ''), coalesce(application_name, ''),
            coalesce(state, ''), extract(epoch FROM clock_timestamp() - xact_start)::bigint,
            CASE WHEN datname <> current_database() THEN 'in database ' || datname ELSE '' END
        FROM pg_stat_activity
        WHERE (datname = current_database() OR backend_xid IS NOT NULL)
            AND pid <> pg_backend_pid() AND backend_type = 'client backend'
            AND xact_start < clock_timestamp() - $1 * interval '1 s'
        ORDER BY xact_start LIMIT 10
        """, .int8)
    /// Prepared transactions, which no session will end by itself.
    private static let preparedTransactions = Statement(
        """
        SELECT gid, owner::text, extract(epoch FROM clock_timestamp() - prepared)::bigint,
            CASE WHEN database <> current_database() THEN ' in database ' || database ELSE '' END
        FROM pg_prepared_xacts
        WHERE prepared < clock_timestamp() - $1 * interval '1 s'
        ORDER BY prepared LIMIT 10
        """, .int8)
    private static let server = Statement(
        """
        SELECT current_setting('server_version_num')::bigint,
            CASE WHEN NOT pg_is_in_recovery() THEN
                (SELECT max(pg_wal_lsn_diff(pg_current_wal_lsn(), flush_lsn))::bigint
                    FROM pg_stat_replication) END,
            (extract(epoch FROM clock_timestamp()) * 1000)::bigint
        """)

    /// The database's time in the results of ``queries(gateway:longSeconds:)``.
    static func databaseTime(in results: [QueryResult]) -> Int64? { results[3].int64(0, 2) }

    /// Takes over the results of ``queries(gateway:longSeconds:)``. Returns newly found long
    /// transactions.
    func take(
        _ results: [QueryResult], at now: WallInstant, clockOffset: Int64, takeoverSeconds: Double
    ) -> [SharedStoreStatus.OpenTransaction] {
        let members = (0..<results[0].rowCount).map { row in
            let silent = results[0].int64(row, 3) ?? 0
            return SharedStoreStatus.Member(
                name: results[0].string(row, 0) ?? "", isThis: results[0].bool(row, 1) ?? false,
                beganAt: WallInstant(millisecondsSinceEpoch: results[0].int64(row, 2) ?? 0),
                silentMilliseconds: silent, writerCount: Int(results[0].int64(row, 4) ?? 0),
                leaseCount: Int(results[0].int64(row, 5) ?? 0),
                isAlive: Double(silent) < takeoverSeconds * 1000)
        }
        var open = (0..<results[1].rowCount).map { row in
            let words = [1, 2, 3, 5].compactMap { results[1].string(row, $0) }
                .filter { !$0.isEmpty }
            let process = results[1].int64(row, 0) ?? 0
            return SharedStoreStatus.OpenTransaction(
                ending: "SELECT pg_terminate_backend(\(process));",
                owner: words.joined(separator: ", "), seconds: results[1].int64(row, 4) ?? 0)
        }
        open += (0..<results[2].rowCount).map { row in
            let name = results[2].string(row, 0) ?? ""
            return SharedStoreStatus.OpenTransaction(
                ending: "ROLLBACK PREPARED '\(name.replacing("'", with: "''"))';",
                owner: "\(results[2].string(row, 1) ?? ""), prepared"
                    + (results[2].string(row, 3) ?? ""),
                seconds: results[2].int64(row, 2) ?? 0)
        }
        open.sort { $0.seconds > $1.seconds }
        return state.withLock { state in
            let conflicts = state.verbs.values.reduce(0) { $0 + $1.conflictCount }
            let elapsed = state.lookedAt.duration(to: .now) / .seconds(1)
            state.status = SharedStoreStatus(
                at: now, serverVersion: results[3].int64(0, 0) ?? 0, members: members,
                openTransactions: open, standbyLagBytes: results[3].int64(0, 1),
                clockOffsetMilliseconds: clockOffset, verbs: state.verbs,
                conflictsPerSecond: elapsed > 0
                    ? Double(conflicts - state.conflicts) / elapsed : 0)
            state.conflicts = conflicts
            state.lookedAt = .now
            let new = open.filter { !state.told.contains($0.ending) }
            state.told = Set(open.map(\.ending))
            return new
        }
    }
}
