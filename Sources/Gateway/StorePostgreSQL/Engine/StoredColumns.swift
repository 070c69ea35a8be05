// SPDX-License-Identifier: Apache-2.0

import Gateway
import StoreRows
import WakeBudget
import WakeModel

/// Reads rows from the columns of a result.
struct StoredColumns {
    /// The columns of a wake, qualified with the name of its table. The payload follows them.
    static func wake(_ table: String) -> String {
        columns(["number", "version", "device", "at", "state", "rest"], of: table)
    }
    /// How many columns those are.
    static let wakeCount = 6

    /// The columns of a device, behind the name of its table.
    static func device(_ table: String) -> String {
        columns(
            [
                "number", "version", "queue", "pending", "latest", "registered_at", "dead_since",
                "receipt_at", "touched_at", "token", "ledger", "calls", "user_id",
            ], of: table)
    }
    /// How many columns those are.
    static let deviceCount = 13

    private static func columns(_ names: [String], of table: String) -> String {
        names.map { "\(table).\($0)" }.joined(separator: ", ")
    }

    let result: QueryResult
    let queues: QueueTable
    /// Called for rows that cannot be read.
    let note: (DamagedRow) -> Void

    // MARK: Wakes

    /// The wake in columns from this one on, and behind them its payload if `hasPayload`; `nil`
    /// when there is none.
    func wake(
        _ row: Int, from column: Int, hasPayload: Bool
    ) -> (number: Int64, fact: LoadedRows.WakeFact)? {
        guard let number = result.int64(row, column) else { return nil }
        let state = result.int64(row, column + 4) ?? -1
        do throws(StoreFailure) {
            var reader = ByteReader(result.bytes(row, column + 5) ?? [])
            var wake = try reader.wake(
                number: number, state: try WakeState(number: state),
                device: result.int64(row, column + 2))
            // The column `at` decides when it is due, or its lease ends: after a wrong clock both
            // are moved there.
            if let at = instant(row, column + 3) {
                switch wake.state {
                case .pending: wake.dueAt = at
                case .claimed: wake.leaseUntil = at
                default: break
                }
            }
            if hasPayload {
                try wake.takePayload(stored: result.bytes(row, column + 6) ?? [])
            }
            let version = result.int64(row, column + 1) ?? 0
            return (number, .found(wake, hasPayload: hasPayload, version: version))
        } catch {
            let damage = DamagedRow(wake: number, problem: error.message)
            note(damage)
            return (
                number, .damaged(StoreFailure(damage), hasEnded: (2...11).contains(state))
            )
        }
    }

    // MARK: Devices

    /// A device as it is found, and whose it is.
    struct FoundDevice {
        let number: Int64
        let queue: Int64
        let token: [UInt8]
        let fact: LoadedRows.DeviceFact
    }

    /// The device in columns from this one on; `nil` when there is none.
    func device(_ row: Int, from column: Int) -> FoundDevice? {
        guard let number = result.int64(row, column) else { return nil }
        let queue = result.int64(row, column + 2) ?? 0
        let bytes = result.bytes(row, column + 9) ?? []
        func found(_ fact: LoadedRows.DeviceFact) -> FoundDevice {
            FoundDevice(number: number, queue: queue, token: bytes, fact: fact)
        }
        func damaged(_ key: String, _ problem: String, rest: DeviceRow?) -> FoundDevice {
            let damage = DamagedRow(table: .device, key: key, problem: problem)
            note(damage)
            return found(.damaged(StoreFailure(damage), rest: rest))
        }
        guard let token = try? DeviceToken(stored: bytes) else {
            return damaged("\(number)", "bad token", rest: nil)
        }
        var device = DeviceRow(
            number: number, queue: queue, token: token,
            kind: queues[queue]?.queue.kind ?? .background,
            touchedAt: instant(row, column + 8) ?? WallInstant(millisecondsSinceEpoch: 0))
        device.pending = result.int64(row, column + 3) ?? 0
        device.latest = result.int64(row, column + 4) ?? 0
        do throws(StoreFailure) {
            device.calls = try CountedCall.decode(result.bytes(row, column + 11) ?? [])
            device.user = try UserID(stored: result.string(row, column + 12))
        } catch {
            return damaged("\(token)", error.message, rest: device)
        }
        let rest = device
        do throws(LedgerDecodingError) {
            device.ledger = try DeviceLedger(decoding: result.bytes(row, column + 10) ?? [])
        } catch {
            return damaged("\(token)", "bad ledger: \(error)", rest: rest)
        }
        // A ledger of the other kind would not understand what it is asked.
        guard queues[queue]?.queue.kind.discipline == device.ledger.discipline else {
            return damaged("\(token)", "bad ledger of another kind", rest: rest)
        }
        device.registeredAt = instant(row, column + 5)
        device.deadSince = instant(row, column + 6)
        device.lastReceiptAt = instant(row, column + 7)
        return found(.found(device, version: result.int64(row, column + 1) ?? 0))
    }

    // MARK: Others

    /// An instant in a column of milliseconds.
    func instant(_ row: Int, _ column: Int) -> WallInstant? {
        result.int64(row, column).map { WallInstant(millisecondsSinceEpoch: $0) }
    }

    /// The queue in the columns of ``QueueCache``.
    func queue(_ row: Int) -> (number: Int64, row: WakeQueueRow?, changed: Int64) {
        let number = result.int64(row, 0) ?? 0
        let changed = result.int64(row, 8) ?? 0
        do throws(StoreFailure) {
            let queue = try WakeQueueKey(
                stored: result.string(row, 1), result.string(row, 2), result.int64(row, 3) ?? -1)
            let found = WakeQueueRow(
                number: number, queue: queue, confirmsLaunches: result.bool(row, 4) ?? false,
                pausedAt: instant(row, 5), pauseReason: result.string(row, 6),
                heldToldAt: instant(row, 7))
            return (number, found, changed)
        } catch {
            note(DamagedRow(table: .queue, key: "\(number)", problem: error.message))
            return (number, nil, changed)
        }
    }

    /// The columns of an entry of the feedback feed.
    static let feedback =
        "number, kind, queue, token, at, status, reason, since, wake, wake_low"

    /// The entry of the feedback feed in these columns; `nil` when it cannot be read.
    func feedback(_ row: Int) -> FeedbackRow? {
        do throws(StoreFailure) {
            guard let kind = FeedbackKind(rawValue: result.string(row, 1) ?? "") else {
                throw .damaged("feedback")
            }
            let refusal = EndColumns(
                status: result.int64(row, 5), reason: result.string(row, 6),
                since: result.int64(row, 7), detail: nil, carrier: nil
            ).refusal
            var entry = FeedbackRow(
                kind: kind, queue: result.int64(row, 2) ?? 0,
                deviceToken: try DeviceToken(stored: result.bytes(row, 3) ?? []),
                at: instant(row, 4) ?? WallInstant(millisecondsSinceEpoch: 0), refusal: refusal,
                wake: WakeID(number: result.int64(row, 8) ?? 0, low: result.int64(row, 9) ?? 0))
            entry.number = result.int64(row, 0) ?? 0
            return entry
        } catch {
            note(
                DamagedRow(
                    table: .feedback, key: "\(result.int64(row, 0) ?? 0)", problem: error.message))
            return nil
        }
    }

    /// The attempt in these columns: start, end, result, status, reason, since and detail.
    func attempt(_ row: Int, of wake: Int64, from column: Int) -> AttemptRecord {
        let columns = AttemptColumns(
            result: result.string(row, column + 2) ?? "", status: result.int64(row, column + 3),
            reason: result.string(row, column + 4), since: result.int64(row, column + 5),
            detail: result.string(row, column + 6))
        let attempt: AttemptResult
        do throws(StoreFailure) {
            attempt = try columns.attempt()
        } catch {
            let wake = DamagedRow(wake: wake, problem: "")
            note(DamagedRow(table: .attempt, key: wake.key, problem: error.message))
            attempt = .unanswered(AttemptColumns.damaged)
        }
        let epoch = WallInstant(millisecondsSinceEpoch: 0)
        return AttemptRecord(
            startedAt: instant(row, column) ?? epoch, endedAt: instant(row, column + 1) ?? epoch,
            result: attempt)
    }

    /// The entry of an idempotency key in these columns: key, request, wake, answer and expiry.
    func known(_ row: Int) -> (key: [UInt8], known: KnownKey) {
        let key = result.bytes(row, 0) ?? []
        let wake = result.int64(row, 2) ?? 0
        var answer: AdmittedWake?
        // One that was copied from an old file may have none.
        let stored = result.bytes(row, 3) ?? []
        do throws(StoreFailure) {
            var reader = ByteReader(stored)
            answer = stored.isEmpty ? nil : try reader.answer(wake: wake)
        } catch {
            // The wake's own row says nearly the same.
            note(
                DamagedRow(
                    table: .idempotency, key: IdempotencyKey.name(ofKey: key),
                    problem: error.message))
        }
        let known = KnownKey(
            request: result.bytes(row, 1) ?? [], wake: wake, answer: answer,
            expiresAt: instant(row, 4) ?? WallInstant(millisecondsSinceEpoch: 0))
        return (key, known)
    }

    /// The columns of a webhook.
    static let webhook = """
        number, kind, subject, created_at, fence, tries, bundle_id, environment, queue_kind, \
        reason, endpoint
        """

    /// The webhook in the columns of ``webhook``.
    func webhook(_ row: Int) -> (number: Int64, fact: LoadedRows.WebhookFact) {
        let number = result.int64(row, 0) ?? 0
        let fence = result.int64(row, 4) ?? 0
        do throws(StoreFailure) {
            return (number, .found(try readWebhook(row, number, fence)))
        } catch {
            note(DamagedRow(table: .webhook, key: "\(number)", problem: error.message))
            return (number, .damaged(fence: fence))
        }
    }

    private func readWebhook(
        _ row: Int, _ number: Int64, _ fence: Int64
    ) throws(StoreFailure) -> WebhookRow {
        let tries = result.int64(row, 5) ?? -1
        guard ByteReader.counts.contains(fence), ByteReader.counts.contains(tries) else {
            throw .damaged("count")
        }
        let created = instant(row, 3) ?? WallInstant(millisecondsSinceEpoch: 0)
        let subject = result.int64(row, 2) ?? 0
        let about: WebhookSubject
        switch WebhookKind(rawValue: result.string(row, 1) ?? "") {
        case .outcome: about = .outcome(wake: subject)
        case .tokenDead: about = .tokenDead(feedback: subject)
        case .appHeld:
            let queue = try WakeQueueKey(
                stored: result.string(row, 6), result.string(row, 7), result.int64(row, 8) ?? -1)
            about = .appHeld(
                AppHold(
                    queue: queue, isHeld: subject != 0, reason: result.string(row, 9) ?? "",
                    at: created))
        case nil: throw .damaged("webhook")
        }
        let endpoint = WebhookEndpointID(rawValue: result.int64(row, 10) ?? 0)
        return WebhookRow(
            ticket: WebhookItem.Ticket(endpoint: endpoint, number: number, fence: fence),
            subject: about, createdAt: created, tries: Int(tries))
    }
}
