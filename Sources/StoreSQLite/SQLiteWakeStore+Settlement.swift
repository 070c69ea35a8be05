// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
public import Gateway
import WakeModel

extension SQLiteWakeStore {
    /// Records outcomes in one transaction; see ``Gateway/WakeStore/settle(_:)``.
    public func settle(
        _ settlements: [Settlement]
    ) async throws(StoreFailure) -> [SettlementVerdict] {
        try await write { database in
            try settlements.map { try Self.settle($0, in: database) }
        }
    }

    private static func settle(
        _ settlement: Settlement, in database: Database
    ) throws -> SettlementVerdict {
        switch settlement.effect {
        case .end(let end):
            try finish(settlement, end, in: database)
        case .retry(let instant, let charged):
            try putBack(settlement, dueAt: instant, charge: charged ? 1 : 0, in: database)
        case .release:
            try putBack(settlement, dueAt: nil, charge: 0, in: database)
        }
        guard database.changesCount == 1 else {
            return try verdictOnRefusal(of: settlement.ticket, in: database)
        }
        if let attempt = settlement.attempt, !isKeptInWakeRow(settlement.effect) {
            try note(
                attempt, of: settlement.ticket.id, endedAt: settlement.at, in: database)
        }
        return .applied
    }

    /// A sent wake's own row says all that there is to say of its last attempt.
    private static func isKeptInWakeRow(_ effect: Settlement.Effect) -> Bool {
        if case .end(.sent) = effect { true } else { false }
    }

    private static func finish(
        _ settlement: Settlement, _ end: WakeEnd, in database: Database
    ) throws {
        let columns = EndColumns(end)
        let statement = try database.cachedStatement(
            sql: """
                UPDATE wake SET state = ?, ended_at = ?, status = ?, reason = ?,
                    token_dead_since = ?, detail = ?
                WHERE id = ? AND state = 1 AND fence = ?
                """)
        // Eight values for eight placeholders, as the statement above shows.
        statement.setUncheckedArguments([
            end.state.number, settlement.at.millisecondsSinceEpoch, columns.status,
            columns.reason, columns.tokenDeadSince, columns.detail, settlement.ticket.id.data,
            settlement.ticket.fence,
        ])
        try statement.execute()
    }

    private static func putBack(
        _ settlement: Settlement, dueAt: WallInstant?, charge: Int, in database: Database
    ) throws {
        var reason: String?
        if case .refused(let refusal) = settlement.attempt { reason = refusal.reason?.rawValue }
        try database.cachedStatement(
            sql: """
                UPDATE wake SET state = 0, due_at = coalesce(?, due_at), tries = tries + ?,
                    previous_reason = coalesce(?, previous_reason)
                WHERE id = ? AND state = 1 AND fence = ?
                """
        ).execute(
            arguments: [
                dueAt?.millisecondsSinceEpoch, charge, reason, settlement.ticket.id.data,
                settlement.ticket.fence,
            ])
    }

    /// Why no row changed: the same lease was settled before, or it is not valid any more.
    private static func verdictOnRefusal(
        of ticket: Claim.Ticket, in database: Database
    ) throws -> SettlementVerdict {
        let statement = try database.cachedStatement(sql: "SELECT fence FROM wake WHERE id = ?")
        let fence = try Int64.fetchOne(statement, arguments: [ticket.id.data])
        return fence == ticket.fence ? .repeated : .stale
    }

    // MARK: History

    /// Adds an attempt to the wake's history, and drops the oldest beyond the limit.
    static func note(
        _ result: AttemptResult, of id: WakeID, endedAt: WallInstant, in database: Database
    ) throws {
        let columns = AttemptColumns(result)
        try database.cachedStatement(
            sql: """
                INSERT INTO attempt (wake, fence, started_at, ended_at, result, status, reason,
                    token_dead_since, detail)
                SELECT number, fence, claimed_at, ?, ?, ?, ?, ?, ? FROM wake WHERE id = ?
                """
        ).execute(
            arguments: [
                endedAt.millisecondsSinceEpoch, columns.result, columns.status, columns.reason,
                columns.tokenDeadSince, columns.detail, id.data,
            ])
        try database.cachedStatement(
            sql: """
                DELETE FROM attempt
                WHERE wake = (SELECT number FROM wake WHERE id = ?1) AND fence <= (
                    SELECT fence FROM attempt
                    WHERE wake = (SELECT number FROM wake WHERE id = ?1)
                    ORDER BY fence DESC LIMIT 1 OFFSET ?2)
                """
        ).execute(arguments: [id.data, AttemptRecord.maximumKept])
    }
}

/// An end, as it stands in the wake's row beside its state.
private struct EndColumns {
    var status: Int?
    var reason: String?
    var tokenDeadSince: Int64?
    var detail: String?

    init(_ end: WakeEnd) {
        switch end {
        case .sent(let apnsUniqueID): detail = apnsUniqueID
        case .expired: break
        case .failed(let cause): detail = cause.rawValue
        case .rejected(let refusal), .undeliverable(let refusal):
            status = refusal.status
            reason = refusal.reason?.rawValue
            tokenDeadSince = refusal.tokenDeadSince?.millisecondsSinceEpoch
        }
    }
}

/// An attempt's result, as it stands in its row.
private struct AttemptColumns {
    let result: String
    var status: Int?
    var reason: String?
    var tokenDeadSince: Int64?
    var detail: String?

    init(_ attempt: AttemptResult) {
        switch attempt {
        case .accepted(let apnsUniqueID):
            result = "accepted"
            detail = apnsUniqueID
        case .refused(let refusal):
            result = "refused"
            status = refusal.status
            reason = refusal.reason?.rawValue
            tokenDeadSince = refusal.tokenDeadSince?.millisecondsSinceEpoch
        case .unanswered(let failure):
            result = failure.certainty.rawValue
            detail = failure.description
        case .abandoned:
            result = "abandoned"
        }
    }
}
