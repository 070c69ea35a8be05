// SPDX-License-Identifier: Apache-2.0

import Gateway
import WakeBudget
import WakeModel

extension SQLiteRows {
    // MARK: Writing

    func insert(_ wake: borrowing WakeRow) throws(StoreFailure) {
        let statement = try connection.prepare(
            """
            INSERT INTO wake VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
                ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """)
        let end = EndColumns(wake.end)
        statement.bind(1, wake.number)
        statement.bind(2, wake.id.low)
        statement.bind(3, wake.device)
        statement.bind(4, wake.lane)
        statement.bind(5, wake.previous)
        statement.bind(6, wake.acceptedAt)
        statement.bind(7, PackedDecision(wake.decision).bits)
        statement.bind(8, wake.traits)
        statement.bind(9, wake.call.map { Int64(bitPattern: $0.bits) })
        statement.bind(10, wake.state.number)
        statement.bind(11, wake.queue)
        statement.bind(12, wake.queueAt)
        statement.bind(13, wake.dueAt)
        statement.bind(14, wake.notBefore)
        statement.bind(15, wake.deadline)
        statement.bind(16, Int64(wake.holds.rawValue))
        statement.bind(17, wake.payload)
        statement.bind(18, wake.expirationColumn)
        statement.bind(19, wake.collapseID?.value)
        statement.bind(20, wake.fence)
        statement.bind(21, wake.tries)
        statement.bind(22, wake.claimedAt)
        bind(statement, 23, wake.charge)
        statement.bind(24, wake.previousReason?.rawValue)
        statement.bind(25, end.carrier?.number)
        statement.bind(26, end.carrier?.low)
        statement.bind(27, wake.endedAt)
        statement.bind(28, end.status)
        statement.bind(29, end.reason)
        statement.bind(30, end.since)
        statement.bind(31, end.detail)
        statement.bind(32, wake.launchedAt)
        try statement.run()
        if wake.state == .claimed { remember(wake) }
    }

    private func remember(_ wake: borrowing WakeRow) {
        var lease = copy wake
        lease.payload = []
        leases[wake.number] = lease
    }

    func update(_ wake: borrowing WakeRow, _ columns: WakeColumns) throws(StoreFailure) {
        if columns == .claim { remember(wake) } else { leases[wake.number] = nil }
        switch columns {
        case .schedule: try updateSchedule(wake)
        case .content: try updateContent(wake)
        case .claim: try updateClaim(wake)
        case .comeback: try updateComeback(wake)
        case .end: try updateEnd(wake)
        case .launch: try updateLaunch(wake)
        }
    }

    private func updateSchedule(_ wake: borrowing WakeRow) throws(StoreFailure) {
        let statement = try connection.prepare(
            """
            UPDATE wake SET state = ?2, queue = ?3, at = ?4, due_at = ?5, not_before = ?6,
                deadline = ?7, holds = ?8
            WHERE number = ?1
            """)
        bindSchedule(statement, wake)
        try statement.run()
    }

    private func updateContent(_ wake: borrowing WakeRow) throws(StoreFailure) {
        let statement = try connection.prepare(
            """
            UPDATE wake SET state = ?2, queue = ?3, at = ?4, due_at = ?5, not_before = ?6,
                deadline = ?7, holds = ?8, payload = ?9, expiration = ?10, collapse_id = ?11,
                traits = ?12
            WHERE number = ?1
            """)
        bindSchedule(statement, wake)
        statement.bind(9, wake.payload)
        statement.bind(10, wake.expirationColumn)
        statement.bind(11, wake.collapseID?.value)
        statement.bind(12, wake.traits)
        try statement.run()
    }

    private func updateComeback(_ wake: borrowing WakeRow) throws(StoreFailure) {
        let statement = try connection.prepare(
            """
            UPDATE wake SET state = ?2, queue = ?3, at = ?4, due_at = ?5, not_before = ?6,
                deadline = ?7, holds = ?8, fence = ?9, tries = ?10, charge = ?11,
                previous_reason = ?12
            WHERE number = ?1
            """)
        bindSchedule(statement, wake)
        statement.bind(9, wake.fence)
        statement.bind(10, wake.tries)
        bind(statement, 11, wake.charge)
        statement.bind(12, wake.previousReason?.rawValue)
        try statement.run()
    }

    private func bindSchedule(_ statement: Statement, _ wake: borrowing WakeRow) {
        statement.bind(1, wake.number)
        statement.bind(2, wake.state.number)
        statement.bind(3, wake.queue)
        statement.bind(4, wake.queueAt)
        statement.bind(5, wake.dueAt)
        statement.bind(6, wake.notBefore)
        statement.bind(7, wake.deadline)
        statement.bind(8, Int64(wake.holds.rawValue))
    }

    private func updateClaim(_ wake: borrowing WakeRow) throws(StoreFailure) {
        let statement = try connection.prepare(
            """
            UPDATE wake SET state = ?2, queue = ?3, at = ?4, fence = ?5, claimed_at = ?6,
                charge = ?7
            WHERE number = ?1
            """)
        statement.bind(1, wake.number)
        statement.bind(2, wake.state.number)
        statement.bind(3, wake.queue)
        statement.bind(4, wake.queueAt)
        statement.bind(5, wake.fence)
        statement.bind(6, wake.claimedAt)
        bind(statement, 7, wake.charge)
        try statement.run()
    }

    private func updateEnd(_ wake: borrowing WakeRow) throws(StoreFailure) {
        let statement = try connection.prepare(
            """
            UPDATE wake SET state = ?2, queue = NULL, at = NULL, fence = ?3, tries = ?4,
                charge = NULL, payload = x'', carrier = ?5, carrier_low = ?6, ended_at = ?7,
                status = ?8, reason = ?9, since = ?10, detail = ?11
            WHERE number = ?1
            """)
        let end = EndColumns(wake.end)
        statement.bind(1, wake.number)
        statement.bind(2, wake.state.number)
        statement.bind(3, wake.fence)
        statement.bind(4, wake.tries)
        statement.bind(5, end.carrier?.number)
        statement.bind(6, end.carrier?.low)
        statement.bind(7, wake.endedAt)
        statement.bind(8, end.status)
        statement.bind(9, end.reason)
        statement.bind(10, end.since)
        statement.bind(11, end.detail)
        try statement.run()
    }

    private func updateLaunch(_ wake: borrowing WakeRow) throws(StoreFailure) {
        let statement = try connection.prepare(
            "UPDATE wake SET launched_at = ?2 WHERE number = ?1")
        statement.bind(1, wake.number)
        statement.bind(2, wake.launchedAt)
        try statement.run()
    }

    private func bind(_ statement: Statement, _ place: CInt, _ charge: Charge?) {
        if let charge {
            statement.bind(place, charge.encoded())
        } else {
            statement.bind(place, Int64?.none)
        }
    }

    // MARK: Reading

    func wake(_ number: Int64, withPayload: Bool) throws(StoreFailure) -> WakeRow? {
        if !withPayload, let lease = leases[number] { return lease }
        let statement = try connection.prepare("SELECT * FROM wake WHERE number = ?")
        defer { statement.reset() }
        statement.bind(1, number)
        return try statement.step() ? try read(statement, withPayload: withPayload) : nil
    }

    func wakes(before number: Int64, limit: Int) throws(StoreFailure) -> [WakeRow] {
        let statement = try connection.prepare(
            "SELECT * FROM wake WHERE number < ? ORDER BY number DESC LIMIT ?")
        defer { statement.reset() }
        statement.bind(1, number)
        statement.bind(2, limit)
        var wakes: [WakeRow] = []
        while try statement.step() { wakes.append(try read(statement, withPayload: false)) }
        return wakes
    }

    private func read(
        _ row: Statement, withPayload: Bool
    ) throws(StoreFailure) -> WakeRow {
        let state = try WakeState(number: row.int64(9))
        let carrier = row.optional(24).map { WakeID(number: $0, low: row.int64(25)) }
        let traits = row.int64(7)
        guard let urgency = Urgency(rawValue: UInt8(traits & 3)) else {
            throw .damaged("urgency")
        }
        var wake = WakeRow(
            id: WakeID(number: row.int64(0), low: row.int64(1)), device: row.int64(2),
            lane: row.int64(3), previous: row.int64(4), acceptedAt: row.instant(5),
            decision: try PackedDecision(bits: row.int64(6)).decision(carrier: carrier),
            coalescing: traits & 4 == 0 ? .replace : .union,
            call: row.optional(8).map { CallFingerprint(bits: UInt64(bitPattern: $0)) },
            urgency: urgency, state: state, dueAt: row.instant(12),
            notBefore: row.instant(13), deadline: row.instant(14),
            holds: Holds(rawValue: UInt16(truncatingIfNeeded: row.int64(15))),
            payload: withPayload ? row.bytes(16) : [],
            expiration: row.optionalInstant(17).map { .at($0) } ?? .immediately,
            collapseID: try Self.collapseID(row.text(18)))
        wake.fence = row.int64(19)
        wake.tries = Int(row.int64(20))
        wake.claimedAt = row.instant(21)
        if state == .claimed { wake.leaseUntil = row.instant(11) }
        let charge = row.bytes(22)
        if !charge.isEmpty { wake.charge = try Self.charge(charge) }
        wake.previousReason = row.text(23).map { RejectionReason(rawValue: $0) }
        wake.endedAt = row.optionalInstant(26)
        if state.isEnd {
            wake.end = try EndColumns(
                status: row.optional(27), reason: row.text(28), since: row.optional(29),
                detail: row.text(30), carrier: carrier
            ).end(state)
        }
        wake.launchedAt = row.optionalInstant(31)
        return wake
    }

    private static func collapseID(_ text: String?) throws(StoreFailure) -> CollapseID? {
        guard let text else { return nil }
        do throws(InvalidField) {
            return try CollapseID(text)
        } catch {
            throw .damaged("collapse id")
        }
    }

    private static func charge(_ bytes: [UInt8]) throws(StoreFailure) -> Charge {
        do throws(LedgerDecodingError) {
            return try Charge(decoding: bytes)
        } catch {
            throw .damaged("charge")
        }
    }

    // MARK: Queues

    func due(lane: Int64, at now: WallInstant, limit: Int) throws(StoreFailure) -> [Int64] {
        let statement = try connection.prepare(
            """
            SELECT number FROM wake INDEXED BY wake_queue
            WHERE queue = ? AND at <= ? ORDER BY at, number LIMIT ?
            """)
        statement.bind(1, lane)
        statement.bind(2, now)
        statement.bind(3, limit)
        return try numbers(statement)
    }

    func nextDue(lane: Int64) throws(StoreFailure) -> WallInstant? {
        let statement = try connection.prepare(
            """
            SELECT at FROM wake INDEXED BY wake_queue WHERE queue = ? ORDER BY at LIMIT 1
            """)
        statement.bind(1, lane)
        return try numbers(statement).first.map { WallInstant(millisecondsSinceEpoch: $0) }
    }

    func overdue(at now: WallInstant, limit: Int) throws(StoreFailure) -> [Int64] {
        let statement = try connection.prepare(
            """
            SELECT number FROM wake INDEXED BY wake_deadline
            WHERE queue > 0 AND deadline <= ? ORDER BY deadline, number LIMIT ?
            """)
        statement.bind(1, now)
        statement.bind(2, limit)
        return try numbers(statement)
    }

    func lapsed(at now: WallInstant, limit: Int) throws(StoreFailure) -> [Int64] {
        let statement = try connection.prepare(
            """
            SELECT number FROM wake INDEXED BY wake_queue
            WHERE queue = 0 AND at <= ? ORDER BY at, number LIMIT ?
            """)
        statement.bind(1, now)
        statement.bind(2, limit)
        return try numbers(statement)
    }

    func removeWakes(below number: Int64, limit: Int) throws(StoreFailure) -> Int {
        // The rows are in the order of time, so the old ones are the first. One that has not
        // ended after so long stays, and the few of its kind do not stand in the way.
        let statement = try connection.prepare(
            """
            SELECT number FROM wake WHERE number < ? AND queue IS NULL ORDER BY number LIMIT ?
            """)
        statement.bind(1, number)
        statement.bind(2, limit)
        let old = try numbers(statement)
        for number in old {
            let attempts = try connection.prepare("DELETE FROM attempt WHERE wake = ?")
            attempts.bind(1, number)
            try attempts.run()
            let wake = try connection.prepare("DELETE FROM wake WHERE number = ?")
            wake.bind(1, number)
            try wake.run()
        }
        try vacuum()
        return old.count
    }
}

extension WakeRow {
    /// Where it waits; see ``StoreSchema``.
    fileprivate var queue: Int64? {
        switch state {
        case .pending: lane
        case .claimed: 0
        default: nil
        }
    }

    /// When it is due there, or its lease ends.
    fileprivate var queueAt: WallInstant? {
        switch state {
        case .pending: dueAt
        case .claimed: leaseUntil
        default: nil
        }
    }

    /// Urgency in two bits, coalescing in one.
    fileprivate var traits: Int64 {
        Int64(urgency.rawValue) | Int64(coalescing.rawValue) << 2
    }

    fileprivate var expirationColumn: Int64? {
        if case .at(let instant) = expiration { instant.millisecondsSinceEpoch } else { nil }
    }
}
