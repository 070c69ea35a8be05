// SPDX-License-Identifier: Apache-2.0

import WakeBudget
import WakeModel

/// What every verb of a store means, said once: the budget's decision, its debit and the wake's
/// row, made together over the rows of one transaction.
///
/// It has no clock and does no I/O of its own. It belongs to whoever owns the rows, and each call
/// of a member is one transaction, which that owner begins and ends.
///
/// A debit is booked as final when a wake is claimed, and taken back when it turns out that the
/// wake certainly was not sent. So the outcome that most wakes have changes no ledger, and a
/// device is written once for a wake and not twice.
public final class StoreTransaction {
    let rows: any WakeRows
    /// The rules of the running transaction.
    var rules = StoreRules()
    /// When the first wake is due that the running transaction left waiting.
    private(set) var nextDue: WallInstant?
    /// Queues that the running transaction has seen, with their policies.
    private var seen: [SeenQueue] = []
    /// How many webhooks each endpoint had when the running transaction first wrote one for it,
    /// and those that it wrote; in the order of the rules.
    var backlogs: [Int?] = []
    /// The walk through all devices; see ``prune(_:)``.
    var sweep = DeviceSweep()
    /// The walk as far as what it did is kept.
    private var keptSweep = DeviceSweep()

    struct SeenQueue {
        var row: WakeQueueRow
        let policy: BudgetPolicy
    }

    /// A transaction over these rows.
    public init(rows: any WakeRows) { self.rows = rows }

    /// To be called when a transaction that wrote is kept.
    public func committed() { keptSweep = sweep }

    /// To be called when a transaction that wrote is undone: what it did in memory is undone too.
    public func rolledBack() { sweep = keptSweep }

    /// Carries out a command.
    public func perform<Command: StoreCommand>(
        _ command: Command
    ) throws(StoreFailure) -> Command.Answer {
        begin(command.rules)
        return try command.decide(on: self)
    }

    /// The answer to a command for which nothing is to be decided, as far as reading shows.
    public func idleAnswer<Command: StoreCommand>(
        to command: Command
    ) throws(StoreFailure) -> Command.Answer? {
        begin(command.rules)
        return try command.idleAnswer(on: self)
    }

    private func begin(_ rules: StoreRules) {
        self.rules = rules
        nextDue = nil
        seen.removeAll(keepingCapacity: true)
        backlogs.removeAll(keepingCapacity: true)
    }

    /// Takes note that a wake waits until then.
    func noteDue(_ wake: borrowing WakeRow) { nextDue = min(nextDue ?? wake.dueAt, wake.dueAt) }

    // MARK: Queues

    func queue(_ number: Int64) throws(StoreFailure) -> SeenQueue {
        for queue in seen where queue.row.number == number { return queue }
        return remember(try rows.queue(number))
    }

    func queue(of queue: WakeQueueKey) throws(StoreFailure) -> SeenQueue {
        for known in seen where known.row.queue == queue { return known }
        if let row = try rows.queue(of: queue) { return remember(row) }
        return remember(try rows.make(queue))
    }

    private func remember(_ row: WakeQueueRow) -> SeenQueue {
        let queue = SeenQueue(row: row, policy: rules.policy(of: row))
        seen.append(queue)
        return queue
    }

    /// From now on missing receipts count in this queue. Whether this is new.
    func noteConfirmation(in queue: SeenQueue) throws(StoreFailure) -> Bool {
        guard !queue.row.confirmsLaunches else { return false }
        var row = queue.row
        row.confirmsLaunches = true
        try rows.save(row)
        seen.removeAll { $0.row.number == row.number }
        return true
    }

    // MARK: Ends

    /// Ends a wake: its row, the counter, and the webhook if somebody listens.
    func finish(
        _ wake: inout WakeRow, _ end: WakeEnd, at now: WallInstant, _ queue: SeenQueue
    ) throws(StoreFailure) -> EndedWake {
        wake.state = end.state
        wake.end = end
        wake.endedAt = now
        wake.payload = []
        try rows.update(wake, .end)
        return try booked(wake, end, at: now, queue)
    }

    /// Records the end of a wake whose row says it already.
    func booked(
        _ wake: borrowing WakeRow, _ end: WakeEnd, at now: WallInstant, _ queue: SeenQueue
    ) throws(StoreFailure) -> EndedWake {
        rows.add(1, to: .ended(end.state))
        if !rules.webhooks.isEmpty {
            try tell(.outcome(wake: wake.number), .outcome, of: queue.row.queue.app, at: now)
        }
        return EndedWake(id: wake.id, ref: wake.ref, queue: queue.row.queue, end: end, at: now)
    }

    /// Ends the wake that a background device waits with, after its ledger has let go of it.
    func finishPending(
        of device: inout DeviceRow, _ end: WakeEnd, at now: WallInstant, _ queue: SeenQueue
    ) throws(StoreFailure) -> EndedWake? {
        let number = device.pending
        device.pending = 0
        guard number != 0, var wake = try liveWake(number), wake.state == .pending else {
            return nil
        }
        return try finish(&wake, end, at: now, queue)
    }

    // MARK: Times

    /// Sets a pending wake's times by what the ledger says of it now.
    func schedule(
        _ wake: inout WakeRow, _ device: borrowing DeviceRow, _ queue: SeenQueue,
        at now: WallInstant
    ) {
        guard let outlook = device.ledger.outlook(policy: queue.policy, at: now) else { return }
        // A wish to wait is for less than a wake is held; one for more is of a clock that leapt.
        let latest = now.advanced(bySeconds: Int64(queue.policy.settings.holdSeconds))
        if wake.notBefore > latest { wake.notBefore = now }
        wake.dueAt = max(outlook.due, wake.notBefore)
        wake.deadline = outlook.deadline
        wake.holds = outlook.holds
    }

    /// Writes the times of the wake that a device waits with, after a verb that may have changed
    /// them.
    func rescheduleBehind(
        _ device: borrowing DeviceRow, _ queue: SeenQueue, at now: WallInstant
    ) throws(StoreFailure) {
        guard device.pending != 0, var wake = try liveWake(device.pending),
            wake.state == .pending
        else { return }
        let before = wake
        schedule(&wake, device, queue, at: now)
        guard wake != before else { return }
        try rows.update(wake, .schedule)
        noteDue(wake)
    }

    func save(_ device: inout DeviceRow, at now: WallInstant) throws(StoreFailure) {
        device.touchedAt = now
        try rows.save(device)
    }
}
