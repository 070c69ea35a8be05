// SPDX-License-Identifier: Apache-2.0

import Gateway
import StoreRows
import WakeModel

/// The queries of one load, and the use of their results: one per kind of row needed, however many
/// rows those are.
struct LoadPlan {
    /// Takes one result over into the rows.
    typealias Reader = (StoredColumns, inout LoadedRows) -> Void

    private(set) var queries: [Query] = []
    private var readers: [Reader] = []

    /// Adds a query.
    mutating func add(_ query: Query, _ read: @escaping Reader) {
        queries.append(query)
        readers.append(read)
    }

    /// Reads the results, behind that of the queues, which comes first.
    func read(
        _ results: ArraySlice<QueryResult>, _ queues: QueueTable, into rows: inout LoadedRows,
        noting note: @escaping (DamagedRow) -> Void
    ) {
        for (result, read) in zip(results, readers) {
            read(StoredColumns(result: result, queues: queues, note: note), &rows)
        }
    }

    // MARK: What is needed

    /// Adds all but the devices that are named by their tokens.
    mutating func add(_ reads: ReadSet, fresh: FreshLeases) {
        addUsers(reads.users)
        addWakes(reads.wakes)
        addChains(reads.chains)
        for scan in reads.due { add(scan) }
        for scan in reads.scans { add(scan, fresh: fresh) }
        addKeys(reads.keys)
        addAttempts(reads.attempts)
        addFeedback(reads.feedback)
        addWebhooks(reads.webhooks)
        addCounters(reads.counters)
        addNextDue(reads.nextDue)
        addWaiting(reads.waiting)
        if reads.countsStates { addStates() }
    }

    /// Adds devices, each with the wake that waits for it, and that with its payload if it is said
    /// so. `found` is given each that is there.
    mutating func addDevices(
        _ numbers: [Int64: Bool], found: @escaping (StoredColumns.FoundDevice) -> Void
    ) {
        guard !numbers.isEmpty else { return }
        let sorted = numbers.sorted { $0.key < $1.key }
        add(Query(Self.devices, .int8s(sorted.map(\.key)), .bools(sorted.map(\.value)))) {
            columns, rows in
            for number in numbers.keys where rows.devices[number] == nil {
                rows.devices[number] = .absent
            }
            for row in 0..<columns.result.rowCount {
                guard let device = columns.device(row, from: 0) else { continue }
                rows.devices[device.number] = device.fact
                let hasPayload = numbers[device.number] ?? false
                rows.take(
                    columns.wake(row, from: StoredColumns.deviceCount, hasPayload: hasPayload))
                found(device)
            }
        }
    }

    private static let devices = Statement(
        """
        SELECT \(StoredColumns.device("device")), \(StoredColumns.wake("wake")),
            CASE WHEN asked.payload THEN wake.payload END
        FROM unnest($1, $2) AS asked (number, payload)
        JOIN rouse.device ON device.number = asked.number
        LEFT JOIN rouse.wake ON wake.number = nullif(device.pending, 0)
        """, .int8Array, .boolArray)

    /// Adds the devices of users, each with the wake that waits for it.
    private mutating func addUsers(_ users: Set<ReadSet.UserName>) {
        guard !users.isEmpty else { return }
        let sorted = Array(users)
        let query = Query(
            Self.users, .texts(sorted.map(\.user.value)), .int8s(sorted.map(\.queue)),
            .int8(Int64(ReadSet.userDeviceCount)))
        add(query) { columns, rows in
            for user in sorted { rows.users[user] = [] }
            for row in 0..<columns.result.rowCount {
                guard let place = columns.result.int64(row, 0),
                    let device = columns.device(row, from: 1)
                else { continue }
                rows.users[sorted[Int(place) - 1], default: []].append(device.number)
                rows.devices[device.number] = device.fact
                rows.take(
                    columns.wake(row, from: 1 + StoredColumns.deviceCount, hasPayload: false))
            }
        }
    }

    private static let users = Statement(
        """
        SELECT asked.place, \(StoredColumns.device("device")), \(StoredColumns.wake("wake"))
        FROM unnest($1, $2) WITH ORDINALITY AS asked (user_id, queue, place)
        CROSS JOIN LATERAL (
            SELECT * FROM rouse.device AS found
            WHERE found.user_id = asked.user_id AND found.queue = asked.queue
            ORDER BY found.number LIMIT $3) AS device
        LEFT JOIN rouse.wake ON wake.number = nullif(device.pending, 0)
        ORDER BY asked.place, device.number
        """, .textArray, .int8Array, .int8)

    // MARK: Wakes

    /// The columns of a wake, its payload, its device and the wake that waits for that.
    private static let wakeAndDevice = """
        \(StoredColumns.wake("wake")), CASE WHEN asked.payload THEN wake.payload END,
            \(StoredColumns.device("device")), \(StoredColumns.wake("pending"))
        """
    /// The tables behind a table `asked` of number, payload and device.
    ///
    /// `OFFSET 0` has the server look up one wake after the other. Without it, it may sort all
    /// wakes of a table first, or compare each with each, when it takes the table for small.
    private static let joined = """
        JOIN LATERAL (
            SELECT * FROM rouse.wake WHERE wake.number = asked.number OFFSET 0
        ) AS wake ON true
        LEFT JOIN rouse.device ON device.number = wake.device AND asked.device
        LEFT JOIN rouse.wake AS pending
            ON pending.number = nullif(device.pending, wake.number) AND device.pending <> 0
        """

    private mutating func addWakes(_ wakes: [Int64: ReadSet.Parts]) {
        guard !wakes.isEmpty else { return }
        let sorted = wakes.sorted { $0.key < $1.key }
        let query = Query(
            Self.wakes, .int8s(sorted.map(\.key)),
            .bools(sorted.map { $0.value.contains(.payload) }),
            .bools(sorted.map { $0.value.contains(.device) }))
        add(query) { columns, rows in
            for number in wakes.keys where rows.wakes[number] == nil {
                rows.wakes[number] = .absent
            }
            for row in 0..<columns.result.rowCount {
                let number = columns.result.int64(row, 0) ?? 0
                let parts = wakes[number] ?? []
                rows.take(
                    columns, row, hasPayload: parts.contains(.payload),
                    hasDevice: parts.contains(.device))
            }
        }
    }

    private static let wakes = Statement(
        """
        SELECT \(wakeAndDevice)
        FROM unnest($1, $2, $3) AS asked (number, payload, device) \(joined)
        """, .int8Array, .boolArray, .boolArray)

    private mutating func addChains(_ chains: [Int64: Int]) {
        guard !chains.isEmpty else { return }
        let sorted = chains.sorted { $0.key < $1.key }
        let query = Query(
            Self.chains, .int8s(sorted.map(\.key)), .int8s(sorted.map { Int64($0.value) }))
        add(query) { columns, rows in
            for row in 0..<columns.result.rowCount {
                rows.take(columns.wake(row, from: 0, hasPayload: false))
            }
            for number in chains.keys where rows.wakes[number] == nil {
                rows.wakes[number] = .absent
            }
        }
    }

    private static let chains = Statement(
        """
        WITH RECURSIVE chain (number, previous, rest) AS (
            SELECT wake.number, wake.previous, asked.count
            FROM unnest($1, $2) AS asked (number, count)
            JOIN rouse.wake ON wake.number = asked.number
            UNION ALL
            SELECT wake.number, wake.previous, chain.rest - 1
            FROM chain JOIN rouse.wake ON wake.number = chain.previous
            WHERE chain.rest > 0)
        SELECT \(StoredColumns.wake("wake")) FROM chain
        JOIN rouse.wake ON wake.number = chain.number
        """, .int8Array, .int8Array)

    private mutating func add(_ scan: ReadSet.DueScan) {
        let query = Query(
            Self.due, .int8s(scan.shares.map(\.queue)),
            .int8s(scan.shares.map { Int64($0.limit) }),
            .int8(scan.now.millisecondsSinceEpoch), .int8(Int64(scan.limit)))
        add(query) { columns, rows in
            var found: [Int64: [Int64]] = [:]
            let place = 2 * StoredColumns.wakeCount + 1 + StoredColumns.deviceCount
            for row in 0..<columns.result.rowCount {
                rows.take(columns, row, hasPayload: true, hasDevice: true)
                found[columns.result.int64(row, place) ?? 0, default: []].append(
                    columns.result.int64(row, 0) ?? 0)
            }
            var rest = scan.limit
            for share in scan.shares {
                let limit = min(share.limit, rest)
                guard limit > 0 else { continue }
                let numbers = found[share.queue] ?? []
                rows.due[share.queue] = LoadedRows.DueWakes(
                    now: scan.now, limit: limit, numbers: numbers)
                rest -= numbers.count
            }
        }
    }

    private static let due = Statement(
        """
        SELECT \(wakeAndDevice), share.queue
        FROM unnest($1, $2) WITH ORDINALITY AS share (queue, count, place),
        LATERAL (
            SELECT number, true AS payload, true AS device FROM rouse.wake
            WHERE place = share.queue AND at <= $3 ORDER BY at, number LIMIT share.count
        ) AS asked
        \(joined)
        ORDER BY share.place, wake.at, wake.number LIMIT $4
        """, .int8Array, .int8Array, .int8, .int8)

    // MARK: Searches

    private mutating func add(_ scan: ReadSet.Scan, fresh: FreshLeases) {
        switch scan {
        case .overdue(let now, let limit):
            add(
                Query(Self.overdue, .int8(now.millisecondsSinceEpoch), .int8(Int64(limit))),
                ofDevices: scan)
        case .lapsed(let now, let limit):
            let query = Query(
                Self.lapsed, .int8(now.millisecondsSinceEpoch), .int8(Int64(limit)),
                .int8s(fresh.lapsed(at: now, limit: limit)))
            add(query, ofDevices: scan)
        case .wakes(let before, let limit):
            add(Query(Self.before, .int8(before), .int8(Int64(limit)))) { columns, rows in
                rows.scans[scan] = (0..<columns.result.rowCount).map { row in
                    rows.take(columns.wake(row, from: 0, hasPayload: false))
                    return columns.result.int64(row, 0) ?? 0
                }
            }
        case .feedback(let cursor, let limit, let queue):
            let query =
                queue.map {
                    Query(Self.feedbackOfQueue, .int8(cursor), .int8(Int64(limit)), .int8($0))
                } ?? Query(Self.feedback, .int8(cursor), .int8(Int64(limit)))
            add(query) { columns, rows in
                rows.scans[scan] = (0..<columns.result.rowCount).map { row in
                    let number = columns.result.int64(row, 0) ?? 0
                    rows.feedback[number] = .some(columns.feedback(row))
                    return number
                }
            }
        case .outcomes(let cursor, let limit):
            add(Query(Self.outcomes, .int8(cursor), .int8(Int64(limit)))) { columns, rows in
                let place = 2 * StoredColumns.wakeCount + 1 + StoredColumns.deviceCount
                rows.scans[scan] = (0..<columns.result.rowCount).map { row in
                    let cursor = columns.result.int64(row, place) ?? 0
                    let wake = columns.result.int64(row, place + 1) ?? 0
                    rows.outcomes[cursor] = wake
                    if rows.wakes[wake] == nil { rows.wakes[wake] = .absent }
                    rows.take(columns, row, hasPayload: false, hasDevice: true)
                    return cursor
                }
            }
        case .lastOutcome:
            add(Query(Self.lastOutcome)) { columns, rows in
                rows.scans[scan] = [columns.result.int64(0, 0) ?? 0]
            }
        case .dueWebhooks(let endpoint, let now, let limit):
            let query = Query(
                Self.dueWebhooks, .int8(endpoint.rawValue), .int8(now.millisecondsSinceEpoch),
                .int8(Int64(limit)))
            add(query) { columns, rows in
                rows.scans[scan] = (0..<columns.result.rowCount).map { row in
                    let (number, fact) = columns.webhook(row)
                    rows.webhooks[number] = fact
                    return number
                }
            }
        }
    }

    /// Adds a search for wakes with their devices.
    private mutating func add(_ query: Query, ofDevices scan: ReadSet.Scan) {
        add(query) { columns, rows in
            rows.scans[scan] = (0..<columns.result.rowCount).map { row in
                rows.take(columns, row, hasPayload: false, hasDevice: true)
                return columns.result.int64(row, 0) ?? 0
            }
        }
    }

    private static let overdue = Statement(
        """
        SELECT \(wakeAndDevice)
        FROM (SELECT number, false AS payload, true AS device FROM rouse.wake
            WHERE deadline <= $1 ORDER BY deadline, number LIMIT $2) AS asked
        \(joined) ORDER BY wake.deadline, wake.number
        """, .int8, .int8)
    /// Beside those in their place, the fresh ones of this gateway.
    private static let lapsed = Statement(
        """
        SELECT \(wakeAndDevice)
        FROM (SELECT number, false AS payload, true AS device FROM (
                (SELECT number, at FROM rouse.wake
                    WHERE place = 0 AND at <= $1 ORDER BY at, number LIMIT $2)
                UNION
                SELECT number, at FROM rouse.wake
                    WHERE number = ANY($3) AND state = 1 AND at <= $1
            ) AS found ORDER BY at, number LIMIT $2) AS asked
        \(joined) ORDER BY wake.at, wake.number
        """, .int8, .int8, .int8Array)
    private static let before = Statement(
        """
        SELECT \(StoredColumns.wake("wake")) FROM rouse.wake
        WHERE number < $1 ORDER BY number DESC LIMIT $2
        """, .int8, .int8)
    private static let feedback = Statement(
        """
        SELECT \(StoredColumns.feedback) FROM rouse.feedback
        WHERE number > $1 ORDER BY number LIMIT $2
        """, .int8, .int8)
    private static let feedbackOfQueue = Statement(
        """
        SELECT \(StoredColumns.feedback) FROM rouse.feedback
        WHERE queue = $3 AND number > $1 ORDER BY queue, number LIMIT $2
        """, .int8, .int8, .int8)
    /// One whose wake was pruned is there without it, so that a page ends where it ends. In the
    /// order of the rows, so that no more of them are opened than the page takes: one may have
    /// thousands of entries.
    private static let outcomes = Statement(
        """
        SELECT \(wakeAndDevice), asked.cursor, asked.number
        FROM (SELECT outcome.start + entry.place AS cursor, entry.wake AS number,
                false AS payload, true AS device
            FROM (SELECT number, number - cardinality(wakes) AS start, wakes FROM rouse.outcome
                    WHERE number > $1 ORDER BY number LIMIT $2) AS outcome,
                unnest(outcome.wakes) WITH ORDINALITY AS entry (wake, place)
            WHERE outcome.start + entry.place > $1
            ORDER BY outcome.number, entry.place LIMIT $2) AS asked
        LEFT \(joined) ORDER BY asked.cursor
        """, .int8, .int8)
    private static let lastOutcome = Statement(
        "SELECT last FROM rouse.feed WHERE name = 'outcomes'")
    private static let dueWebhooks = Statement(
        """
        SELECT \(StoredColumns.webhook) FROM rouse.webhook
        WHERE endpoint = $1 AND due_at <= $2 ORDER BY due_at, number LIMIT $3
        """, .int8, .int8, .int8)

    // MARK: By key

    private mutating func addKeys(_ keys: [[UInt8]]) {
        guard !keys.isEmpty else { return }
        add(Query(Self.keys, .bytesArray(keys))) { columns, rows in
            for key in keys where rows.keys[key] == nil { rows.keys[key] = .some(nil) }
            for row in 0..<columns.result.rowCount {
                let (key, known) = columns.known(row)
                rows.keys[key] = known
            }
        }
    }

    private static let keys = Statement(
        """
        SELECT idempotency.key, request, wake, answer, expires_at
        FROM unnest($1) AS asked (key) JOIN rouse.idempotency ON idempotency.key = asked.key
        """, .bytesArray)

    private mutating func addAttempts(_ wakes: Set<Int64>) {
        guard !wakes.isEmpty else { return }
        add(Query(Self.attempts, .int8s(wakes.sorted()))) { columns, rows in
            for number in wakes { rows.attempts[number] = [] }
            for row in 0..<columns.result.rowCount {
                let number = columns.result.int64(row, 0) ?? 0
                rows.attempts[number, default: []].append(
                    columns.attempt(row, of: number, from: 1))
            }
        }
    }

    private static let attempts = Statement(
        """
        SELECT wake, started_at, ended_at, result, status, reason, since, detail
        FROM rouse.attempt WHERE wake = ANY($1) ORDER BY wake, fence
        """, .int8Array)

    private mutating func addFeedback(_ numbers: Set<Int64>) {
        guard !numbers.isEmpty else { return }
        add(Query(Self.entries, .int8s(numbers.sorted()))) { columns, rows in
            for number in numbers { rows.feedback[number] = .some(nil) }
            for row in 0..<columns.result.rowCount {
                let number = columns.result.int64(row, 0) ?? 0
                rows.feedback[number] = .some(columns.feedback(row))
            }
        }
    }

    private static let entries = Statement(
        "SELECT \(StoredColumns.feedback) FROM rouse.feedback WHERE number = ANY($1)", .int8Array)

    private mutating func addWebhooks(_ numbers: Set<Int64>) {
        guard !numbers.isEmpty else { return }
        add(Query(Self.webhooks, .int8s(numbers.sorted()))) { columns, rows in
            for number in numbers where rows.webhooks[number] == nil {
                rows.webhooks[number] = .absent
            }
            for row in 0..<columns.result.rowCount {
                let (number, fact) = columns.webhook(row)
                rows.webhooks[number] = fact
            }
        }
    }

    private static let webhooks = Statement(
        "SELECT \(StoredColumns.webhook) FROM rouse.webhook WHERE number = ANY($1)", .int8Array)

    private mutating func addCounters(_ counters: Set<StoreCounter>) {
        guard !counters.isEmpty else { return }
        let names = Dictionary(uniqueKeysWithValues: counters.map { ($0.name, $0) })
        add(Query(Self.counters, .texts(Array(names.keys)))) { columns, rows in
            for counter in counters { rows.counters[counter] = 0 }
            for row in 0..<columns.result.rowCount {
                guard let counter = names[columns.result.string(row, 0) ?? ""] else { continue }
                rows.counters[counter] = Int(columns.result.int64(row, 1) ?? 0)
            }
        }
    }

    /// Each slot has its own part of a counter.
    static let counters = Statement(
        """
        SELECT name, sum(value)::bigint FROM rouse.counter WHERE name = ANY($1) GROUP BY name
        """, .textArray)

    private mutating func addNextDue(_ queues: Set<Int64>) {
        guard !queues.isEmpty else { return }
        add(Query(Self.nextDue, .int8s(queues.sorted()))) { columns, rows in
            for row in 0..<columns.result.rowCount {
                rows.nextDue[columns.result.int64(row, 0) ?? 0] = .some(columns.instant(row, 1))
            }
        }
    }

    private static let nextDue = Statement(
        """
        SELECT queue, (SELECT at FROM rouse.wake WHERE place = queue ORDER BY at LIMIT 1)
        FROM unnest($1) AS asked (queue)
        """, .int8Array)

    private mutating func addStates() {
        add(Query(Self.states)) { columns, rows in
            var states: [WakeState: Int] = [:]
            for row in 0..<columns.result.rowCount {
                let state = try? WakeState(number: columns.result.int64(row, 0) ?? -1)
                states[state ?? .damaged, default: 0] += Int(columns.result.int64(row, 1) ?? 0)
            }
            rows.states = states
        }
    }

    private static let states = Statement("SELECT state, count(*) FROM rouse.wake GROUP BY state")
}

extension LoadedRows {
    /// Takes a wake over, unless it is there with its payload.
    fileprivate mutating func take(_ found: (number: Int64, fact: WakeFact)?) {
        guard let (number, fact) = found else { return }
        if case .found(_, true, _) = wakes[number] { return }
        wakes[number] = fact
    }

    /// Takes over a wake with its payload, its device and the wake that waits for that.
    fileprivate mutating func take(
        _ columns: StoredColumns, _ row: Int, hasPayload: Bool, hasDevice: Bool
    ) {
        let found = columns.wake(row, from: 0, hasPayload: hasPayload)
        take(found)
        guard hasDevice else { return }
        let place = StoredColumns.wakeCount + 1
        if let device = columns.device(row, from: place) {
            devices[device.number] = device.fact
            take(columns.wake(row, from: place + StoredColumns.deviceCount, hasPayload: false))
        } else if case .found(let wake, _, _)? = found?.fact, devices[wake.device] == nil {
            devices[wake.device] = .absent
        }
    }
}
