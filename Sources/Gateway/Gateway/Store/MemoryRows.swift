// SPDX-License-Identifier: Apache-2.0

import WakeModel

/// Rows in dictionaries. What the hot path asks for by name is found by it, so that a batch of ten
/// thousand is no matter; the queues are found by looking at all that waits.
final class MemoryRows: WakeRows {
    private var queueRows: [WakeQueueRow] = []
    private var devices: [Int64: DeviceRow] = [:]
    private var deviceNumbers: [DeviceName: Int64] = [:]
    private var lastDevice: Int64 = 0
    private var wakes: [Int64: WakeRow] = [:]
    private var history: [Int64: [AttemptRecord]] = [:]
    private var marks: [[UInt8]: (mark: IdempotencyKey, answer: AdmittedWake)] = [:]
    private var feed: [FeedbackRow] = []
    private var webhooks: [Int64: Webhook] = [:]
    private var counters: [StoreCounter: Int] = [:]
    private var lastNumber: Int64 = 0

    /// The numbers of pending wakes.
    private var pendingNumbers: Set<Int64> = []

    private struct DeviceName: Hashable {
        let token: DeviceToken
        let queue: Int64
    }

    private struct Webhook {
        var endpoint: WebhookEndpointID
        let subject: WebhookSubject
        let createdAt: WallInstant
        var dueAt: WallInstant
        var fence: Int64 = 0
        var tries = 0
    }

    init() {}

    /// The same rows, which change no more with these.
    init(copying other: MemoryRows) {
        queueRows = other.queueRows
        devices = other.devices
        deviceNumbers = other.deviceNumbers
        lastDevice = other.lastDevice
        wakes = other.wakes
        history = other.history
        marks = other.marks
        feed = other.feed
        webhooks = other.webhooks
        counters = other.counters
        lastNumber = other.lastNumber
        pendingNumbers = other.pendingNumbers
    }

    // MARK: Queues

    func queue(_ number: Int64) throws(StoreFailure) -> WakeQueueRow { queueRows[Int(number - 1)] }

    func queue(of queue: WakeQueueKey) throws(StoreFailure) -> WakeQueueRow? {
        queueRows.first { $0.queue == queue }
    }

    func make(_ queue: WakeQueueKey) throws(StoreFailure) -> WakeQueueRow {
        let row = WakeQueueRow(number: Int64(queueRows.count + 1), queue: queue)
        queueRows.append(row)
        return row
    }

    func queues() throws(StoreFailure) -> [WakeQueueRow] { queueRows }

    func save(_ queue: WakeQueueRow) throws(StoreFailure) {
        queueRows[Int(queue.number - 1)] = queue
    }

    // MARK: Devices

    func device(_ token: DeviceToken, queue: Int64) throws(StoreFailure) -> DeviceRow? {
        deviceNumbers[DeviceName(token: token, queue: queue)].flatMap { devices[$0] }
    }

    func device(_ number: Int64) throws(StoreFailure) -> DeviceRow? { devices[number] }

    func token(ofDevice number: Int64) throws(StoreFailure) -> DeviceToken? {
        devices[number]?.token
    }

    func damagedDevice(
        _ token: DeviceToken, queue: Int64, kind: WakeKind
    ) throws(StoreFailure) -> DeviceRow? { nil }

    func quarantine(_ number: Int64) throws(StoreFailure) -> Bool { false }

    func make(
        _ token: DeviceToken, queue: Int64, kind: WakeKind, at now: WallInstant
    ) throws(StoreFailure) -> DeviceRow {
        lastDevice += 1
        return DeviceRow(
            number: lastDevice, queue: queue, token: token, kind: kind, touchedAt: now)
    }

    func save(_ device: DeviceRow) throws(StoreFailure) {
        devices[device.number] = device
        deviceNumbers[DeviceName(token: device.token, queue: device.queue)] = device.number
    }

    func sweepDevices(
        after number: Int64, untouchedSince instant: WallInstant, limit: Int
    ) throws(StoreFailure) -> SweptDevices {
        let looked = devices.values.filter { $0.number > number }
            .sorted { $0.number < $1.number }.prefix(limit)
        var removed = 0
        for device in looked where device.touchedAt < instant && device.pending == 0 {
            if try remove(device) { removed += 1 }
        }
        return SweptDevices(
            removed: removed, last: looked.count < limit ? nil : looked.last?.number)
    }

    func pullBackDevices(
        after number: Int64, through last: Int64, from bound: WallInstant, to now: WallInstant
    ) throws(StoreFailure) {
        for device in devices.values
        where device.number > number && device.number <= last && device.touchedAt > bound {
            devices[device.number]?.touchedAt = now
        }
    }

    func remove(_ device: DeviceRow) throws(StoreFailure) -> Bool {
        guard !wakes.values.contains(where: { $0.device == device.number }) else { return false }
        deviceNumbers[DeviceName(token: device.token, queue: device.queue)] = nil
        return devices.removeValue(forKey: device.number) != nil
    }

    // MARK: Wakes

    func makeNumber(at now: WallInstant) -> Int64 {
        lastNumber = max(lastNumber + 1, WakeID.firstNumber(at: now))
        return lastNumber
    }

    func insert(_ wake: borrowing WakeRow) throws(StoreFailure) {
        keep(copy wake)
    }

    private func keep(_ wake: WakeRow) {
        wakes[wake.number] = wake
        if wake.state == .pending {
            pendingNumbers.insert(wake.number)
        } else {
            pendingNumbers.remove(wake.number)
        }
    }

    func wake(_ number: Int64, withPayload: Bool) throws(StoreFailure) -> WakeRow? {
        guard var wake = wakes[number] else { return nil }
        if !withPayload { wake.payload = [] }
        return wake
    }

    /// Writes what the columns name and no more, so that a caller who changed something else finds
    /// out.
    func update(_ wake: borrowing WakeRow, _ columns: WakeColumns) throws(StoreFailure) {
        guard var row = wakes[wake.number] else { return }
        switch columns {
        case .schedule: row.takeSchedule(wake)
        case .content:
            row.takeSchedule(wake)
            row.payload = wake.payload
            row.expiration = wake.expiration
            row.collapseID = wake.collapseID
            row.urgency = wake.urgency
            row.coalescing = wake.coalescing
        case .claim:
            row.state = wake.state
            row.fence = wake.fence
            row.claimedAt = wake.claimedAt
            row.leaseUntil = wake.leaseUntil
            row.debit = wake.debit
        case .comeback:
            row.takeSchedule(wake)
            row.fence = wake.fence
            row.tries = wake.tries
            row.debit = wake.debit
            row.previousReason = wake.previousReason
        case .end:
            row.state = wake.state
            row.fence = wake.fence
            row.tries = wake.tries
            row.end = wake.end
            row.endedAt = wake.endedAt
            row.debit = nil
            row.payload = []
        case .launch: row.launchedAt = wake.launchedAt
        }
        keep(row)
    }

    func due(queue: Int64, at now: WallInstant, limit: Int) throws(StoreFailure) -> [Int64] {
        pending { $0.queue == queue && $0.dueAt <= now }.sorted {
            ($0.dueAt, $0.number) < ($1.dueAt, $1.number)
        }.prefix(limit).map(\.number)
    }

    func nextDue(queue: Int64) throws(StoreFailure) -> WallInstant? {
        pending { $0.queue == queue }.map(\.dueAt).min()
    }

    func overdue(at now: WallInstant, limit: Int) throws(StoreFailure) -> [Int64] {
        pending { $0.deadline <= now }.sorted {
            ($0.deadline, $0.number) < ($1.deadline, $1.number)
        }.prefix(limit).map(\.number)
    }

    func lapsed(at now: WallInstant, limit: Int) throws(StoreFailure) -> [Int64] {
        wakes.values.filter { $0.state == .claimed && $0.leaseUntil <= now }.sorted {
            ($0.leaseUntil, $0.number) < ($1.leaseUntil, $1.number)
        }.prefix(limit).map(\.number)
    }

    func wakes(
        before number: Int64, limit: Int
    ) throws(StoreFailure) -> (wakes: [WakeRow], last: Int64?) {
        let found = wakes.values.filter { $0.number < number }.sorted { $0.number > $1.number }
            .prefix(limit).map { wake in
                var wake = wake
                wake.payload = []
                return wake
            }
        return (found, found.count < limit ? nil : found.last?.number)
    }

    func removeWakes(below number: Int64, limit: Int) throws(StoreFailure) -> Int {
        let old = wakes.values.filter { $0.number < number && $0.state.isEnd }
            .map(\.number).sorted().prefix(limit)
        for number in old {
            wakes[number] = nil
            history[number] = nil
        }
        return old.count
    }

    private func pending(_ condition: (WakeRow) -> Bool) -> [WakeRow] {
        pendingNumbers.compactMap { wakes[$0] }.filter(condition)
    }

    // MARK: Attempts

    func add(_ attempt: AttemptRecord, to wake: borrowing WakeRow) throws(StoreFailure) {
        history[wake.number, default: []].append(attempt)
        history[wake.number] = history[wake.number]?.suffix(AttemptRecord.maximumKept)
    }

    func attempts(of number: Int64) throws(StoreFailure) -> [AttemptRecord] {
        history[number] ?? []
    }

    // MARK: Beside the wakes

    func mark(
        _ key: [UInt8], at now: WallInstant
    ) throws(StoreFailure) -> KnownMark? {
        guard let known = marks[key], known.mark.expiresAt > now else { return nil }
        return KnownMark(
            request: known.mark.request, wake: known.answer.id.number, answer: known.answer)
    }

    func remember(
        _ mark: IdempotencyKey, for answer: AdmittedWake
    ) throws(StoreFailure) {
        marks[mark.key] = (mark, answer)
    }

    func forgetMarks(at now: WallInstant, limit: Int) throws(StoreFailure) -> Int {
        let old = marks.values.filter { $0.mark.expiresAt <= now }.sorted {
            $0.mark.expiresAt == $1.mark.expiresAt
                ? $0.mark.key.lexicographicallyPrecedes($1.mark.key)
                : $0.mark.expiresAt < $1.mark.expiresAt
        }.prefix(limit)
        for entry in old { marks[entry.mark.key] = nil }
        return old.count
    }

    func add(_ entry: FeedbackRow) throws(StoreFailure) -> Int64 {
        var entry = entry
        entry.number = makeNumber(at: entry.at)
        feed.append(entry)
        return entry.number
    }

    func feedback(
        after cursor: Int64, limit: Int, queue: Int64?
    ) throws(StoreFailure) -> [FeedbackRow] {
        let found = feed.filter { $0.number > cursor && (queue == nil || $0.queue == queue) }
        return Array(found.prefix(limit))
    }

    func feedback(_ number: Int64) throws(StoreFailure) -> FeedbackRow? {
        feed.first { $0.number == number }
    }

    func removeFeedback(
        before instant: WallInstant, orBelow number: Int64, limit: Int
    ) throws(StoreFailure) -> Int {
        let old = Set(
            feed.filter { $0.at < instant || $0.number < number }.prefix(limit).map(\.number))
        feed.removeAll { old.contains($0.number) }
        return old.count
    }

    func add(
        _ webhook: WebhookSubject, for endpoint: WebhookEndpointID, at now: WallInstant
    ) throws(StoreFailure) {
        webhooks[makeNumber(at: now)] = Webhook(
            endpoint: endpoint, subject: webhook, createdAt: now, dueAt: now)
    }

    func claimWebhooks(
        of endpoint: WebhookEndpointID, at now: WallInstant, until leaseEnd: WallInstant,
        limit: Int
    ) throws(StoreFailure) -> [WebhookRow] {
        longestDue(of: endpoint, at: now, limit: limit).map { number, webhook in
            webhooks[number]?.fence += 1
            webhooks[number]?.dueAt = leaseEnd
            webhooks[number]?.tries += 1
            return row(number, webhook, fence: webhook.fence + 1)
        }
    }

    func webhooks(
        of endpoint: WebhookEndpointID, limit: Int
    ) throws(StoreFailure) -> [WebhookRow] {
        longestDue(of: endpoint, at: nil, limit: limit).map { row($0, $1, fence: $1.fence) }
    }

    /// Those that are due at an instant, or all.
    private func longestDue(
        of endpoint: WebhookEndpointID, at now: WallInstant?, limit: Int
    ) -> [(Int64, Webhook)] {
        let found = webhooks.filter { _, webhook in
            webhook.endpoint == endpoint && now.map { webhook.dueAt <= $0 } ?? true
        }.sorted { ($0.value.dueAt, $0.key) < ($1.value.dueAt, $1.key) }
        return found.prefix(limit).map { ($0.key, $0.value) }
    }

    private func row(_ number: Int64, _ webhook: Webhook, fence: Int64) -> WebhookRow {
        WebhookRow(
            ticket: WebhookItem.Ticket(
                endpoint: webhook.endpoint, number: number, fence: fence),
            subject: webhook.subject, createdAt: webhook.createdAt, tries: webhook.tries)
    }

    func removeWebhook(_ ticket: WebhookItem.Ticket) throws(StoreFailure) -> Bool {
        guard webhooks[ticket.number]?.fence == ticket.fence else { return false }
        webhooks[ticket.number] = nil
        return true
    }

    func webhookEndpoints() throws(StoreFailure) -> [WebhookEndpointID] {
        Set(webhooks.values.map(\.endpoint)).sorted { $0.rawValue < $1.rawValue }
    }

    func hasDueWebhook(
        of endpoint: WebhookEndpointID, at now: WallInstant
    ) throws(StoreFailure) -> Bool {
        webhooks.values.contains { $0.endpoint == endpoint && $0.dueAt <= now }
    }

    func moveWebhook(
        _ ticket: WebhookItem.Ticket, to heir: WebhookEndpointID
    ) throws(StoreFailure) {
        webhooks[ticket.number]?.endpoint = heir
    }

    func removeWebhooks(
        of endpoint: WebhookEndpointID, limit: Int
    ) throws(StoreFailure) -> Int {
        let removed = webhooks.filter { $0.value.endpoint == endpoint }.keys.sorted()
            .prefix(limit)
        for number in removed { webhooks[number] = nil }
        return removed.count
    }

    func putBackWebhook(
        _ ticket: WebhookItem.Ticket, dueAt: WallInstant
    ) throws(StoreFailure) {
        if webhooks[ticket.number]?.fence == ticket.fence {
            webhooks[ticket.number]?.dueAt = dueAt
        }
    }

    // MARK: Time

    func pullBack(from bound: WallInstant, to now: WallInstant) throws(StoreFailure) {
        for (number, wake) in wakes {
            if wake.state == .pending, wake.dueAt > bound { wakes[number]?.dueAt = now }
            if wake.state == .claimed, wake.leaseUntil > bound {
                wakes[number]?.leaseUntil = now.advanced(bySeconds: 3_600)
            }
        }
        for (number, webhook) in webhooks where webhook.dueAt > bound {
            webhooks[number]?.dueAt = now
        }
        for (key, known) in marks where known.mark.expiresAt > bound {
            let mark = IdempotencyKey(
                key: key, request: known.mark.request, expiresAt: bound)
            marks[key] = (mark, known.answer)
        }
    }

    // MARK: Counting

    func add(_ amount: Int, to counter: StoreCounter) { counters[counter, default: 0] += amount }

    func value(of counter: StoreCounter) throws(StoreFailure) -> Int {
        counters[counter, default: 0]
    }

    func countByState() throws(StoreFailure) -> [WakeState: Int] {
        wakes.values.reduce(into: [:]) { $0[$1.state, default: 0] += 1 }
    }
}

extension WakeRow {
    fileprivate mutating func takeSchedule(_ other: borrowing WakeRow) {
        state = other.state
        dueAt = other.dueAt
        notBefore = other.notBefore
        deadline = other.deadline
        holds = other.holds
    }
}
