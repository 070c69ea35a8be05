// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
public import Gateway
import WakeModel

extension SQLiteWakeStore {
    /// One wake and its history; see ``Gateway/WakeStore/record(of:)``.
    public func record(of id: WakeID) async throws(StoreFailure) -> WakeRecord? {
        try await read { database in
            let statement = try database.cachedStatement(
                sql: """
                    SELECT wake.*, bundle_id, environment
                    FROM wake JOIN app ON app.number = wake.app WHERE id = ?
                    """)
            guard let row = try Row.fetchOne(statement, arguments: [id.data]) else { return nil }
            let attempts = try Row.fetchAll(
                database.cachedStatement(
                    sql: "SELECT * FROM attempt WHERE wake = ? ORDER BY fence"),
                arguments: [row["number"] as Int64])
            return try Self.record(row, attempts: attempts.map(Self.attempt))
        }
    }

    /// How many have not ended; see ``Gateway/WakeStore/countUnended()``.
    public func countUnended() async throws(StoreFailure) -> Int {
        try await read { database in
            try [
                "SELECT count(*) FROM wake WHERE state = 0",
                "SELECT count(*) FROM wake WHERE state = 1",
            ].reduce(0) { try $0 + (Int.fetchOne(database, sql: $1) ?? 0) }
        }
    }

    /// The books; see ``Gateway/WakeStore/recount()``.
    public func recount() async throws(StoreFailure) -> StoreCount {
        try await read { database in
            var byState: [WakeState: Int] = [:]
            let rows = try Row.fetchCursor(
                database, sql: "SELECT state, count(*) AS wakes FROM wake GROUP BY state")
            while let row = try rows.next() {
                byState[try Self.state(row)] = row["wakes"]
            }
            let accepted = try Int.fetchOne(
                database, sql: "SELECT value FROM book WHERE name = 'accepted'")
            return StoreCount(accepted: accepted ?? 0, byState: byState)
        }
    }

    // MARK: Rows

    private static func record(_ row: Row, attempts: [AttemptRecord]) throws -> WakeRecord {
        guard let kind = WakeKind(number: row["kind"]) else { throw DamagedRow(column: "kind") }
        guard let environment = APNsEnvironment(rawValue: row["environment"]) else {
            throw DamagedRow(column: "environment")
        }
        let state = try state(row)
        var attempts = attempts
        if case .sent = state {
            attempts.append(
                AttemptRecord(
                    startedAt: try row.requiredInstant("claimed_at"),
                    endedAt: try row.requiredInstant("ended_at"),
                    result: .accepted(apnsUniqueID: row["detail"])))
        }
        return WakeRecord(
            id: try row.wakeID(),
            app: AppIdentity(
                bundleID: try BundleID(row["bundle_id"] as String), environment: environment),
            kind: kind, deviceToken: try row.deviceToken(), state: state,
            acceptedAt: try row.requiredInstant("accepted_at"),
            dueAt: try row.requiredInstant("due_at"),
            deadline: try row.requiredInstant("deadline"), tries: row["tries"],
            end: try end(row, state), endedAt: row.instant("ended_at"),
            attempts: attempts.suffix(AttemptRecord.maximumKept))
    }

    private static func state(_ row: Row) throws -> WakeState {
        guard let state = WakeState(number: row["state"]) else {
            throw DamagedRow(column: "state")
        }
        return state
    }

    private static func end(_ row: Row, _ state: WakeState) throws -> WakeEnd? {
        switch state {
        case .pending, .claimed: return nil
        case .sent: return .sent(apnsUniqueID: row["detail"])
        case .expired: return .expired
        case .rejected: return .rejected(row.refusal())
        case .undeliverable: return .undeliverable(row.refusal())
        case .failed:
            guard let cause = FailureCause(rawValue: row["detail"] ?? "") else {
                throw DamagedRow(column: "detail")
            }
            return .failed(cause)
        }
    }

    private static func attempt(_ row: Row) throws -> AttemptRecord {
        let result: AttemptResult
        switch row["result"] as String {
        case "accepted": result = .accepted(apnsUniqueID: row["detail"])
        case "refused": result = .refused(row.refusal())
        case "abandoned": result = .abandoned
        case let other:
            guard let certainty = Certainty(rawValue: other) else {
                throw DamagedRow(column: "result")
            }
            result = .unanswered(
                SendFailure(certainty: certainty, description: row["detail"] ?? ""))
        }
        return AttemptRecord(
            startedAt: try row.requiredInstant("started_at"),
            endedAt: try row.requiredInstant("ended_at"), result: result)
    }
}
