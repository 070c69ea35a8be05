// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// Where accepted wakes are kept: a durable queue with leases, and the ledgers of the devices.
///
/// Every verb is one transaction, and when it returns, its effect survives the death of the
/// process. The budget's decision, its debit and the wake's row belong together:
/// ``StoreTransaction`` says how, and every store that keeps rows can work by it. Nothing here
/// assumes that one process owns all wakes: leases end by themselves, fencing numbers keep the
/// holder of an old lease from settling, and all that one verb changes for a wake belongs to one
/// device, so that a store may be divided by device. `InMemoryWakeStore` is the specification, and
/// the contract suite in the tests runs against every store.
///
/// Time is the caller's: leases, due times and deadlines are compared with the instants that come
/// with the verbs. So the clocks of gateways that share a store must agree, to within what a lease
/// lasts longer than a push may take.
///
/// All members may be called from any task. None of them gives up because the calling task was
/// cancelled: what was asked happens, or fails with a reason.
public protocol WakeStore: Sendable {
    // MARK: The life of a wake

    /// Decides on wakes and keeps them; answers one by one, in order. All of them or, when it
    /// throws, none. Those that may go at once are claimed as far as the grant goes.
    func admit(
        _ submissions: [Submission], grant: ClaimGrant?, under rules: StoreRules
    ) async throws(StoreFailure) -> AdmitAnswer

    /// Takes leases on due wakes, debiting them: the shares in their order, within a share the
    /// longest due first. What is over ends; what the budget puts off waits on.
    func claim(
        _ order: ClaimOrder, under rules: StoreRules
    ) async throws(StoreFailure) -> ClaimAnswer

    /// Records what became of claimed wakes; answers one by one, in order. Doing it again changes
    /// nothing.
    func settle(
        _ settlements: [Settlement], under rules: StoreRules
    ) async throws(StoreFailure) -> SettleAnswer

    /// Ends up to `limit` pending wakes whose deadline has come, as expired.
    func expireOverdue(
        at now: WallInstant, limit: Int, under rules: StoreRules
    ) async throws(StoreFailure) -> [EndedWake]

    /// Takes back up to `limit` leases that ended without a settlement, except those of `held`:
    /// wakes that the caller has in hand itself.
    func reclaimLapsed(
        at now: WallInstant, limit: Int, except held: Set<WakeID>, under rules: StoreRules
    ) async throws(StoreFailure) -> Reclaimed

    /// Ends a pending wake because somebody asked for it.
    func cancel(
        _ id: WakeID, at now: WallInstant, under rules: StoreRules
    ) async throws(StoreFailure) -> CancelOutcome

    // MARK: Devices

    /// Records a report in these queues of a device. `makes` says that a device which is not known
    /// yet is made.
    func report(
        _ report: DeviceReport, of token: DeviceToken, in queues: [WakeQueueKey], makes: Bool,
        at now: WallInstant, under rules: StoreRules
    ) async throws(StoreFailure) -> ReportOutcome

    /// Records receipts; answers one by one, in order.
    func confirm(
        _ receipts: [Receipt], at now: WallInstant, under rules: StoreRules
    ) async throws(StoreFailure) -> ReceiptOutcome

    // MARK: Queues

    /// All queues that were ever used.
    func queues() async throws(StoreFailure) -> [WakeQueueRow]

    /// Pauses queues, or lets them go on with `nil`.
    func setPause(
        _ pause: QueuePause?, of queues: [WakeQueueKey]
    ) async throws(StoreFailure)

    /// When the next pending wake of these queues is due; `nil` when none is pending.
    func nextDue(in queues: [WakeQueueKey]) async throws(StoreFailure) -> WallInstant?

    // MARK: Telling

    /// All that is known of one wake; `nil` for an id that the store does not know.
    func record(of id: WakeID) async throws(StoreFailure) -> WakeRecord?

    /// Wakes, the newest first, page by page.
    func wakes(_ query: WakeQuery) async throws(StoreFailure) -> WakePage

    /// A device as it stands, in those of the queues that know it.
    func devices(
        _ token: DeviceToken, in queues: [WakeQueueKey], at now: WallInstant,
        under rules: StoreRules
    ) async throws(StoreFailure) -> [DeviceView]

    /// The counts by their counters, at a cost that does not grow with them. Claimed wakes count
    /// as pending here.
    func count() async throws(StoreFailure) -> StoreCount

    /// Counts the wakes row by row. Linear in the number of wakes: for audits and tests.
    func recount() async throws(StoreFailure) -> StoreCount

    // MARK: Feeds

    /// Entries of the feedback feed behind a cursor, at most `limit`: all, or those of these apps
    /// in either environment.
    func feedback(
        after cursor: Int64, limit: Int, of apps: Set<BundleID>?
    ) async throws(StoreFailure) -> [FeedbackEntry]

    /// Writes a webhook about a queue for each endpoint that listens, and if there is one, in the
    /// queue's own row what was told (``WakeQueueRow/haltToldAt``).
    func note(_ halt: AppHalt, under rules: StoreRules) async throws(StoreFailure)

    /// Takes leases on webhooks of an endpoint that are due, the longest due first.
    func claimWebhooks(
        of endpoint: WebhookEndpointID, at now: WallInstant, until leaseEnd: WallInstant,
        limit: Int
    ) async throws(StoreFailure) -> WebhookBatch

    /// Records what became of deliveries; those of older leases change nothing.
    func settleWebhooks(_ settlements: [WebhookSettlement]) async throws(StoreFailure)

    // MARK: Upkeep

    /// From now on `tell` is told of each row that cannot be read, whenever one is met, so of the
    /// same one again and again. It is called from any thread, within transactions, and returns
    /// quickly. For one listener; a store whose rows cannot be damaged never calls it.
    func whenDamaged(_ tell: @escaping @Sendable (DamagedRow) -> Void)

    /// Writes something that says nothing, as durably as everything else: when it returns, writing
    /// works.
    func tryWriting() async throws(StoreFailure)

    /// Removes what has had its time, in one step of a bounded size.
    func prune(_ order: PruneOrder) async throws(StoreFailure) -> Pruned
}

extension WakeStore {
    /// Entries of the feedback feed behind a cursor, of all apps, at most `limit`.
    public func feedback(
        after cursor: Int64, limit: Int
    ) async throws(StoreFailure) -> [FeedbackEntry] {
        try await feedback(after: cursor, limit: limit, of: nil)
    }

    /// Takes back up to `limit` leases that ended without a settlement.
    public func reclaimLapsed(
        at now: WallInstant, limit: Int, under rules: StoreRules
    ) async throws(StoreFailure) -> Reclaimed {
        try await reclaimLapsed(at: now, limit: limit, except: [], under: rules)
    }
}

/// Why a queue is paused.
public struct QueuePause: Hashable, Sendable {
    /// Since when.
    public let at: WallInstant
    /// Why, if it was said.
    public let reason: String?

    /// Spells out one pause.
    public init(at: WallInstant, reason: String?) {
        self.at = at
        self.reason = reason
    }
}

/// Why a store could not do what it was asked.
public struct StoreFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of failure that a caller tells apart.
    public enum Kind: String, Hashable, Sendable {
        /// No space is left.
        case full
        /// The file or its folder cannot be written.
        case readOnly = "read-only"
        /// The file is damaged, or is no store.
        case corrupt
        /// What was asked for needs a row whose contents cannot be read. The file is whole, and so
        /// are the other rows.
        case damaged
        /// Another process owns the store.
        case inUse = "in-use"
        /// Too much waits for the store; nothing was changed. It is no fault of the store.
        case overloaded
        /// Anything else.
        case unavailable
    }

    /// The kind.
    public let kind: Kind
    /// What happened, as a sentence without secrets.
    public let message: String

    /// Spells out one failure.
    public init(kind: Kind, message: String) {
        self.kind = kind
        self.message = message
    }

    /// The message.
    public var description: String { message }
}
