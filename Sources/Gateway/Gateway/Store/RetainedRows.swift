// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// The rows of a step of ``Retention``, within one transaction.
///
/// Not `Sendable`: rows belong to the thread or actor that runs their transactions.
public protocol RetainedRows: AnyObject {
    /// All queues, in the order of their numbers.
    func queues() throws(StoreFailure) -> [WakeQueueRow]
    /// The queue with this number.
    func queue(_ number: Int64) throws(StoreFailure) -> WakeQueueRow
    /// Writes a queue's row again.
    func save(_ queue: WakeQueueRow) throws(StoreFailure)
    /// The wake with this number, without its payload.
    func wake(_ number: Int64) throws(StoreFailure) -> WakeRow?
    /// The entry of the feedback feed with this number.
    func feedback(_ number: Int64) throws(StoreFailure) -> FeedbackRow?
    /// A number that no wake, no entry of the feedback feed and no webhook has had, at or after the
    /// first of this instant.
    func makeNumber(at now: WallInstant) -> Int64

    /// Removes ended wakes with numbers below this one, with their attempts; returns their number.
    func removeWakes(below number: Int64, limit: Int) throws(StoreFailure) -> Int
    /// Removes expired idempotency keys; returns their number.
    func forgetMarks(at now: WallInstant, limit: Int) throws(StoreFailure) -> Int
    /// Removes entries that are older, or have a number below this one; returns their number.
    func removeFeedback(
        before instant: WallInstant, orBelow number: Int64, limit: Int
    ) throws(StoreFailure) -> Int

    /// Removes what transactions added to the feed of outcomes with cursors below this one; of how
    /// many transactions.
    func removeOutcomes(below cursor: Int64, limit: Int) throws(StoreFailure) -> Int

    /// The endpoints that have webhooks.
    func webhookEndpoints() throws(StoreFailure) -> [WebhookEndpointID]
    /// Webhooks of an endpoint, the longest due first, each under the lease that it was given last.
    /// Those that cannot be read are removed, and counted as dropped.
    func webhooks(
        of endpoint: WebhookEndpointID, limit: Int
    ) throws(StoreFailure) -> [WebhookRow]
    /// Assigns a webhook to another endpoint.
    func moveWebhook(
        _ ticket: WebhookItem.Ticket, to heir: WebhookEndpointID
    ) throws(StoreFailure)
    /// Removes a webhook under this lease, unless the lease is an older one; returns whether it
    /// did.
    func removeWebhook(_ ticket: WebhookItem.Ticket) throws(StoreFailure) -> Bool
    /// Removes webhooks of an endpoint, leased or not; returns their number.
    func removeWebhooks(
        of endpoint: WebhookEndpointID, limit: Int
    ) throws(StoreFailure) -> Int

    /// A step of the walk through all devices in the order of their numbers: reads so many after a
    /// number, and removes those without any activity since an instant, unless one still has a wake
    /// or another device cannot be found without it.
    func sweepDevices(
        after number: Int64, untouchedSince instant: WallInstant, limit: Int
    ) throws(StoreFailure) -> SweptDevices
    /// Sets the last activity of the devices after a number, up to another, to `now` if it is after
    /// `bound`.
    func pullBackDevices(
        after number: Int64, through last: Int64, from bound: WallInstant, to now: WallInstant
    ) throws(StoreFailure)
    /// Corrects times after `bound`, which is later than any valid one and so from a wrong clock:
    /// due times become `now`, leases end in an hour, and keys expire at `bound`.
    func pullBack(from bound: WallInstant, to now: WallInstant) throws(StoreFailure)

    /// Adds to a counter.
    func add(_ amount: Int, to counter: StoreCounter)
    /// The value of a counter.
    func value(of counter: StoreCounter) throws(StoreFailure) -> Int
}

/// The result of a step of the walk through all devices.
public struct SweptDevices: Hashable, Sendable {
    /// The number of removed devices.
    public let removed: Int
    /// The number of the last device that was read; `nil` when there is none after it.
    public let last: Int64?

    /// Creates a step.
    public init(removed: Int, last: Int64?) {
        self.removed = removed
        self.last = last
    }
}

/// A counter of a store.
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
    /// Test writes.
    case trials
    /// The time since which an endpoint that has webhooks is not configured, in milliseconds since
    /// the epoch; 0 while it is.
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
    /// Its kind.
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

    /// Creates a row.
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
    /// A queue that stopped or resumed.
    case appHeld(AppHold)
}

/// A webhook under a lease, as a store keeps it.
public struct WebhookRow: Hashable, Sendable {
    /// Proof of the lease.
    public let ticket: WebhookItem.Ticket
    /// What it is about.
    public let subject: WebhookSubject
    /// When it came to be.
    public let createdAt: WallInstant
    /// The number of earlier attempts.
    public let tries: Int

    /// Creates a row.
    public init(
        ticket: WebhookItem.Ticket, subject: WebhookSubject, createdAt: WallInstant, tries: Int
    ) {
        self.ticket = ticket
        self.subject = subject
        self.createdAt = createdAt
        self.tries = tries
    }
}
