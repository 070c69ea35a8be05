// SPDX-License-Identifier: Apache-2.0

import Gateway
import StoreRows
import WakeModel

extension SQLiteRows {
    // MARK: Attempts

    /// Adds an attempt to a wake's history and drops the oldest beyond the limit.
    func insert(_ attempt: Changes.NewAttempt) throws(StoreFailure) {
        let columns = AttemptColumns(attempt.record.result)
        let statement = try connection.prepare(
            "INSERT OR REPLACE INTO attempt VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
        statement.bind(1, attempt.wake)
        statement.bind(2, attempt.fence)
        statement.bind(3, attempt.record.startedAt)
        statement.bind(4, attempt.record.endedAt)
        statement.bind(5, columns.result)
        statement.bind(6, columns.status)
        statement.bind(7, columns.reason)
        statement.bind(8, columns.since)
        statement.bind(9, columns.detail)
        try statement.run()
        guard attempt.fence > AttemptRecord.maximumKept else { return }
        let prune = try connection.prepare(
            """
            DELETE FROM attempt WHERE wake = ?1 AND fence <= (
                SELECT fence FROM attempt WHERE wake = ?1 ORDER BY fence DESC LIMIT 1 OFFSET ?2)
            """)
        prune.bind(1, attempt.wake)
        prune.bind(2, AttemptRecord.maximumKept)
        try prune.run()
    }

    /// The attempts of a wake, the oldest first. One that cannot be read has an unknown result.
    func attempts(of number: Int64) throws(StoreFailure) -> [AttemptRecord] {
        let statement = try connection.prepare(
            """
            SELECT started_at, ended_at, result, status, reason, since, detail FROM attempt
            WHERE wake = ? ORDER BY fence
            """)
        defer { statement.reset() }
        statement.bind(1, number)
        var attempts: [AttemptRecord] = []
        while try statement.step() {
            let columns = AttemptColumns(
                result: statement.text(2) ?? "", status: statement.optional(3),
                reason: statement.text(4), since: statement.optional(5),
                detail: statement.text(6))
            let result: AttemptResult
            do throws(StoreFailure) {
                result = try columns.attempt()
            } catch {
                let wake = DamagedRow(wake: number, problem: error.message)
                _ = damaged(.attempt, wake.key, error)
                result = .unanswered(AttemptColumns.damaged)
            }
            attempts.append(
                AttemptRecord(
                    startedAt: statement.instant(0), endedAt: statement.instant(1),
                    result: result))
        }
        return attempts
    }

    // MARK: Idempotency

    /// The entry of an idempotency key, expired or not, without the answer if that cannot be read.
    func known(_ key: [UInt8]) throws(StoreFailure) -> KnownKey? {
        let statement = try connection.prepare(
            "SELECT request, wake, answer, expires_at FROM idempotency WHERE key = ?")
        defer { statement.reset() }
        statement.bind(1, key)
        guard try statement.step() else { return nil }
        let wake = statement.int64(1)
        var answer: AdmittedWake?
        let stored = statement.bytes(2)
        if !stored.isEmpty {
            var reader = ByteReader(stored)
            do throws(StoreFailure) {
                answer = try reader.answer(wake: wake)
            } catch {
                // The wake's row has nearly the same information.
                _ = damaged(.idempotency, IdempotencyKey.name(ofKey: key), error)
            }
        }
        return KnownKey(
            request: statement.bytes(0), wake: wake, answer: answer,
            expiresAt: statement.instant(3))
    }

    /// Reserves a key, and stores the answer to its request.
    func insert(_ new: Changes.NewKey) throws(StoreFailure) {
        let statement =
            try new.replaces
            ? connection.prepare("INSERT OR REPLACE INTO idempotency VALUES (?, ?, ?, ?, ?)")
            : connection.prepare("INSERT INTO idempotency VALUES (?, ?, ?, ?, ?)")
        statement.bind(1, new.key.key)
        statement.bind(2, new.key.request)
        statement.bind(3, new.answer.id.number)
        statement.bind(4, new.key.expiresAt)
        writer.removeAll()
        writer.put(new.answer)
        try statement.run(with: writer.bytes, at: 5)
    }

    func forgetMarks(at now: WallInstant, limit: Int) throws(StoreFailure) -> Int {
        let statement = try connection.prepare(
            """
            DELETE FROM idempotency WHERE key IN (
                SELECT key FROM idempotency WHERE expires_at <= ?
                ORDER BY expires_at, key LIMIT ?)
            """)
        statement.bind(1, now)
        statement.bind(2, limit)
        try statement.run()
        return connection.changeCount
    }

    // MARK: Feedback

    /// Adds an entry to the feedback feed. Returns its number, of ``makeNumber(at:)``.
    func insert(_ entry: FeedbackRow) throws(StoreFailure) -> Int64 {
        let statement = try connection.prepare(
            """
            INSERT INTO feedback (kind, queue, token, at, status, reason, since, wake, wake_low,
                number)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """)
        statement.bind(1, entry.kind.rawValue)
        statement.bind(2, entry.queue)
        statement.bind(3, entry.deviceToken.bytes)
        statement.bind(4, entry.at)
        statement.bind(5, entry.refusal.status)
        statement.bind(6, entry.refusal.reason?.rawValue)
        statement.bind(7, entry.refusal.tokenDeadSince)
        statement.bind(8, entry.wake.number)
        statement.bind(9, entry.wake.low)
        let number = makeNumber(at: entry.at)
        statement.bind(10, number)
        try statement.run()
        return number
    }

    /// Entries of the feed after a cursor, without those that cannot be read: all, or those of a
    /// queue.
    func feedback(
        after cursor: Int64, limit: Int, queue: Int64?
    ) throws(StoreFailure) -> [FeedbackRow] {
        // Without a limit in the statement: those that cannot be read do not count.
        let statement: Statement
        if let queue {
            statement = try connection.prepare(
                "SELECT * FROM feedback WHERE queue = ?2 AND number > ?1 ORDER BY number")
            statement.bind(2, queue)
        } else {
            statement = try connection.prepare(
                "SELECT * FROM feedback WHERE number > ?1 ORDER BY number")
        }
        defer { statement.reset() }
        statement.bind(1, cursor)
        var entries: [FeedbackRow] = []
        while entries.count < limit, try statement.step() {
            do throws(StoreFailure) {
                entries.append(try entry(statement))
            } catch {
                _ = damaged(.feedback, "\(statement.int64(0))", error)
            }
        }
        return entries
    }

    func feedback(_ number: Int64) throws(StoreFailure) -> FeedbackRow? {
        try feedback(after: number &- 1, limit: 1, queue: nil).first { $0.number == number }
    }

    /// The entry in a row of all columns. Throws only ``Gateway/StoreFailure/Kind/damaged``.
    func entry(_ row: Statement) throws(StoreFailure) -> FeedbackRow {
        guard let kind = FeedbackKind(rawValue: row.text(1) ?? "") else {
            throw .damaged("feedback")
        }
        let refusal = EndColumns(
            status: row.optional(5), reason: row.text(6), since: row.optional(7), detail: nil,
            carrier: nil
        ).refusal
        var entry = FeedbackRow(
            kind: kind, queue: row.int64(2), deviceToken: try DeviceToken(stored: row.bytes(3)),
            at: row.instant(4), refusal: refusal,
            wake: WakeID(number: row.int64(8), low: row.int64(9)))
        entry.number = row.int64(0)
        return entry
    }

    func removeFeedback(
        before instant: WallInstant, orBelow number: Int64, limit: Int
    ) throws(StoreFailure) -> Int {
        let statement = try connection.prepare(
            """
            DELETE FROM feedback WHERE number IN (
                SELECT number FROM (SELECT number, at FROM feedback ORDER BY number LIMIT ?)
                WHERE at < ? OR number < ?)
            """)
        statement.bind(1, limit)
        statement.bind(2, instant)
        statement.bind(3, number)
        try statement.run()
        return connection.changeCount
    }
}
