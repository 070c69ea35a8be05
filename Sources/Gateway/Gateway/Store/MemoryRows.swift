// SPDX-License-Identifier: Apache-2.0

import WakeModel

/// Rows in dictionaries. Lookups by name on the hot path take constant time, so that a batch of ten
/// thousand is cheap; due wakes of queues are found by a scan of all pending ones.
final class MemoryRows: RetainedRows {
    private(set) var queueTable = QueueTable()
    private var devices: [Int64: DeviceRow] = [:]
    private var deviceNumbers: [ReadSet.DeviceName: Int64] = [:]
    private var lastDevice: Int64 = 0
    private var wakes: [Int64: WakeRow] = [:]
    private var history: [Int64: [AttemptRecord]] = [:]
    private var marks: [[UInt8]: (mark: IdempotencyKey, answer: AdmittedWake)] = [:]
    private var feed: [FeedbackRow] = []
    private var outcomes: [(cursor: Int64, wake: Int64)] = []
    private var lastOutcome: Int64 = 0
    private var webhooks: [Int64: Webhook] = [:]
    private var counters: [StoreCounter: Int] = [:]
    private var lastNumber: Int64 = 0
    /// The number of writes of each device.
    private var deviceVersions: [Int64: Int64] = [:]
    /// The number of writes of each wake.
    private var wakeVersions: [Int64: Int64] = [:]

    /// The numbers of pending wakes.
    private var pendingNumbers: Set<Int64> = []

    private struct Webhook {
        var endpoint: WebhookEndpointID
        let subject: WebhookSubject
        let createdAt: WallInstant
        var dueAt: WallInstant
        var fence: Int64 = 0
        var tries = 0
    }

    init() {}

    /// A copy of the rows, independent of the original.
    init(copying other: MemoryRows) {
        queueTable = other.queueTable
        devices = other.devices
        deviceNumbers = other.deviceNumbers
        lastDevice = other.lastDevice
        wakes = other.wakes
        history = other.history
        marks = other.marks
        feed = other.feed
        outcomes = other.outcomes
        lastOutcome = other.lastOutcome
        webhooks = other.webhooks
        counters = other.counters
        lastNumber = other.lastNumber
        deviceVersions = other.deviceVersions
        wakeVersions = other.wakeVersions
        pendingNumbers = other.pendingNumbers
    }

    // MARK: Loading

    /// The rows that a decision needs.
    func load(_ reads: ReadSet) -> LoadedRows {
        var rows = LoadedRows()
        rows.queues = queueTable
        rows.lastNumber = lastNumber
        for read in reads.devices { load(read.name, read.parts, &rows) }
        for number in reads.deviceNumbers { load(device: number, [], &rows) }
        for name in reads.users {
            let numbers = devices.values.filter {
                $0.user == name.user && $0.queue == name.queue
            }.map(\.number).sorted().prefix(ReadSet.userDeviceCount)
            rows.users[name] = Array(numbers)
            for number in numbers { load(device: number, [], &rows) }
        }
        for scan in reads.due { load(scan, &rows) }
        for scan in reads.scans { load(scan, &rows) }
        for (number, parts) in reads.wakes { load(wake: number, parts, &rows) }
        for (number, count) in reads.chains { load(chain: number, count, &rows) }
        for key in reads.keys { rows.keys[key] = .some(known(key)) }
        for number in reads.attempts { rows.attempts[number] = history[number] ?? [] }
        for number in reads.feedback {
            rows.feedback[number] = .some(feed.first { $0.number == number })
        }
        for number in reads.webhooks { load(webhook: number, &rows) }
        for counter in reads.counters { rows.counters[counter] = value(of: counter) }
        for queue in reads.nextDue {
            rows.nextDue[queue] = .some(pending { $0.queue == queue }.map(\.dueAt).min())
        }
        for queue in reads.waiting {
            rows.waiting[queue] = min(pending { $0.queue == queue }.count, ReadSet.waitingCount)
        }
        if reads.countsStates {
            rows.states = wakes.values.reduce(into: [:]) { $0[$1.state, default: 0] += 1 }
        }
        return rows
    }

    private func load(
        _ name: ReadSet.DeviceName, _ parts: ReadSet.Parts, _ rows: inout LoadedRows
    ) {
        let number: Int64
        if let known = rows.deviceNumbers[name] ?? deviceNumbers[name] {
            number = known
        } else {
            // Never reused, whatever the outcome of the decision.
            lastDevice += 1
            number = lastDevice
        }
        rows.deviceNumbers[name] = number
        load(device: number, parts, &rows)
    }

    private func load(
        device number: Int64, _ parts: ReadSet.Parts, _ rows: inout LoadedRows
    ) {
        guard let row = devices[number] else {
            rows.devices[number] = .absent
            return
        }
        rows.devices[number] = .found(row, version: deviceVersions[number, default: 0])
        if row.pending != 0 {
            load(wake: row.pending, parts.intersection(.payload), &rows)
        }
    }

    private func load(wake number: Int64, _ parts: ReadSet.Parts, _ rows: inout LoadedRows) {
        guard var row = wakes[number] else {
            rows.wakes[number] = .absent
            return
        }
        var hasPayload = parts.contains(.payload)
        if case .found(_, true, _) = rows.wakes[number] { hasPayload = true }
        if !hasPayload {
            row.payload = []
            row.parts = []
        }
        rows.wakes[number] = .found(
            row, hasPayload: hasPayload, version: wakeVersions[number, default: 0])
        if parts.contains(.device) { load(device: row.device, [], &rows) }
    }

    private func load(chain first: Int64, _ count: Int, _ rows: inout LoadedRows) {
        var number = first
        for _ in 0...count {
            guard number != 0, let wake = wakes[number] else { return }
            load(wake: number, [], &rows)
            number = wake.previous
        }
    }

    private func load(_ scan: ReadSet.DueScan, _ rows: inout LoadedRows) {
        var rest = scan.limit
        for share in scan.shares {
            let limit = min(share.limit, rest)
            guard limit > 0 else { continue }
            let due = pending { $0.queue == share.queue && $0.dueAt <= scan.now }
            let numbers = due.sorted { ($0.dueAt, $0.number) < ($1.dueAt, $1.number) }
                .prefix(limit).map(\.number)
            rows.due[share.queue] = LoadedRows.DueWakes(
                now: scan.now, limit: limit, numbers: numbers)
            for number in numbers { load(wake: number, [.payload, .device], &rows) }
            rest -= numbers.count
        }
    }

    private func load(_ scan: ReadSet.Scan, _ rows: inout LoadedRows) {
        switch scan {
        case .overdue(let now, let limit):
            let found = pending { $0.deadline <= now }.sorted {
                ($0.deadline, $0.number) < ($1.deadline, $1.number)
            }
            rows.scans[scan] = found.prefix(limit).map(\.number)
            for wake in found.prefix(limit) { load(wake: wake.number, .device, &rows) }
        case .lapsed(let now, let limit):
            let found = wakes.values.filter { $0.state == .claimed && $0.leaseUntil <= now }
                .sorted { ($0.leaseUntil, $0.number) < ($1.leaseUntil, $1.number) }
            rows.scans[scan] = found.prefix(limit).map(\.number)
            for wake in found.prefix(limit) { load(wake: wake.number, .device, &rows) }
        case .wakes(let number, let limit):
            let found = wakes.keys.filter { $0 < number }.sorted(by: >).prefix(limit)
            rows.scans[scan] = Array(found)
            for number in found { load(wake: number, [], &rows) }
        case .feedback(let cursor, let limit, let queue):
            let found = feed.filter { $0.number > cursor && (queue == nil || $0.queue == queue) }
            rows.scans[scan] = found.prefix(limit).map(\.number)
            for row in found.prefix(limit) { rows.feedback[row.number] = .some(row) }
        case .outcomes(let cursor, let limit):
            let found = outcomes.filter { $0.cursor > cursor }.prefix(limit)
            rows.scans[scan] = found.map(\.cursor)
            for entry in found {
                rows.outcomes[entry.cursor] = entry.wake
                load(wake: entry.wake, .device, &rows)
            }
        case .lastOutcome: rows.scans[scan] = [lastOutcome]
        case .dueWebhooks(let endpoint, let now, let limit):
            let found = longestDue(of: endpoint, at: now, limit: limit).map(\.0)
            rows.scans[scan] = found
            for number in found { load(webhook: number, &rows) }
        }
    }

    private func load(webhook number: Int64, _ rows: inout LoadedRows) {
        guard let webhook = webhooks[number] else {
            rows.webhooks[number] = .absent
            return
        }
        rows.webhooks[number] = .found(row(number, webhook, fence: webhook.fence))
    }

    private func known(_ key: [UInt8]) -> KnownKey? {
        guard let known = marks[key] else { return nil }
        return KnownKey(
            request: known.mark.request, wake: known.answer.id.number, answer: known.answer,
            expiresAt: known.mark.expiresAt)
    }

    // MARK: Writing

    /// Writes all changes if their rows have not changed; returns whether it did.
    func write(_ changes: Changes) -> Bool {
        guard isCurrent(changes) else { return false }
        lastNumber = max(lastNumber, changes.lastNumber)
        for queue in changes.newQueues { queueTable.insert(queue) }
        for (number, change) in changes.queues {
            guard var queue = queueTable[number] else { continue }
            queue.apply(change)
            queueTable.insert(queue)
        }
        for wake in changes.newWakes { keep(wake) }
        for change in changes.wakes {
            guard var wake = wakes[change.row.number] else { continue }
            wake.take(change.columns, from: change.row)
            keep(wake)
        }
        for attempt in changes.attempts {
            history[attempt.wake, default: []].append(attempt.record)
            history[attempt.wake] = history[attempt.wake]?.suffix(AttemptRecord.maximumKept)
        }
        for (number, change) in changes.devices {
            if change.kind == .forgotten, remove(change.row) { continue }
            let device = change.row
            devices[number] = device
            deviceVersions[number, default: 0] += 1
            deviceNumbers[ReadSet.DeviceName(token: device.token, queue: device.queue)] = number
        }
        for new in changes.keys { marks[new.key.key] = (new.key, new.answer) }
        writeFeeds(changes)
        for (counter, amount) in changes.counters { add(amount, to: counter) }
        return true
    }

    private func writeFeeds(_ changes: Changes) {
        let entries = changes.feedback.map { entry in
            var entry = entry
            entry.number = makeNumber(at: entry.at)
            return entry
        }
        feed += entries
        if !changes.outcomes.isEmpty {
            let first = WakeID.firstNumber(at: changes.outcomesAt)
            let start = max(lastOutcome + 1, first)
            outcomes += changes.outcomes.enumerated().map { (start + Int64($0.offset), $0.element) }
            lastOutcome = start + Int64(changes.outcomes.count) - 1
        }
        for new in changes.newWebhooks {
            var subject = new.subject
            if case .tokenDead(let place) = subject {
                subject = .tokenDead(feedback: entries[Int(place)].number)
            }
            webhooks[makeNumber(at: new.at)] = Webhook(
                endpoint: new.endpoint, subject: subject, createdAt: new.at, dueAt: new.at)
        }
        for change in changes.webhooks {
            switch change.kind {
            case .removed: webhooks[change.number] = nil
            case .due(let instant): webhooks[change.number]?.dueAt = instant
            case .leased(let until):
                webhooks[change.number]?.fence += 1
                webhooks[change.number]?.tries += 1
                webhooks[change.number]?.dueAt = until
            }
        }
    }

    /// Whether no row of the decision has changed since.
    private func isCurrent(_ changes: Changes) -> Bool {
        changes.newQueues.allSatisfy { queueTable[$0.number] == nil && queueTable[$0.queue] == nil }
            && changes.newWakes.allSatisfy { $0.number > lastNumber }
            && changes.wakes.allSatisfy {
                wakes[$0.row.number] != nil && wakeVersions[$0.row.number, default: 0] == $0.version
            }
            && changes.devices.values.allSatisfy { change in
                let row = change.row
                let name = ReadSet.DeviceName(token: row.token, queue: row.queue)
                return change.kind == .made
                    ? deviceNumbers[name] == nil
                    : devices[row.number] != nil
                        && deviceVersions[row.number, default: 0] == change.version
            }
            && changes.keys.allSatisfy { (marks[$0.key.key] != nil) == $0.replaces }
            && changes.webhooks.allSatisfy { webhooks[$0.number]?.fence == $0.fence }
    }

    private func keep(_ wake: WakeRow) {
        wakes[wake.number] = wake
        wakeVersions[wake.number, default: 0] += 1
        if wake.state == .pending {
            pendingNumbers.insert(wake.number)
        } else {
            pendingNumbers.remove(wake.number)
        }
    }

    // MARK: Queues

    func queues() -> [WakeQueueRow] { queueTable.all }

    func queue(_ number: Int64) throws(StoreFailure) -> WakeQueueRow {
        guard let row = queueTable[number] else {
            throw StoreFailure(
                DamagedRow(table: .queue, key: "\(number)", problem: "missing"))
        }
        return row
    }

    func save(_ queue: WakeQueueRow) { queueTable.insert(queue) }

    // MARK: Devices

    func sweepDevices(
        after number: Int64, untouchedSince instant: WallInstant, limit: Int
    ) -> SweptDevices {
        let looked = devices.values.filter { $0.number > number }
            .sorted { $0.number < $1.number }.prefix(limit)
        var removed = 0
        for device in looked
        where device.touchedAt < instant && device.pending == 0 && device.user == nil {
            if remove(device) { removed += 1 }
        }
        return SweptDevices(
            removed: removed, last: looked.count < limit ? nil : looked.last?.number)
    }

    func pullBackDevices(
        after number: Int64, through last: Int64, from bound: WallInstant, to now: WallInstant
    ) {
        for device in devices.values
        where device.number > number && device.number <= last && device.touchedAt > bound {
            devices[device.number]?.touchedAt = now
            deviceVersions[device.number, default: 0] += 1
        }
    }

    /// Removes a device, unless a wake of it still exists; returns whether it did. Its latest wake
    /// may be removed before an older one that has not ended.
    private func remove(_ device: DeviceRow) -> Bool {
        guard !wakes.values.contains(where: { $0.device == device.number }) else { return false }
        deviceNumbers[ReadSet.DeviceName(token: device.token, queue: device.queue)] = nil
        deviceVersions[device.number] = nil
        return devices.removeValue(forKey: device.number) != nil
    }

    // MARK: Wakes

    func makeNumber(at now: WallInstant) -> Int64 {
        lastNumber = max(lastNumber + 1, WakeID.firstNumber(at: now))
        return lastNumber
    }

    func wake(_ number: Int64) -> WakeRow? { wakes[number] }

    func removeWakes(below number: Int64, limit: Int) -> Int {
        let old = wakes.values.filter { $0.number < number && $0.state.isEnd }
            .map(\.number).sorted().prefix(limit)
        for number in old {
            wakes[number] = nil
            wakeVersions[number] = nil
            history[number] = nil
        }
        return old.count
    }

    private func pending(_ condition: (WakeRow) -> Bool) -> [WakeRow] {
        pendingNumbers.compactMap { wakes[$0] }.filter(condition)
    }

    // MARK: Beside the wakes

    func forgetMarks(at now: WallInstant, limit: Int) -> Int {
        let old = marks.values.filter { $0.mark.expiresAt <= now }.sorted {
            $0.mark.expiresAt == $1.mark.expiresAt
                ? $0.mark.key.lexicographicallyPrecedes($1.mark.key)
                : $0.mark.expiresAt < $1.mark.expiresAt
        }.prefix(limit)
        for entry in old { marks[entry.mark.key] = nil }
        return old.count
    }

    func feedback(_ number: Int64) -> FeedbackRow? { feed.first { $0.number == number } }

    func removeFeedback(
        before instant: WallInstant, orBelow number: Int64, limit: Int
    ) -> Int {
        let old = Set(
            feed.filter { $0.at < instant || $0.number < number }.prefix(limit).map(\.number))
        feed.removeAll { old.contains($0.number) }
        return old.count
    }

    func removeOutcomes(below cursor: Int64, limit: Int) -> Int {
        let count = min(limit, outcomes.prefix { $0.cursor < cursor }.count)
        outcomes.removeFirst(count)
        return count
    }

    func webhooks(
        of endpoint: WebhookEndpointID, limit: Int
    ) -> [WebhookRow] {
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

    func removeWebhook(_ ticket: WebhookItem.Ticket) -> Bool {
        guard webhooks[ticket.number]?.fence == ticket.fence else { return false }
        webhooks[ticket.number] = nil
        return true
    }

    func webhookEndpoints() -> [WebhookEndpointID] {
        Set(webhooks.values.map(\.endpoint)).sorted { $0.rawValue < $1.rawValue }
    }

    func moveWebhook(
        _ ticket: WebhookItem.Ticket, to heir: WebhookEndpointID
    ) {
        webhooks[ticket.number]?.endpoint = heir
    }

    func removeWebhooks(
        of endpoint: WebhookEndpointID, limit: Int
    ) -> Int {
        let removed = webhooks.filter { $0.value.endpoint == endpoint }.keys.sorted()
            .prefix(limit)
        for number in removed { webhooks[number] = nil }
        return removed.count
    }

    // MARK: Time

    func pullBack(from bound: WallInstant, to now: WallInstant) {
        for (number, wake) in wakes {
            if wake.state == .pending, wake.dueAt > bound {
                wakes[number]?.dueAt = now
                wakeVersions[number, default: 0] += 1
            }
            if wake.state == .claimed, wake.leaseUntil > bound {
                wakes[number]?.leaseUntil = now.advanced(bySeconds: 3_600)
                wakeVersions[number, default: 0] += 1
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

    func value(of counter: StoreCounter) -> Int {
        counters[counter, default: 0]
    }
}
