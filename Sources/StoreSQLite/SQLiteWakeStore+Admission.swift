// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
public import Gateway
import PayloadRules
import WakeModel

extension SQLiteWakeStore {
    /// Keeps wakes in one transaction; see ``Gateway/WakeStore/admit(_:)``.
    public func admit(
        _ submissions: [Submission]
    ) async throws(StoreFailure) -> [Admission] {
        try await write { database in
            var apps: [AppIdentity: Int64] = [:]
            var admissions: [Admission] = []
            admissions.reserveCapacity(submissions.count)
            var admitted: Int64 = 0
            for submission in submissions {
                if let earlier = try Self.earlierAdmission(submission, in: database) {
                    admissions.append(earlier)
                    continue
                }
                let wake = submission.wake
                let app = try apps[wake.app] ?? Self.makeNumber(of: wake.app, in: database)
                apps[wake.app] = app
                try Self.insert(wake, app: app, in: database)
                if let mark = submission.idempotency {
                    try Self.remember(mark, for: wake.id, in: database)
                }
                admitted += 1
                admissions.append(
                    .admitted(
                        AdmittedWake(
                            id: wake.id, acceptedAt: wake.acceptedAt, deadline: wake.deadline)))
            }
            if admitted > 0 {
                try database.cachedStatement(
                    sql: "UPDATE book SET value = value + ? WHERE name = 'accepted'"
                ).execute(arguments: [admitted])
            }
            return admissions
        }
    }

    private static func insert(
        _ new: NewWake, app: Int64, in database: Database
    ) throws {
        let statement = try database.cachedStatement(
            sql: """
                INSERT INTO wake (id, app, kind, device_token, payload, expiration, collapse_id,
                    accepted_at, due_at, deadline)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """)
        let expiration: Int64? =
            switch new.wake.expiration {
            case .immediately: nil
            case .at(let instant): instant.millisecondsSinceEpoch
            }
        // Ten values for ten placeholders, as the statement above shows.
        statement.setUncheckedArguments([
            new.id.data, app, new.wake.kind.number, new.wake.deviceToken.data,
            Data(new.wake.payload), expiration, new.wake.collapseID?.value,
            new.acceptedAt.millisecondsSinceEpoch, new.dueAt.millisecondsSinceEpoch,
            new.deadline.millisecondsSinceEpoch,
        ])
        try statement.execute()
    }

    /// What an earlier request with the same key led to; `nil` when there was none in time.
    private static func earlierAdmission(
        _ submission: Submission, in database: Database
    ) throws -> Admission? {
        guard let mark = submission.idempotency else { return nil }
        let statement = try database.cachedStatement(
            sql: """
                SELECT request, wake.id, accepted_at, deadline
                FROM idempotency LEFT JOIN wake ON wake.id = idempotency.wake
                WHERE key = ? AND expires_at > ?
                """)
        let row = try Row.fetchOne(
            statement,
            arguments: [
                Data(mark.key), submission.wake.acceptedAt.millisecondsSinceEpoch,
            ])
        guard let row else { return nil }
        guard row["request"] == Data(mark.request), row["id"] != nil else { return .conflict }
        return .repeated(
            AdmittedWake(
                id: try row.wakeID(), acceptedAt: try row.requiredInstant("accepted_at"),
                deadline: try row.requiredInstant("deadline")))
    }

    private static func remember(
        _ mark: IdempotencyMark, for id: WakeID, in database: Database
    ) throws {
        // Replaces a key whose time is over and that was not forgotten yet.
        try database.cachedStatement(
            sql: """
                INSERT OR REPLACE INTO idempotency (key, request, wake, expires_at)
                VALUES (?, ?, ?, ?)
                """
        ).execute(
            arguments: [
                Data(mark.key), Data(mark.request), id.data,
                mark.expiresAt.millisecondsSinceEpoch,
            ])
    }

    /// The app's number; a new app gets one.
    private static func makeNumber(
        of app: AppIdentity, in database: Database
    ) throws -> Int64 {
        if let number = try number(of: app, in: database) { return number }
        try database.execute(
            sql: "INSERT INTO app (bundle_id, environment) VALUES (?, ?)",
            arguments: [app.bundleID.value, app.environment.rawValue])
        return database.lastInsertedRowID
    }

    /// The app's number, or `nil` for an app that never had a wake.
    static func number(of app: AppIdentity, in database: Database) throws -> Int64? {
        let statement = try database.cachedStatement(
            sql: "SELECT number FROM app WHERE bundle_id = ? AND environment = ?")
        return try Int64.fetchOne(
            statement, arguments: [app.bundleID.value, app.environment.rawValue])
    }
}
