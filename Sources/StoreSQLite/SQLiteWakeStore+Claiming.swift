// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
public import Gateway
public import WakeModel

extension SQLiteWakeStore {
    /// Takes leases in one transaction; see ``Gateway/WakeStore/claim(_:)``.
    public func claim(_ order: ClaimOrder) async throws(StoreFailure) -> [Claim] {
        try await write { database in
            var claims: [Claim] = []
            for share in order.shares {
                let room = min(share.limit, order.limit - claims.count)
                guard room > 0 else { continue }
                guard let app = try Self.number(of: share.lane.app, in: database) else { continue }
                claims += try Self.claim(room, of: share.lane, app, order, in: database)
            }
            return claims
        }
    }

    private static func claim(
        _ limit: Int, of lane: Lane, _ app: Int64, _ order: ClaimOrder, in database: Database
    ) throws -> [Claim] {
        let statement = try database.cachedStatement(
            sql: """
                UPDATE wake SET state = 1, fence = fence + 1, claimed_at = ?1, lease_until = ?2
                WHERE number IN (
                    SELECT number FROM wake INDEXED BY wake_due
                    WHERE state = 0 AND app = ?3 AND kind = ?4 AND due_at <= ?1 AND deadline > ?1
                    ORDER BY due_at, number LIMIT ?5)
                RETURNING number, id, fence, device_token, payload, expiration, collapse_id,
                    due_at, deadline, tries, previous_reason
                """)
        let now = order.now.millisecondsSinceEpoch
        let rows = try Row.fetchCursor(
            statement,
            arguments: [
                now, order.leaseUntil.millisecondsSinceEpoch, app, lane.kind.number, limit,
            ])
        var claims: [(due: Int64, number: Int64, claim: Claim)] = []
        while let row = try rows.next() {
            claims.append((row["due_at"], row["number"], try claim(row, of: lane, order)))
        }
        // RETURNING gives rows in the order of their numbers, not of their due times.
        claims.sort { ($0.due, $0.number) < ($1.due, $1.number) }
        return claims.map(\.claim)
    }

    private static func claim(
        _ row: Row, of lane: Lane, _ order: ClaimOrder
    ) throws -> Claim {
        Claim(
            ticket: Claim.Ticket(id: try row.wakeID(), fence: row["fence"]), app: lane.app,
            kind: lane.kind, deviceToken: try row.deviceToken(),
            payload: Array(row["payload"] as Data),
            expiration: row.instant("expiration").map { .at($0) } ?? .immediately,
            collapseID: try (row["collapse_id"] as String?).map { try CollapseID($0) },
            deadline: try row.requiredInstant("deadline"), tries: row["tries"],
            previousReason: (row["previous_reason"] as String?).map {
                RejectionReason(rawValue: $0)
            }, claimedAt: order.now, leaseUntil: order.leaseUntil)
    }

    /// The next due time: one look into the index for each lane; see
    /// ``Gateway/WakeStore/nextDue(in:)``.
    public func nextDue(in lanes: [Lane]) async throws(StoreFailure) -> WallInstant? {
        try await read { database in
            let statement = try database.cachedStatement(
                sql: """
                    SELECT min(due_at) FROM wake INDEXED BY wake_due
                    WHERE state = 0 AND app = ? AND kind = ?
                    """)
            let dues = try lanes.compactMap { lane -> Int64? in
                guard let app = try Self.number(of: lane.app, in: database) else { return nil }
                return try Int64.fetchOne(statement, arguments: [app, lane.kind.number])
            }
            return dues.min().map { WallInstant(millisecondsSinceEpoch: $0) }
        }
    }
}
