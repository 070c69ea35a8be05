// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// The rows of a store within one transaction: what ``StoreTransaction`` reads and writes.
///
/// Whoever implements it sees to it that all changes of a transaction are made or none, and that
/// nobody else changes the rows meanwhile. What was written is read back within the transaction.
/// Not `Sendable`: rows belong to the thread or actor that runs their transactions.
///
/// A row whose contents cannot be read makes a look for it by its name fail as
/// ``StoreFailure/Kind/damaged``. Lists leave such rows out, or say what a member says of them.
public protocol WakeRows: AnyObject {
    // MARK: Queues

    /// The queue with this number.
    func queue(_ number: Int64) throws(StoreFailure) -> WakeQueueRow
    /// The queue's row, if it was ever used.
    func queue(of queue: WakeQueueKey) throws(StoreFailure) -> WakeQueueRow?
    /// Gives a queue a row.
    func make(_ queue: WakeQueueKey) throws(StoreFailure) -> WakeQueueRow
    /// All queues, in the order of their numbers.
    func queues() throws(StoreFailure) -> [WakeQueueRow]
    /// Writes a queue's row again.
    func save(_ queue: WakeQueueRow) throws(StoreFailure)

    // MARK: Devices

    /// The device of this token in a queue, if it is known.
    func device(_ token: DeviceToken, queue: Int64) throws(StoreFailure) -> DeviceRow?
    /// The device with this number; `nil` when it is gone.
    func device(_ number: Int64) throws(StoreFailure) -> DeviceRow?
    /// The token of the device with this number, whatever became of its ledger; `nil` when the
    /// device is gone.
    func token(ofDevice number: Int64) throws(StoreFailure) -> DeviceToken?
    /// A device whose ledger cannot be read, with an empty one, for whoever forgets it; `nil` for
    /// every other device.
    func damagedDevice(
        _ token: DeviceToken, queue: Int64, kind: WakeKind
    ) throws(StoreFailure) -> DeviceRow?
    /// A row for a device that is not known yet; it is kept once it is saved.
    func make(
        _ token: DeviceToken, queue: Int64, kind: WakeKind, at now: WallInstant
    ) throws(StoreFailure) -> DeviceRow
    /// Writes a device's row.
    func save(_ device: DeviceRow) throws(StoreFailure)

    // MARK: Wakes

    /// A number that no wake, no entry of the feedback feed and no webhook has had, at or after the
    /// first of this instant. As it comes from the time, a store that was restored from a backup
    /// does not give the numbers again that the lost one had given since.
    func makeNumber(at now: WallInstant) -> Int64
    /// Adds a wake.
    func insert(_ wake: borrowing WakeRow) throws(StoreFailure)
    /// The wake with this number; with an empty payload if that is not asked for.
    func wake(_ number: Int64, withPayload: Bool) throws(StoreFailure) -> WakeRow?
    /// Writes these columns of a wake's row again.
    func update(_ wake: borrowing WakeRow, _ columns: WakeColumns) throws(StoreFailure)
    /// Ends a wake whose row cannot be read as ``WakeState/damaged``; whether it had not ended.
    func quarantine(_ number: Int64) throws(StoreFailure) -> Bool
    /// Pending wakes of a queue that are due, the longest due first.
    func due(queue: Int64, at now: WallInstant, limit: Int) throws(StoreFailure) -> [Int64]
    /// When the next pending wake of a queue is due.
    func nextDue(queue: Int64) throws(StoreFailure) -> WallInstant?
    /// Pending wakes whose deadline has come, the earliest first.
    func overdue(at now: WallInstant, limit: Int) throws(StoreFailure) -> [Int64]
    /// Claimed wakes whose lease has ended, the earliest first.
    func lapsed(at now: WallInstant, limit: Int) throws(StoreFailure) -> [Int64]
    /// Wakes before this number, the newest first, without those that cannot be read; and the
    /// number of the last one that was looked at, `nil` when there is none behind it.
    func wakes(
        before number: Int64, limit: Int
    ) throws(StoreFailure) -> (wakes: [WakeRow], last: Int64?)
    /// Removes ended wakes with numbers below this one, and what hangs on them; how many.
    func removeWakes(below number: Int64, limit: Int) throws(StoreFailure) -> Int

    // MARK: Attempts

    /// Adds an attempt to a wake's history and drops the oldest beyond the limit.
    func add(_ attempt: AttemptRecord, to wake: borrowing WakeRow) throws(StoreFailure)
    /// The attempts of a wake, the oldest first. One that cannot be read is one of which nothing
    /// is known.
    func attempts(of number: Int64) throws(StoreFailure) -> [AttemptRecord]

    // MARK: Beside the wakes

    /// What an idempotency key stands for, if its time is not over. An answer that cannot be read
    /// is left out of it.
    func mark(
        _ key: [UInt8], at now: WallInstant
    ) throws(StoreFailure) -> KnownMark?
    /// Remembers a key, and what its request was answered.
    func remember(
        _ mark: IdempotencyKey, for answer: AdmittedWake
    ) throws(StoreFailure)
    /// Forgets keys whose time is over; how many.
    func forgetMarks(at now: WallInstant, limit: Int) throws(StoreFailure) -> Int

    /// Adds an entry to the feedback feed. Returns its number, of ``makeNumber(at:)``.
    func add(_ entry: FeedbackRow) throws(StoreFailure) -> Int64
    /// Entries of the feed behind a cursor, without those that cannot be read: all, or those of a
    /// queue.
    func feedback(
        after cursor: Int64, limit: Int, queue: Int64?
    ) throws(StoreFailure) -> [FeedbackRow]
    /// The entry with this number.
    func feedback(_ number: Int64) throws(StoreFailure) -> FeedbackRow?
    /// Removes entries that are older, or have a number below this one; how many.
    func removeFeedback(
        before instant: WallInstant, orBelow number: Int64, limit: Int
    ) throws(StoreFailure) -> Int

    /// Adds a webhook for an endpoint, under a number of ``makeNumber(at:)``.
    func add(
        _ webhook: WebhookSubject, for endpoint: WebhookEndpointID, at now: WallInstant
    ) throws(StoreFailure)
    /// Whether a webhook of an endpoint is due.
    func hasDueWebhook(
        of endpoint: WebhookEndpointID, at now: WallInstant
    ) throws(StoreFailure) -> Bool
    /// Takes leases on webhooks of an endpoint that are due, the longest due first. Those that
    /// cannot be read are removed, and counted as dropped.
    func claimWebhooks(
        of endpoint: WebhookEndpointID, at now: WallInstant, until leaseEnd: WallInstant,
        limit: Int
    ) throws(StoreFailure) -> [WebhookRow]
    /// Removes a webhook under this lease, unless the lease is an older one; whether it did.
    func removeWebhook(_ ticket: WebhookItem.Ticket) throws(StoreFailure) -> Bool
    /// Puts a webhook back under this lease; does nothing for an older lease.
    func putBackWebhook(
        _ ticket: WebhookItem.Ticket, dueAt: WallInstant
    ) throws(StoreFailure)

    /// The endpoints that have webhooks.
    func webhookEndpoints() throws(StoreFailure) -> [WebhookEndpointID]
    /// Webhooks of an endpoint, the longest due first, each under the lease that it was given last.
    /// Those that cannot be read are removed, and counted as dropped.
    func webhooks(
        of endpoint: WebhookEndpointID, limit: Int
    ) throws(StoreFailure) -> [WebhookRow]
    /// Makes a webhook another endpoint's.
    func moveWebhook(
        _ ticket: WebhookItem.Ticket, to heir: WebhookEndpointID
    ) throws(StoreFailure)
    /// Removes webhooks of an endpoint, leased or not; how many.
    func removeWebhooks(
        of endpoint: WebhookEndpointID, limit: Int
    ) throws(StoreFailure) -> Int

    /// A step of the walk through all devices in the order of their numbers: looks at so many
    /// behind a number, and removes those without any life since an instant, as
    /// ``remove(_:)`` does.
    func sweepDevices(
        after number: Int64, untouchedSince instant: WallInstant, limit: Int
    ) throws(StoreFailure) -> SweptDevices
    /// Has the devices behind a number, up to another, be touched at `now` which are said to have
    /// been touched after `bound`.
    func pullBackDevices(
        after number: Int64, through last: Int64, from bound: WallInstant, to now: WallInstant
    ) throws(StoreFailure)
    /// Removes a device, unless a wake of it is still there or another device cannot be found
    /// without it; whether it did. Its latest wake need not be the last to go: an older one that
    /// is still under way when that is pruned stays behind.
    func remove(_ device: DeviceRow) throws(StoreFailure) -> Bool

    // MARK: Time

    /// Makes what is due, leased or remembered until after `bound`, which is farther than anything
    /// is put off, due `now`, leased for another hour, and remembered until `bound`: a clock that
    /// was wrong has put it there.
    func pullBack(from bound: WallInstant, to now: WallInstant) throws(StoreFailure)

    // MARK: Counting

    /// Adds to a counter.
    func add(_ amount: Int, to counter: StoreCounter)
    /// What a counter stands at.
    func value(of counter: StoreCounter) throws(StoreFailure) -> Int
    /// Counts the wakes in each state, one by one; in a state that no wake can have they count as
    /// damaged.
    func countByState() throws(StoreFailure) -> [WakeState: Int]
}

/// What an idempotency key stands for.
public struct KnownMark: Hashable, Sendable {
    /// A digest of the request's body.
    public let request: [UInt8]
    /// The number of the wake.
    public let wake: Int64
    /// What was answered; `nil` where an earlier version of the store did not keep it.
    public let answer: AdmittedWake?

    /// Spells out one.
    public init(request: [UInt8], wake: Int64, answer: AdmittedWake?) {
        self.request = request
        self.wake = wake
        self.answer = answer
    }
}

/// What a step of the walk through all devices came to.
public struct SweptDevices: Hashable, Sendable {
    /// How many devices were removed.
    public let removed: Int
    /// The number of the last device that was looked at; `nil` when there is none behind it.
    public let last: Int64?

    /// Spells out one step.
    public init(removed: Int, last: Int64?) {
        self.removed = removed
        self.last = last
    }
}

/// Which columns of a wake's row an update writes.
public enum WakeColumns: Hashable, Sendable {
    /// State, due time, deadline and holds: it waits, or waits on.
    case schedule
    /// Payload, expiration, collapse id, urgency, coalescing and schedule: another wake merged into
    /// it.
    case content
    /// State, fence, times and charge: it was claimed.
    case claim
    /// State, fence, tries, schedule and the last reason: it goes back.
    case comeback
    /// State, end and its time; the payload is dropped.
    case end
    /// When it launched the app.
    case launch
}

/// A counter of the counts.
public enum StoreCounter: Hashable, Sendable {
    /// Wakes admitted.
    case accepted
    /// Ended wakes removed.
    case pruned
    /// Wakes that ended in this state.
    case ended(WakeState)
    /// Webhooks that are kept for this endpoint.
    case webhooks(WebhookEndpointID)
    /// Webhooks that were not kept for this endpoint, because too many were waiting.
    case webhooksDropped(WebhookEndpointID)
    /// Writes that were only tried.
    case trials
    /// Since when an endpoint that has webhooks is not configured, in milliseconds since the epoch;
    /// 0 while it is.
    case absentSince(WebhookEndpointID)
    /// A number ahead of the time, below which all numbers were given before ``aheadSince``; 0
    /// while numbers are as the time is.
    case aheadNumber
    /// When that number was noted, in milliseconds since the epoch.
    case aheadSince
}

/// An entry of the feedback feed, as a store keeps it.
public struct FeedbackRow: Hashable, Sendable {
    /// Its number; 0 before it has one.
    public var number: Int64 = 0
    /// What it tells.
    public let kind: FeedbackKind
    /// The queue's number.
    public let queue: Int64
    /// The token.
    public let deviceToken: DeviceToken
    /// When it became known.
    public let at: WallInstant
    /// What APNs said.
    public let refusal: Refusal
    /// The wake that met it.
    public let wake: WakeID

    /// Spells out one row.
    public init(
        kind: FeedbackKind, queue: Int64, deviceToken: DeviceToken, at: WallInstant,
        refusal: Refusal, wake: WakeID
    ) {
        self.kind = kind
        self.queue = queue
        self.deviceToken = deviceToken
        self.at = at
        self.refusal = refusal
        self.wake = wake
    }
}

/// What a webhook is about, as a store keeps it.
public enum WebhookSubject: Hashable, Sendable {
    /// The wake with this number.
    case outcome(wake: Int64)
    /// The entry of the feedback feed with this number.
    case tokenDead(feedback: Int64)
    /// A queue that stopped, or goes on.
    case appHalted(AppHalt)
}

/// A webhook under a lease, as a store keeps it.
public struct WebhookRow: Hashable, Sendable {
    /// Proof of the lease.
    public let ticket: WebhookItem.Ticket
    /// What it is about.
    public let subject: WebhookSubject
    /// When it came to be.
    public let createdAt: WallInstant
    /// How often it was tried before.
    public let tries: Int

    /// Spells out one row.
    public init(
        ticket: WebhookItem.Ticket, subject: WebhookSubject, createdAt: WallInstant, tries: Int
    ) {
        self.ticket = ticket
        self.subject = subject
        self.createdAt = createdAt
        self.tries = tries
    }
}
