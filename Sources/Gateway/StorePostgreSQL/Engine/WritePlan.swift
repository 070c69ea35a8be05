// SPDX-License-Identifier: Apache-2.0

import Gateway
import StoreRows
import WakeBudget
import WakeModel

/// The queries of one write, in the order in which all writers lock rows: writer, counters, queues,
/// devices, wakes, attempts, idempotency keys, webhooks, feeds; within a table by number.
///
/// Each query whose rows must be what they were says so on the server: a count that is not what
/// it should be is an error, so the transaction ends there without another round trip.
struct WritePlan {
    private(set) var queries: [Query] = []

    /// The queries for changes that a writer makes. `lastNumber` is the last number that it gave,
    /// and becomes that of the last webhook.
    init(
        _ changes: Changes, by writer: WriterIdentity, sequence: Int64, floor: Int64,
        lastNumber: inout Int64
    ) {
        let webhooks = changes.newWebhooks.map { webhook in
            lastNumber = writer.numbers.number(after: lastNumber, at: webhook.at)
            return (number: lastNumber, webhook: webhook)
        }
        addFence(writer, sequence: sequence, floor: floor, lastNumber: lastNumber)
        addCounters(changes.counters, slot: writer.numbers.slot)
        if changes.counters[.trials] != nil { queries += Self.room.map { Query($0) } }
        addQueues(changes)
        addDevices(changes.devices)
        addNewWakes(changes.newWakes)
        addWakes(changes.wakes)
        addDamaged(changes.damagedWakes)
        addForgotten(changes.devices)
        addAttempts(changes.attempts)
        addKeys(changes.keys)
        addWebhookChanges(changes.webhooks)
        addFeedback(changes.feedback)
        addWebhooks(webhooks, entryCount: changes.feedback.count)
        addOutcomes(changes)
    }

    /// A write of a writer that needs other statements than changes have, behind the fence.
    init(
        by writer: WriterIdentity, sequence: Int64, floor: Int64, lastNumber: Int64,
        counters: [StoreCounter: Int] = [:], _ queries: [Query]
    ) {
        addFence(writer, sequence: sequence, floor: floor, lastNumber: lastNumber)
        addCounters(counters, slot: writer.numbers.slot)
        self.queries += queries
    }

    /// Adds a query behind the others.
    mutating func append(_ query: Query) { queries.append(query) }

    // MARK: Writer

    private mutating func addFence(
        _ writer: WriterIdentity, sequence: Int64, floor: Int64, lastNumber: Int64
    ) {
        queries.append(
            Query(
                Self.fence, .int8(writer.id), .int8(sequence), .int8(floor), .int8(lastNumber),
                .text(writer.gateway)))
    }

    /// Its row is fence, heartbeat and the answer to whether a transaction was committed. It
    /// returns the time of the database. The gateway's name is compared because a database that was
    /// restored from a back-up gives ids again.
    private static let fence = Statement(
        """
        WITH mine AS (
            UPDATE rouse.writer SET sequence = $2, floor = $3, last_number = $4,
                seen_at = clock_timestamp()
            WHERE id = $1 AND NOT ended AND sequence = $2 - 1 AND gateway = $5 RETURNING 1)
        SELECT rouse.require_writer((SELECT count(*) FROM mine)),
            (extract(epoch FROM clock_timestamp()) * 1000)::bigint
        """, .int8, .int8, .int8, .int8, .text)

    private mutating func addCounters(_ counters: [StoreCounter: Int], slot: Int64) {
        let sorted = counters.filter { $0.value != 0 }.map { ($0.key.name, $0.value) }
            .sorted { $0.0 < $1.0 }
        guard !sorted.isEmpty else { return }
        queries.append(
            Query(
                Self.counters, .texts(sorted.map(\.0)), .int8s(sorted.map { Int64($0.1) }),
                .int8(slot)))
    }

    private static let counters = Statement(
        """
        INSERT INTO rouse.counter (name, slot, value)
        SELECT name, $3, value FROM unnest($1, $2) AS added (name, value)
        ON CONFLICT (name, slot) DO UPDATE SET value = counter.value + excluded.value
        """, .textArray, .int8Array, .int8)

    /// Keeps a megabyte in little memory, for which the server writes a file in the database's
    /// default tablespace, where its tables are unless somebody put them elsewhere: on a full disk
    /// the counter alone finds room on its page, where new wakes find none. It needs no privilege
    /// and leaves nothing behind. Where `temp_file_limit` allows less than 2 MB, nothing is kept.
    static let room = [
        Statement(
            """
            SELECT set_config('work_mem', '64kB', true), set_config('temp_tablespaces', '', true)
            """),
        Statement(
            """
            WITH kept AS MATERIALIZED (
                SELECT repeat('-', number) AS filler FROM generate_series(2000, 2511) AS number
                WHERE pg_size_bytes(current_setting('temp_file_limit')) NOT BETWEEN 0 AND 2097151)
            SELECT count(filler) FROM kept
            """),
    ]

    // MARK: Queues

    private mutating func addQueues(_ changes: Changes) {
        guard !changes.newQueues.isEmpty || !changes.queues.isEmpty else { return }
        queries.append(Query(Self.queueChange))
        for queue in changes.newQueues {
            let app = queue.queue.app
            queries.append(
                Query(
                    Self.newQueue, .int8(queue.number), .text(app.bundleID.value),
                    .text(app.environment.rawValue), .int8(queue.queue.kind.number)))
        }
        for (number, change) in changes.queues {
            switch change {
            case .confirmsLaunches: queries.append(Query(Self.confirms, .int8(number)))
            case .pause(let pause):
                queries.append(
                    Query(
                        Self.pause, .int8(number), .instant(pause?.at),
                        pause?.reason.map(Parameter.text) ?? .null))
            case .toldHeld(let instant):
                queries.append(Query(Self.toldHeld, .int8(number), .instant(instant)))
            }
        }
    }

    /// Locks the count of changes until the commit, so that a reader that has seen a change has
    /// seen all before it.
    static let queueChange = Statement(
        "UPDATE rouse.property SET value = value + 1 WHERE name = 'queue changes'")
    /// The count of changes, which the running transaction has raised.
    private static let changed = "(SELECT value FROM rouse.property WHERE name = 'queue changes')"
    private static let newQueue = Statement(
        """
        INSERT INTO rouse.queue (number, bundle_id, environment, kind, changed)
        VALUES ($1, $2, $3, $4, \(changed))
        """, .int8, .text, .text, .int8)
    private static let confirms = Statement(
        """
        UPDATE rouse.queue SET confirms_launches = true, changed = \(changed) WHERE number = $1
        """, .int8)
    private static let pause = Statement(
        """
        UPDATE rouse.queue SET paused_at = $2, pause_reason = $3, changed = \(changed)
        WHERE number = $1
        """, .int8, .int8, .text)
    private static let toldHeld = Statement(
        "UPDATE rouse.queue SET held_told_at = $2, changed = \(changed) WHERE number = $1",
        .int8, .int8)
    /// Prevents queues from being paused, or reported as held, in the future.
    static let pullBackQueues = Statement(
        """
        UPDATE rouse.queue SET changed = \(changed),
            paused_at = CASE WHEN paused_at > $1 THEN $2 ELSE paused_at END,
            held_told_at = CASE WHEN held_told_at > $1 THEN $2 ELSE held_told_at END
        WHERE paused_at > $1 OR held_told_at > $1
        """, .int8, .int8)

    // MARK: Devices

    private mutating func addDevices(_ changes: [Int64: Changes.DeviceChange]) {
        var made: [Changes.DeviceChange] = []
        var changed: [Changes.DeviceChange] = []
        for change in changes.values {
            if change.kind == .made { made.append(change) } else { changed.append(change) }
        }
        if !changed.isEmpty {
            changed.sort { $0.row.number < $1.row.number }
            queries.append(
                Query(
                    Self.devices,
                    Self.columns(of: changed)
                        + [.int8s(changed.map(\.version)), .int8(Int64(changed.count))]))
        }
        if !made.isEmpty {
            made.sort { $0.row.number < $1.row.number }
            queries.append(
                Query(
                    Self.newDevices,
                    Self.columns(of: made)
                        + [
                            .int8s(made.map(\.row.queue)), .bytesArray(made.map(\.row.token.bytes)),
                        ]))
        }
    }

    private static func columns(of changes: [Changes.DeviceChange]) -> [Parameter] {
        [
            .int8s(changes.map(\.row.number)),
            .int8s(changes.map(\.row.pending)),
            .int8s(changes.map(\.row.latest)),
            .optionalInt8s(changes.map(\.row.registeredAt?.millisecondsSinceEpoch)),
            .optionalInt8s(changes.map(\.row.deadSince?.millisecondsSinceEpoch)),
            .optionalInt8s(changes.map(\.row.lastReceiptAt?.millisecondsSinceEpoch)),
            .int8s(changes.map(\.row.touchedAt.millisecondsSinceEpoch)),
            .bytesArray(changes.map { $0.row.ledger.encoded() }),
            .bytesArray(
                changes.map { $0.row.calls.isEmpty ? nil : CountedCall.encoded($0.row.calls) }),
            .texts(changes.map(\.row.user?.value)),
        ]
    }

    private static let deviceTypes: [TypeID] = [
        .int8Array, .int8Array, .int8Array, .int8Array, .int8Array, .int8Array, .int8Array,
        .bytesArray, .bytesArray, .textArray,
    ]
    private static let deviceColumns = """
        number, pending, latest, registered_at, dead_since, receipt_at, touched_at, ledger, calls,
        user_id
        """

    /// A version of 0 is that of a row that could not be read, and is written whatever it is.
    private static let devices = Statement(
        """
        WITH done AS (
            UPDATE rouse.device SET version = device.version + 1, pending = new.pending,
                latest = new.latest, registered_at = new.registered_at,
                dead_since = new.dead_since, receipt_at = new.receipt_at,
                touched_at = new.touched_at, ledger = new.ledger, calls = new.calls,
                user_id = new.user_id
            FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
                AS new (\(deviceColumns), version)
            WHERE device.number = new.number
                AND (device.version = new.version OR new.version = 0)
            RETURNING 1)
        SELECT rouse.expect((SELECT count(*) FROM done), $12)
        """, deviceTypes + [.int8Array, .int8])

    private static let newDevices = Statement(
        """
        INSERT INTO rouse.device (\(deviceColumns), queue, token, version)
        SELECT \(deviceColumns), queue, token, 1
        FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
            AS new (\(deviceColumns), queue, token)
        """, deviceTypes + [.int8Array, .bytesArray])

    /// Removes those of these devices that nothing refers to; the rows of the others say no more
    /// than their tokens.
    private mutating func addForgotten(_ changes: [Int64: Changes.DeviceChange]) {
        let numbers = changes.values.filter { $0.kind == .forgotten }.map(\.row.number).sorted()
        guard !numbers.isEmpty else { return }
        queries.append(Query(Self.removeDevices, .int8s(numbers)))
    }

    /// Of the devices with these numbers, those stay of which a wake is still there: the latest,
    /// or an older one that had not ended when that was pruned. Wakes are pruned in the order of
    /// their numbers, so those below one that was pruned are few; when they are too many to look
    /// at, no device is removed for now. One whose neighbour exists stays as well, because the
    /// neighbour may be found through it.
    static let removeDevices = Statement(
        """
        DELETE FROM rouse.device WHERE number = ANY($1)
            AND NOT EXISTS (SELECT 1 FROM rouse.wake WHERE wake.number = device.latest)
            AND NOT EXISTS (
                SELECT 1 FROM rouse.device AS next WHERE next.number = device.number + 1)
            AND (SELECT count(*) < 4096 AND count(*) FILTER (WHERE older.device = device.number) = 0
                FROM (SELECT wake.device FROM rouse.wake
                    WHERE wake.number < device.latest ORDER BY wake.number DESC LIMIT 4096
                ) AS older)
        """, .int8Array)

    // MARK: Wakes

    private mutating func addNewWakes(_ wakes: [WakeRow]) {
        guard !wakes.isEmpty else { return }
        var writer = ByteWriter()
        let rest = wakes.map { writer.rest(of: $0) }
        queries.append(
            Query(
                Self.newWakes, .int8s(wakes.map(\.number)), .int8s(wakes.map(\.device)),
                .int8s(wakes.map(\.previous)),
                .optionalInt8s(wakes.map { $0.state == .pending ? $0.queue : nil }),
                .optionalInt8s(wakes.map(\.placedAt)), .optionalInt8s(wakes.map(\.placedDeadline)),
                .int2s(wakes.map(\.stateNumber)), .bytesArray(rest),
                .bytesArray(wakes.map { $0.payload.isEmpty ? nil : $0.storedPayload })))
    }

    private static let newWakes = Statement(
        """
        INSERT INTO rouse.wake
            (number, version, device, previous, place, at, deadline, state, rest, payload)
        SELECT number, 1, device, previous, place, at, deadline, state, rest, payload
        FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9)
            AS new (number, device, previous, place, at, deadline, state, rest, payload)
        """, .int8Array, .int8Array, .int8Array, .int8Array, .int8Array, .int8Array, .int2Array,
        .bytesArray, .bytesArray)

    /// The effect of a change on a wake's place.
    enum Placement: Int16 {
        /// Nothing.
        case kept = 0
        /// It is in the place of its state.
        case set = 1
        /// It is in no place. `at` is left unchanged: for a wake that was in no place, no indexed
        /// column changes.
        case left = 2
    }

    static func placement(of change: Changes.WakeChange) -> Placement {
        if change.columns == .launch { return .kept }
        return change.row.state.isEnd ? .left : .set
    }

    private mutating func addWakes(_ changes: [Changes.WakeChange]) {
        guard !changes.isEmpty else { return }
        let changes = changes.sorted { $0.row.number < $1.row.number }
        var writer = ByteWriter()
        let rest = changes.map { writer.rest(of: $0.row) }
        queries.append(
            Query(
                Self.wakes, .int8s(changes.map(\.row.number)), .int8s(changes.map(\.version)),
                .int2s(changes.map { Self.placement(of: $0).rawValue }),
                .optionalInt8s(changes.map(\.row.place)),
                .optionalInt8s(changes.map(\.row.placedAt)),
                .optionalInt8s(changes.map(\.row.placedDeadline)),
                .int2s(changes.map(\.row.stateNumber)), .bytesArray(rest),
                .bytesArray(
                    changes.map { $0.columns.contains(.content) ? $0.row.storedPayload : nil }),
                .int8(Int64(changes.count))))
    }

    /// Without bounds for the numbers, though they would leave fewer partitions to be looked at:
    /// the server would compare each row between them with each number, where it takes the table
    /// for small.
    static let wakes = Statement(
        """
        WITH done AS (
            UPDATE rouse.wake SET version = wake.version + 1,
                place = CASE new.placement WHEN 0 THEN wake.place WHEN 1 THEN new.place END,
                at = CASE new.placement WHEN 1 THEN new.at ELSE wake.at END,
                deadline = CASE new.placement
                    WHEN 0 THEN wake.deadline WHEN 1 THEN new.deadline END,
                state = new.state, rest = new.rest,
                payload = CASE WHEN new.state < 2 THEN coalesce(new.payload, wake.payload) END
            FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9)
                AS new (number, version, placement, place, at, deadline, state, rest, payload)
            WHERE wake.number = new.number AND wake.version = new.version
            RETURNING 1)
        SELECT rouse.expect((SELECT count(*) FROM done), $10)
        """, .int8Array, .int8Array, .int2Array, .int8Array, .int8Array, .int8Array, .int2Array,
        .bytesArray, .bytesArray, .int8)

    /// The damaged bytes are kept for diagnosis.
    private mutating func addDamaged(_ numbers: [Int64]) {
        guard !numbers.isEmpty else { return }
        queries.append(
            Query(Self.quarantine, .int8s(numbers.sorted()), .int8(Int64(numbers.count))))
    }

    private static let quarantine = Statement(
        """
        WITH done AS (
            UPDATE rouse.wake SET version = version + 1, state = 11, place = NULL,
                deadline = NULL, payload = NULL
            WHERE number = ANY($1) AND state NOT BETWEEN 2 AND 11 RETURNING 1)
        SELECT rouse.expect((SELECT count(*) FROM done), $2)
        """, .int8Array, .int8)

    // MARK: Attempts

    private mutating func addAttempts(_ attempts: [Changes.NewAttempt]) {
        guard !attempts.isEmpty else { return }
        // The last of those of one lease counts.
        let last = Dictionary(
            attempts.map { ([$0.wake, $0.fence], $0) }, uniquingKeysWith: { $1 })
        let attempts = last.values.sorted { ($0.wake, $0.fence) < ($1.wake, $1.fence) }
        let columns = attempts.map { AttemptColumns($0.record.result) }
        queries.append(
            Query(
                Self.attempts, .int8s(attempts.map(\.wake)), .int8s(attempts.map(\.fence)),
                .int8s(attempts.map(\.record.startedAt.millisecondsSinceEpoch)),
                .int8s(attempts.map(\.record.endedAt.millisecondsSinceEpoch)),
                .texts(columns.map(\.result)), .optionalInt8s(columns.map(\.status)),
                .texts(columns.map { $0.reason?.storable }),
                .optionalInt8s(columns.map(\.since)),
                .texts(columns.map { $0.detail?.storable })))
        let long = attempts.filter { $0.fence > AttemptRecord.maximumKept }.map(\.wake)
        guard !long.isEmpty else { return }
        queries.append(
            Query(
                Self.oldAttempts, .int8s(Set(long).sorted()),
                .int8(Int64(AttemptRecord.maximumKept))))
    }

    private static let attempts = Statement(
        """
        INSERT INTO rouse.attempt
        SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9)
        ON CONFLICT (wake, fence) DO UPDATE SET started_at = excluded.started_at,
            ended_at = excluded.ended_at, result = excluded.result, status = excluded.status,
            reason = excluded.reason, since = excluded.since, detail = excluded.detail
        """, .int8Array, .int8Array, .int8Array, .int8Array, .textArray, .int8Array, .textArray,
        .int8Array, .textArray)
    private static let oldAttempts = Statement(
        """
        DELETE FROM rouse.attempt USING unnest($1) AS long (wake)
        WHERE attempt.wake = long.wake AND attempt.fence <= (
            SELECT kept.fence FROM rouse.attempt AS kept WHERE kept.wake = long.wake
            ORDER BY kept.fence DESC LIMIT 1 OFFSET $2)
        """, .int8Array, .int8)

    // MARK: Idempotency keys

    private mutating func addKeys(_ keys: [Changes.NewKey]) {
        let sorted = keys.sorted { $0.key.key.lexicographicallyPrecedes($1.key.key) }
        let new = sorted.filter { !$0.replaces }
        let replacing = sorted.filter(\.replaces)
        if !new.isEmpty { queries.append(Query(Self.newKeys, Self.columns(of: new))) }
        if !replacing.isEmpty {
            let ends = replacing.map { $0.replacedEnd?.millisecondsSinceEpoch }
            queries.append(
                Query(
                    Self.replacedKeys,
                    Self.columns(of: replacing)
                        + [.optionalInt8s(ends), .int8(Int64(replacing.count))]))
        }
    }

    private static func columns(of keys: [Changes.NewKey]) -> [Parameter] {
        var writer = ByteWriter()
        return [
            .bytesArray(keys.map(\.key.key)), .bytesArray(keys.map(\.key.request)),
            .int8s(keys.map(\.answer.id.number)),
            .int8s(keys.map(\.key.expiresAt.millisecondsSinceEpoch)),
            .bytesArray(
                keys.map { key in
                    writer.removeAll()
                    writer.put(key.answer)
                    return writer.bytes
                }),
        ]
    }

    /// One that is there already is an error: another gateway was first.
    private static let newKeys = Statement(
        """
        INSERT INTO rouse.idempotency (key, request, wake, expires_at, answer)
        SELECT * FROM unnest($1, $2, $3, $4, $5)
        """, .bytesArray, .bytesArray, .int8Array, .int8Array, .bytesArray)
    private static let replacedKeys = Statement(
        """
        WITH done AS (
            UPDATE rouse.idempotency SET request = new.request, wake = new.wake,
                expires_at = new.expires_at, answer = new.answer
            FROM unnest($1, $2, $3, $4, $5, $6)
                AS new (key, request, wake, expires_at, answer, replaced)
            WHERE idempotency.key = new.key AND idempotency.expires_at = new.replaced
            RETURNING 1)
        SELECT rouse.expect((SELECT count(*) FROM done), $7)
        """, .bytesArray, .bytesArray, .int8Array, .int8Array, .bytesArray, .int8Array, .int8)
}

extension WakeRow {
    /// Its place: its queue, 0 for a lease, or none.
    fileprivate var place: Int64? {
        switch state {
        case .pending: queue
        case .claimed: 0
        default: nil
        }
    }

    /// When it is due there, or its lease ends.
    fileprivate var placedAt: Int64? {
        switch state {
        case .pending: dueAt.millisecondsSinceEpoch
        case .claimed: leaseUntil.millisecondsSinceEpoch
        default: nil
        }
    }

    fileprivate var placedDeadline: Int64? {
        state == .pending ? deadline.millisecondsSinceEpoch : nil
    }

    fileprivate var stateNumber: Int16 { Int16(truncatingIfNeeded: state.number) }
}

extension ByteWriter {
    /// The bytes of a wake's column `rest`.
    fileprivate mutating func rest(of wake: borrowing WakeRow) -> [UInt8] {
        removeAll()
        put(wake)
        return bytes
    }
}
