// SPDX-License-Identifier: Apache-2.0

import WakeBudget
import WakeModel

/// The reason why a row is not available to a decision.
public enum RowFault: Error, Hashable, Sendable {
    /// It was not loaded. It is added to ``WorkingSet/missing``, and the decision is repeated after
    /// loading it.
    case notLoaded
    /// It, or a row that it needs, cannot be read.
    case damaged(StoreFailure)
}

/// The rows of one decision: the loaded ones, with the changes of the decision.
///
/// Changes are visible to later reads. A row that was not loaded stops the decision with
/// ``RowFault/notLoaded``; so rows that are found through other rows need no separate code. Not
/// `Sendable`: a working set exists for one decision only.
public final class WorkingSet {
    let loaded: LoadedRows
    let rules: StoreRules
    private(set) var changes = Changes()
    /// Rows that were read and are not loaded.
    private(set) var missing = ReadSet()
    /// Rows that were found to be damaged because they contradict others.
    private(set) var damaged: [DamagedRow] = []
    private var queueTable: QueueTable
    /// Queues that the decision has seen, with their policies.
    private var seen: [SeenQueue] = []
    /// The indexes of new idempotency keys in the changes.
    private var newKeys: [[UInt8]: Int] = [:]
    /// When the first wake is due that the decision leaves waiting.
    private(set) var nextDue: WallInstant?

    /// A working set over loaded rows.
    init(_ loaded: LoadedRows, under rules: StoreRules) {
        self.loaded = loaded
        self.rules = rules
        queueTable = loaded.queues
        changes.lastNumber = loaded.lastNumber
    }

    /// Records that a wake waits until then.
    func noteDue(_ wake: borrowing WakeRow) { nextDue = min(nextDue ?? wake.dueAt, wake.dueAt) }

    // MARK: Faults

    /// Runs a part of a decision on which the other parts do not depend; `nil` when it needs a row
    /// that is not loaded. The decision is then repeated, and the parts after this one only collect
    /// the rows that they need, so that one round loads the rows of all parts.
    func part<Value>(
        _ body: () throws(RowFault) -> Value
    ) throws(RowFault) -> Value? {
        do throws(RowFault) {
            return try body()
        } catch {
            guard error == .notLoaded else { throw error }
            return nil
        }
    }

    /// The result of `look`, or `nil` when a row that it reads is damaged.
    func readable<Row>(_ look: () throws(RowFault) -> Row?) throws(RowFault) -> Row? {
        do throws(RowFault) {
            return try look()
        } catch {
            guard case .damaged = error else { throw error }
            return nil
        }
    }

    private func notLoaded(_ note: (inout ReadSet) -> Void) -> RowFault {
        note(&missing)
        return .notLoaded
    }

    // MARK: Queues

    /// A queue, and the policy of its devices.
    struct SeenQueue {
        let row: WakeQueueRow
        let policy: BudgetPolicy
    }

    /// All queues, in the order of their numbers.
    var queues: [WakeQueueRow] { queueTable.all }

    /// The queue's row, if it was ever used.
    func knownQueue(_ key: WakeQueueKey) -> WakeQueueRow? { queueTable[key] }

    /// The queue with this number.
    func queue(_ number: Int64) throws(RowFault) -> SeenQueue {
        for queue in seen where queue.row.number == number { return queue }
        guard let row = queueTable[number] else {
            let row = DamagedRow(table: .queue, key: "\(number)", problem: "missing")
            damaged.append(row)
            throw .damaged(StoreFailure(row))
        }
        return see(row)
    }

    /// The queue of this name, which is made if it was never used.
    func queue(of key: WakeQueueKey) -> SeenQueue {
        for known in seen where known.row.queue == key { return known }
        if let row = queueTable[key] { return see(row) }
        let row = WakeQueueRow(number: queueTable.nextNumber, queue: key)
        queueTable.insert(row)
        changes.newQueues.append(row)
        return see(row)
    }

    private func see(_ row: WakeQueueRow) -> SeenQueue {
        let queue = SeenQueue(row: row, policy: rules.policy(of: row))
        seen.append(queue)
        return queue
    }

    /// Changes a queue's row.
    func change(_ queue: WakeQueueRow, _ change: Changes.QueueChange) {
        guard var row = queueTable[queue.number] else { return }
        row.apply(change)
        queueTable.insert(row)
        seen.removeAll { $0.row.number == row.number }
        changes.queues.append((row.number, change))
    }

    // MARK: Devices

    /// The device of this token in a queue, if it is known.
    func device(_ token: DeviceToken, queue: Int64) throws(RowFault) -> DeviceRow? {
        try device(number(of: token, queue: queue))
    }

    private func number(of token: DeviceToken, queue: Int64) throws(RowFault) -> Int64 {
        let name = ReadSet.DeviceName(token: token, queue: queue)
        guard let number = loaded.deviceNumbers[name] else {
            throw notLoaded { $0.devices.append((name, [])) }
        }
        return number
    }

    /// The device with this number; `nil` when it does not exist.
    func device(_ number: Int64) throws(RowFault) -> DeviceRow? {
        if let change = changes.devices[number] { return change.row }
        switch loaded.devices[number] {
        case .found(let row, _): return row
        case .absent: return nil
        case .damaged(let failure, _): throw .damaged(failure)
        case nil: throw notLoaded { $0.deviceNumbers.insert(number) }
        }
    }

    /// The numbers of the devices that are registered under a user in a queue.
    func numbers(ofDevicesOf user: UserID, queue: Int64) throws(RowFault) -> [Int64] {
        let name = ReadSet.UserName(user: user, queue: queue)
        guard let numbers = loaded.users[name] else {
            throw notLoaded { $0.users.insert(name) }
        }
        return numbers
    }

    /// The token of the device with this number, even if its ledger is damaged; `nil` when the
    /// device does not exist.
    func token(ofDevice number: Int64) throws(RowFault) -> DeviceToken? {
        if case .damaged(_, let rest?) = loaded.devices[number] { return rest.token }
        return try device(number)?.token
    }

    /// A device whose ledger cannot be read, with an empty one, for a command that forgets it;
    /// `nil` for every other device.
    func damagedDevice(_ token: DeviceToken, queue: Int64) throws(RowFault) -> DeviceRow? {
        let number = try number(of: token, queue: queue)
        guard changes.devices[number] == nil else { return nil }
        if case .damaged(_, let rest) = loaded.devices[number] { return rest }
        return nil
    }

    /// A row for a device that is not known yet; it is kept once it is saved.
    func makeDevice(
        _ token: DeviceToken, queue: Int64, kind: WakeKind, at now: WallInstant
    ) throws(RowFault) -> DeviceRow {
        DeviceRow(
            number: try number(of: token, queue: queue), queue: queue, token: token, kind: kind,
            touchedAt: now)
    }

    /// Writes a device's row.
    func save(_ device: inout DeviceRow, at now: WallInstant) {
        device.touchedAt = now
        change(device, .changed)
    }

    /// Removes a device, unless a wake of it is still there or another device cannot be found
    /// without it; then its row is written with the token only.
    func forget(_ device: inout DeviceRow) {
        device.touchedAt = WallInstant(millisecondsSinceEpoch: 0)
        change(device, .forgotten)
    }

    private func change(_ device: DeviceRow, _ kind: Changes.DeviceChange.Kind) {
        if let place = changes.devices.index(forKey: device.number) {
            changes.devices.values[place].row = device
            if kind == .forgotten { changes.devices.values[place].kind = kind }
            return
        }
        let (isThere, version): (Bool, Int64) =
            switch loaded.devices[device.number] {
            case .found(_, let version): (true, version)
            case .damaged: (true, 0)
            case .absent, nil: (false, 0)
            }
        if changes.devices.isEmpty { changes.devices.reserveCapacity(loaded.devices.count) }
        changes.devices[device.number] = Changes.DeviceChange(
            row: device, kind: isThere ? kind : .made, version: version)
    }

    // MARK: Wakes

    /// A number that no wake, no entry of the feedback feed and no webhook has had, at or after the
    /// first of this instant. It is derived from the time, so a store that was restored from a
    /// backup does not assign the numbers of the lost one again. It is above `latest`, the device's
    /// latest wake: along a device's chain numbers rise.
    func makeNumber(at now: WallInstant, above latest: Int64) -> Int64 {
        changes.lastNumber = loaded.numbers.number(
            after: changes.lastNumber, andLatest: latest, at: now)
        return changes.lastNumber
    }

    /// Adds a wake.
    func insert(_ wake: WakeRow) { changes.newWakes.append(wake) }

    /// The wake with this number, mostly with an empty payload if that is not asked for. With
    /// `chain`, this number of earlier ones of the same device are loaded too.
    func wake(
        _ number: Int64, withPayload: Bool = false, chain: Int = 0
    ) throws(RowFault) -> WakeRow? {
        let changed = changes.wake(number)
        if let changed, changed.hasPayload || !withPayload { return changed.row }
        switch loaded.wakes[number] {
        case .found(let row, let hasPayload, _) where hasPayload || !withPayload:
            guard var changed else { return row }
            changed.row.payload = row.payload
            changed.row.parts = row.parts
            return changed.row
        case .absent: return nil
        case .damaged(let failure, _): throw .damaged(failure)
        default:
            throw notLoaded { missing in
                if chain > 0 { missing.chains[number] = chain }
                missing.add(wake: number, withPayload ? .payload : [])
            }
        }
    }

    /// Writes these columns of a wake's row again.
    func update(_ wake: borrowing WakeRow, _ columns: WakeColumns) {
        if changes.wakes.isEmpty { changes.reserve(wakeChanges: loaded.wakes.count) }
        changes.update(wake, columns, loaded: loaded.wakes[wake.number])
    }

    /// The wake with this number; `nil` when it does not exist, and when it cannot be read: then it
    /// ends as damaged. For commands that write.
    func liveWake(
        _ number: Int64, withPayload: Bool = false
    ) throws(RowFault) -> WakeRow? {
        do throws(RowFault) {
            return try wake(number, withPayload: withPayload)
        } catch {
            guard case .damaged = error else { throw error }
            quarantine(number)
            return nil
        }
    }

    /// The wake with this number; `nil` when it is gone or cannot be read.
    func readableWake(_ number: Int64, chain: Int = 0) throws(RowFault) -> WakeRow? {
        try readable { () throws(RowFault) in try wake(number, chain: chain) }
    }

    /// The device with this number; `nil` when it is gone or cannot be read.
    func readableDevice(_ number: Int64) throws(RowFault) -> DeviceRow? {
        try readable { () throws(RowFault) in try device(number) }
    }

    /// The queue with this number; `nil` when it cannot be read.
    func readableQueue(_ number: Int64) throws(RowFault) -> SeenQueue? {
        try readable { () throws(RowFault) in try queue(number) }
    }

    /// Ends a wake that cannot be sent because it, or its queue, cannot be read. Its end is not
    /// reported, since its owner is not known.
    func quarantine(_ number: Int64) {
        guard !changes.damagedWakes.contains(number) else { return }
        let hasEnded: Bool
        switch loaded.wakes[number] {
        case .found(let row, _, _): hasEnded = row.state.isEnd
        case .damaged(_, let ended): hasEnded = ended
        case .absent, nil: return
        }
        guard !hasEnded else { return }
        changes.damagedWakes.append(number)
        add(1, to: .ended(.damaged))
    }

    /// A wake in the wrong place: another process wrote to the same rows, or the row is damaged.
    /// Its state is kept, and its place is corrected.
    func misplaced(_ wake: borrowing WakeRow) {
        update(wake, wake.state.isEnd ? .end : .schedule)
    }

    /// Pending wakes of a queue that are due, the longest due first.
    func due(queue: Int64, at now: WallInstant, limit: Int) throws(RowFault) -> [Int64] {
        guard let due = loaded.due[queue], due.now == now,
            due.limit >= limit || due.numbers.count < due.limit
        else {
            let share = ReadSet.DueScan.Share(queue: queue, limit: limit)
            throw notLoaded {
                $0.due.append(ReadSet.DueScan(shares: [share], now: now, limit: limit))
            }
        }
        return Array(due.numbers.prefix(limit))
    }

    /// When the next pending wake of a queue is due.
    func nextDue(queue: Int64) throws(RowFault) -> WallInstant? {
        guard let due = loaded.nextDue[queue] else {
            throw notLoaded { $0.nextDue.insert(queue) }
        }
        return due
    }

    /// How many wakes of a queue are pending, up to ``ReadSet/waitingCount``.
    func waiting(queue: Int64) throws(RowFault) -> Int {
        guard let count = loaded.waiting[queue] else {
            throw notLoaded { $0.waiting.insert(queue) }
        }
        return count
    }

    /// The numbers of the rows that a search finds.
    func numbers(_ scan: ReadSet.Scan) throws(RowFault) -> [Int64] {
        guard let numbers = loaded.scans[scan] else { throw notLoaded { $0.scans.insert(scan) } }
        return numbers
    }

    /// The count of wakes in each state.
    func countByState() throws(RowFault) -> [WakeState: Int] {
        guard let states = loaded.states else { throw notLoaded { $0.countsStates = true } }
        return states
    }

    // MARK: Attempts

    /// Adds an attempt to a wake's history.
    func note(_ result: AttemptResult, of wake: borrowing WakeRow, at now: WallInstant) {
        changes.attempts.append(
            Changes.NewAttempt(
                wake: wake.number, fence: wake.fence,
                record: AttemptRecord(startedAt: wake.claimedAt, endedAt: now, result: result)))
    }

    /// The attempts of a wake, the oldest first.
    func attempts(of number: Int64) throws(RowFault) -> [AttemptRecord] {
        guard let attempts = loaded.attempts[number] else {
            throw notLoaded { $0.attempts.insert(number) }
        }
        return attempts
    }

    // MARK: Idempotency keys

    /// The entry of an idempotency key, if it has not expired.
    func known(_ key: [UInt8], at now: WallInstant) throws(RowFault) -> KnownKey? {
        if let place = newKeys[key] {
            let new = changes.keys[place]
            return KnownKey(
                request: new.key.request, wake: new.answer.id.number, answer: new.answer,
                expiresAt: new.key.expiresAt)
        }
        guard let known = loaded.keys[key] else { throw notLoaded { $0.keys.append(key) } }
        guard let known, known.expiresAt > now else { return nil }
        return known
    }

    /// Reserves a key, and stores the answer to its request.
    func reserve(_ key: IdempotencyKey, for answer: AdmittedWake) {
        let replaced = loaded.keys[key.key].flatMap(\.self)?.expiresAt
        newKeys[key.key] = changes.keys.count
        changes.keys.append(Changes.NewKey(key: key, answer: answer, replacedEnd: replaced))
    }

    // MARK: Feeds

    /// Adds an entry to the feedback feed. Returns its place among the new ones.
    func add(_ entry: FeedbackRow) -> Int64 {
        changes.feedback.append(entry)
        return Int64(changes.feedback.count - 1)
    }

    /// The entry of the feedback feed with this number.
    func feedback(_ number: Int64) throws(RowFault) -> FeedbackRow? {
        guard let row = loaded.feedback[number] else {
            throw notLoaded { $0.feedback.insert(number) }
        }
        return row
    }

    /// Adds the end of a wake to the feed of outcomes.
    func addOutcome(of wake: Int64, at now: WallInstant) {
        changes.outcomes.append(wake)
        changes.outcomesAt = max(changes.outcomesAt, now)
    }

    /// Adds a webhook for an endpoint.
    func add(_ subject: WebhookSubject, for endpoint: WebhookEndpointID, at now: WallInstant) {
        changes.newWebhooks.append(
            Changes.NewWebhook(subject: subject, endpoint: endpoint, at: now))
    }

    /// The state of the webhook with this number.
    func webhook(_ number: Int64) throws(RowFault) -> LoadedRows.WebhookFact {
        guard let fact = loaded.webhooks[number] else {
            throw notLoaded { $0.webhooks.insert(number) }
        }
        return fact
    }

    /// Changes a webhook under the lease with this fencing token.
    func change(webhook number: Int64, fence: Int64, _ kind: Changes.WebhookChange.Kind) {
        changes.webhooks.append(
            Changes.WebhookChange(number: number, fence: fence, kind: kind))
    }

    // MARK: Counters

    /// Adds to a counter.
    func add(_ amount: Int, to counter: StoreCounter) {
        changes.counters[counter, default: 0] += amount
    }

    /// The value of a counter.
    func value(of counter: StoreCounter) throws(RowFault) -> Int {
        guard let value = loaded.counters[counter] else {
            throw notLoaded { $0.counters.insert(counter) }
        }
        return value + changes.counters[counter, default: 0]
    }
}
