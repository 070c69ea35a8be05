// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
public import Gateway
public import WakeModel

extension SQLiteWakeStore {
    /// Ends overdue wakes; see ``Gateway/WakeStore/expireOverdue(at:limit:)``.
    public func expireOverdue(
        at now: WallInstant, limit: Int
    ) async throws(StoreFailure) -> [WakeID] {
        try await write { database in
            let statement = try database.cachedStatement(
                sql: """
                    UPDATE wake SET state = ?1, ended_at = ?2
                    WHERE number IN (
                        SELECT number FROM wake INDEXED BY wake_deadline
                        WHERE state = 0 AND deadline <= ?2 ORDER BY deadline LIMIT ?3)
                    RETURNING id
                    """)
            let rows = try Row.fetchCursor(
                statement,
                arguments: [WakeState.expired.number, now.millisecondsSinceEpoch, limit])
            var ids: [WakeID] = []
            while let row = try rows.next() { ids.append(try row.wakeID()) }
            return ids
        }
    }

    /// Takes lapsed leases back; see ``Gateway/WakeStore/reclaimLapsed(at:limit:)``.
    public func reclaimLapsed(
        at now: WallInstant, limit: Int
    ) async throws(StoreFailure) -> Reclaimed {
        try await write { database in
            let lapsed = try Row.fetchAll(
                database.cachedStatement(
                    sql: """
                        SELECT id, kind FROM wake INDEXED BY wake_lease
                        WHERE state = 1 AND lease_until <= ? ORDER BY lease_until LIMIT ?
                        """),
                arguments: [now.millisecondsSinceEpoch, limit])
            var returned: [WakeID] = []
            var failed: [WakeID] = []
            for row in lapsed {
                let id = try row.wakeID()
                try Self.note(.abandoned, of: id, endedAt: now, in: database)
                if row["kind"] == WakeKind.voip.number {
                    try Self.fail(id, at: now, in: database)
                    failed.append(id)
                } else {
                    try Self.takeBack(id, at: now, in: database)
                    returned.append(id)
                }
            }
            return Reclaimed(returned: returned, failed: failed)
        }
    }

    private static func fail(_ id: WakeID, at now: WallInstant, in database: Database) throws {
        try database.cachedStatement(
            sql: """
                UPDATE wake SET state = ?, fence = fence + 1, ended_at = ?, detail = ?
                WHERE id = ?
                """
        ).execute(
            arguments: [
                WakeState.failed.number, now.millisecondsSinceEpoch,
                FailureCause.fateUnknown.rawValue, id.data,
            ])
    }

    private static func takeBack(
        _ id: WakeID, at now: WallInstant, in database: Database
    ) throws {
        try database.cachedStatement(
            sql: """
                UPDATE wake SET state = 0, fence = fence + 1, tries = tries + 1, due_at = ?
                WHERE id = ?
                """
        ).execute(arguments: [now.millisecondsSinceEpoch, id.data])
    }

    /// Forgets old keys; see ``Gateway/WakeStore/forgetIdempotencyKeys(at:limit:)``.
    public func forgetIdempotencyKeys(
        at now: WallInstant, limit: Int
    ) async throws(StoreFailure) -> Int {
        try await write { database in
            try database.cachedStatement(
                sql: """
                    DELETE FROM idempotency WHERE key IN (
                        SELECT key FROM idempotency WHERE expires_at <= ?
                        ORDER BY expires_at LIMIT ?)
                    """
            ).execute(arguments: [now.millisecondsSinceEpoch, limit])
            return database.changesCount
        }
    }
}
