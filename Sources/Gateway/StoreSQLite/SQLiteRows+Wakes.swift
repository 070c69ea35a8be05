// SPDX-License-Identifier: Apache-2.0

import Gateway
import StoreRows
import WakeBudget
import WakeModel

extension SQLiteRows {
    // MARK: Writing

    func insert(_ wake: borrowing WakeRow) throws(StoreFailure) {
        let statement = try connection.prepare("INSERT INTO wake VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
        statement.bind(1, wake.number)
        statement.bind(2, wake.state.number)
        // A claimed one is in no queue.
        if wake.state == .pending {
            statement.bind(3, wake.queue)
            statement.bind(4, wake.dueAt)
            statement.bind(5, wake.deadline)
        } else {
            for place in 3...5 as ClosedRange<CInt> { statement.bindNull(place) }
        }
        statement.bind(8, wake.device)

        if wake.payload.isEmpty {
            statement.bindNull(7)
        } else {
            statement.bind(7, wake.storedPayload)
        }
        try run(statement, encoding: wake, at: 6)
        if wake.state == .claimed { holdFresh(wake) }
    }

    func update(_ wake: borrowing WakeRow, _ columns: WakeColumns) throws(StoreFailure) {
        let wasFresh = leases[wake.number]?.isFresh ?? false
        if columns.contains(.end) {
            try wasFresh ? updateEndOfFresh(wake) : updateEnd(wake)
        } else if columns.contains(.content) {
            try updateContent(wake)
        } else if columns == .launch {
            try updateRest(wake)
        } else {
            try updatePlace(wake)
        }
        if wake.state == .claimed {
            hold(wake, isFresh: wasFresh && !columns.contains(.claim))
        } else {
            leases[wake.number] = nil
        }
    }

    private func updatePlace(_ wake: borrowing WakeRow) throws(StoreFailure) {
        let statement = try connection.prepare(
            """
            UPDATE wake SET state = ?2, queue = ?3, at = ?4, deadline = ?5, rest = ?6
            WHERE number = ?1
            """)
        bindPlace(statement, wake)
        try run(statement, encoding: wake, at: 6)
    }

    private func updateContent(_ wake: borrowing WakeRow) throws(StoreFailure) {
        let statement = try connection.prepare(
            """
            UPDATE wake SET state = ?2, queue = ?3, at = ?4, deadline = ?5, rest = ?6, payload = ?7
            WHERE number = ?1
            """)
        bindPlace(statement, wake)
        statement.bind(7, wake.storedPayload)
        try run(statement, encoding: wake, at: 6)
    }

    private func bindPlace(_ statement: Statement, _ wake: borrowing WakeRow) {
        statement.bind(1, wake.number)
        statement.bind(2, wake.state.number)
        statement.bind(3, wake.dueQueue)
        statement.bind(4, wake.dueQueueAt)
        statement.bind(5, wake.state == .pending ? wake.deadline : nil)
    }

    private func updateEnd(_ wake: borrowing WakeRow) throws(StoreFailure) {
        let statement = try connection.prepare(
            """
            UPDATE wake SET state = ?2, queue = NULL, at = NULL, deadline = NULL, rest = ?3,
                payload = NULL
            WHERE number = ?1
            """)
        statement.bind(1, wake.number)
        statement.bind(2, wake.state.number)
        try run(statement, encoding: wake, at: 3)
    }

    /// The end of most wakes: they are in no queue, so that no index changes.
    private func updateEndOfFresh(_ wake: borrowing WakeRow) throws(StoreFailure) {
        let statement = try connection.prepare(
            "UPDATE wake SET state = ?2, rest = ?3, payload = NULL WHERE number = ?1")
        statement.bind(1, wake.number)
        statement.bind(2, wake.state.number)
        try run(statement, encoding: wake, at: 3)
    }

    private func updateRest(_ wake: borrowing WakeRow) throws(StoreFailure) {
        let statement = try connection.prepare("UPDATE wake SET rest = ?2 WHERE number = ?1")
        statement.bind(1, wake.number)
        try run(statement, encoding: wake, at: 2)
    }

    /// Runs a statement one of whose values is the rest of the wake.
    private func run(
        _ statement: Statement, encoding wake: borrowing WakeRow, at place: CInt
    ) throws(StoreFailure) {
        writer.removeAll()
        writer.put(wake)
        try statement.run(with: writer.bytes, at: place)
    }

    // MARK: Reading

    func wake(_ number: Int64, withPayload: Bool) throws(StoreFailure) -> WakeRow? {
        if !withPayload, let lease = leases[number] { return lease.wake }
        // Without a payload its pages are not read either.
        let statement =
            try withPayload
            ? connection.prepare(
                "SELECT state, at, rest, device, payload FROM wake WHERE number = ?")
            : connection.prepare("SELECT state, at, rest, device FROM wake WHERE number = ?")
        defer { statement.reset() }
        statement.bind(1, number)
        guard try statement.step() else { return nil }
        var wake = try read(statement, number: number, from: 0)
        if withPayload {
            do throws(StoreFailure) {
                try wake.takePayload(stored: statement.bytes(4))
            } catch {
                throw damaged(DamagedRow(wake: number, problem: error.message))
            }
        }
        return wake
    }

    /// Whether there is a wake with this number, readable or not.
    func holdsWake(_ number: Int64) throws(StoreFailure) -> Bool {
        let statement = try connection.prepare("SELECT 1 FROM wake WHERE number = ?")
        statement.bind(1, number)
        return try !numbers(statement).isEmpty
    }

    /// The same without its payload.
    func wake(_ number: Int64) throws(StoreFailure) -> WakeRow? {
        try wake(number, withPayload: false)
    }

    /// Whether a wake that cannot be read has ended.
    func hasEnded(_ number: Int64) throws(StoreFailure) -> Bool {
        let statement = try connection.prepare(
            "SELECT state BETWEEN 2 AND 11 FROM wake WHERE number = ?")
        statement.bind(1, number)
        return try numbers(statement) == [1]
    }

    /// Ends a wake that cannot be read.
    func quarantine(_ number: Int64) throws(StoreFailure) {
        // The damaged bytes are kept for diagnosis.
        let statement = try connection.prepare(
            """
            UPDATE wake SET state = 11, queue = NULL, at = NULL, deadline = NULL, payload = NULL
            WHERE number = ? AND state NOT BETWEEN 2 AND 11
            """)
        statement.bind(1, number)
        try statement.run()
        leases[number] = nil
    }

    /// Calls `visit` for each wake before a number, the newest first, with `nil` for one that
    /// cannot be read. Returns their numbers.
    func wakes(
        before number: Int64, limit: Int, _ visit: (Int64, WakeRow?) -> Void
    ) throws(StoreFailure) -> [Int64] {
        let statement =
            try connection.isOfEarlierVersion
            ? connection.prepare(
                """
                SELECT number, state, at, rest, NULL FROM wake
                WHERE number < ? ORDER BY number DESC LIMIT ?
                """)
            : connection.prepare(
                """
                SELECT number, state, at, rest, device FROM wake
                WHERE number < ? ORDER BY number DESC LIMIT ?
                """)
        defer { statement.reset() }
        statement.bind(1, number)
        statement.bind(2, limit)
        var numbers: [Int64] = []
        while try statement.step() {
            let number = statement.int64(0)
            numbers.append(number)
            // A damaged one was reported; its references are unknown.
            visit(number, try? read(statement, number: number, from: 1))
        }
        return numbers
    }

    /// The wake whose state, place in time, rest and device are in four columns from this one.
    /// Throws as ``Gateway/StoreFailure/Kind/damaged`` and in no other way.
    func read(
        _ row: Statement, number: Int64, from column: CInt
    ) throws(StoreFailure) -> WakeRow {
        let state: WakeState
        var wake: WakeRow
        do throws(StoreFailure) {
            state = try WakeState(number: row.int64(column))
            var reader = ByteReader(row.bytes(column + 2))
            wake = try reader.wake(
                number: number, state: state, device: row.optional(column + 3))
        } catch {
            throw damaged(DamagedRow(wake: number, problem: error.message))
        }
        // For a wake in a queue the column `at` decides when it is due, or its lease ends: opening
        // the store moves leases, and after a wrong clock both are moved.
        if let at = row.optionalInstant(column + 1) {
            switch state {
            case .pending: wake.dueAt = at
            case .claimed: wake.leaseUntil = at
            default: break
            }
        }
        return wake
    }

    // MARK: Queues

    func due(queue: Int64, at now: WallInstant, limit: Int) throws(StoreFailure) -> [Int64] {
        let statement = try connection.prepare(
            """
            SELECT number FROM wake INDEXED BY wake_queue
            WHERE queue = ? AND at <= ? ORDER BY at, number LIMIT ?
            """)
        statement.bind(1, queue)
        statement.bind(2, now)
        statement.bind(3, limit)
        return try numbers(statement)
    }

    func nextDue(queue: Int64) throws(StoreFailure) -> WallInstant? {
        let statement = try connection.prepare(
            """
            SELECT at FROM wake INDEXED BY wake_queue WHERE queue = ? ORDER BY at LIMIT 1
            """)
        statement.bind(1, queue)
        return try numbers(statement).first.map { WallInstant(millisecondsSinceEpoch: $0) }
    }

    /// How many wakes of a queue are pending, by the index alone.
    func waiting(queue: Int64) throws(StoreFailure) -> Int {
        let statement = try connection.prepare(
            """
            SELECT count(*) FROM
                (SELECT 1 FROM wake INDEXED BY wake_queue WHERE queue = ? LIMIT ?)
            """)
        statement.bind(1, queue)
        statement.bind(2, ReadSet.waitingCount)
        return Int(try numbers(statement).first ?? 0)
    }

    func overdue(at now: WallInstant, limit: Int) throws(StoreFailure) -> [Int64] {
        let statement = try connection.prepare(
            """
            SELECT number FROM wake INDEXED BY wake_deadline
            WHERE deadline <= ? ORDER BY deadline, number LIMIT ?
            """)
        statement.bind(1, now)
        statement.bind(2, limit)
        return try numbers(statement)
    }

    func removeWakes(below number: Int64, limit: Int) throws(StoreFailure) -> Int {
        // Rows are in order of time, so the oldest come first. Those that have not ended stay; they
        // are too few to delay the others.
        let statement = try connection.prepare(
            """
            SELECT number FROM wake WHERE number < ? AND state > 1 ORDER BY number LIMIT ?
            """)
        statement.bind(1, number)
        statement.bind(2, limit)
        let old = try numbers(statement)
        // Few wakes have an attempt outside of their row.
        let haveAttempts = try haveAttempts(among: old)
        for number in old {
            if haveAttempts { try removeAttempts(of: number) }
            let wake = try connection.prepare("DELETE FROM wake WHERE number = ?")
            wake.bind(1, number)
            try wake.run()
        }
        try vacuum()
        return old.count
    }

    /// Whether there are attempts of any of these, which are in their order.
    private func haveAttempts(among numbers: [Int64]) throws(StoreFailure) -> Bool {
        guard let first = numbers.first, let last = numbers.last else { return false }
        let statement = try connection.prepare(
            "SELECT EXISTS (SELECT 1 FROM attempt WHERE wake BETWEEN ? AND ?)")
        statement.bind(1, first)
        statement.bind(2, last)
        return try self.numbers(statement) == [1]
    }

    private func removeAttempts(of number: Int64) throws(StoreFailure) {
        let statement = try connection.prepare("DELETE FROM attempt WHERE wake = ?")
        statement.bind(1, number)
        try statement.run()
    }
}

extension WakeRow {
    /// Its queue; see ``StoreSchema``.
    fileprivate var dueQueue: Int64? {
        switch state {
        case .pending: queue
        case .claimed: 0
        default: nil
        }
    }

    /// Its due time there, or the end of its lease.
    fileprivate var dueQueueAt: WallInstant? {
        switch state {
        case .pending: dueAt
        case .claimed: leaseUntil
        default: nil
        }
    }
}
