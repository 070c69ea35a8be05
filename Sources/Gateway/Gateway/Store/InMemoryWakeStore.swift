// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// The specification of a store, in memory: ``StoreTransaction`` over rows kept in the plainest
/// way.
///
/// It keeps the contract except that nothing survives the process, and its costs are linear in
/// the number of wakes. It is for tests and for trying things out.
public actor InMemoryWakeStore: WakeStore {
    private var rows = MemoryRows()
    private var transaction: StoreTransaction
    private var keptStates: [MemoryRows] = []

    /// An empty store.
    public init() { transaction = StoreTransaction(rows: rows) }

    /// Keeps wakes; see ``WakeStore/admit(_:grant:under:)``.
    public func admit(
        _ submissions: [Submission], grant: ClaimGrant?, under rules: StoreRules
    ) throws(StoreFailure) -> AdmitAnswer {
        try transaction.admit(submissions, grant: grant, under: rules)
    }

    /// Takes leases; see ``WakeStore/claim(_:under:)``.
    public func claim(
        _ order: ClaimOrder, under rules: StoreRules
    ) throws(StoreFailure) -> ClaimAnswer {
        try transaction.claim(order, under: rules)
    }

    /// Records outcomes; see ``WakeStore/settle(_:under:)``.
    public func settle(
        _ settlements: [Settlement], under rules: StoreRules
    ) throws(StoreFailure) -> SettleAnswer {
        try transaction.settle(settlements, under: rules)
    }

    /// Ends overdue wakes; see ``WakeStore/expireOverdue(at:limit:under:)``.
    public func expireOverdue(
        at now: WallInstant, limit: Int, under rules: StoreRules
    ) throws(StoreFailure) -> [EndedWake] {
        try transaction.expireOverdue(at: now, limit: limit, under: rules)
    }

    /// Takes lapsed leases back; see ``WakeStore/reclaimLapsed(at:limit:except:under:)``.
    public func reclaimLapsed(
        at now: WallInstant, limit: Int, except held: Set<WakeID>, under rules: StoreRules
    ) throws(StoreFailure) -> Reclaimed {
        try transaction.reclaimLapsed(at: now, limit: limit, except: held, under: rules)
    }

    /// Ends a pending wake; see ``WakeStore/cancel(_:at:under:)``.
    public func cancel(
        _ id: WakeID, at now: WallInstant, under rules: StoreRules
    ) throws(StoreFailure) -> CancelOutcome {
        try transaction.cancel(id, at: now, under: rules)
    }

    /// Books a report; see ``WakeStore/report(_:of:in:makes:at:under:)``.
    public func report(
        _ report: DeviceReport, of token: DeviceToken, in queues: [WakeQueueKey], makes: Bool,
        at now: WallInstant, under rules: StoreRules
    ) throws(StoreFailure) -> ReportOutcome {
        try transaction.report(report, of: token, in: queues, makes: makes, at: now, under: rules)
    }

    /// Books receipts; see ``WakeStore/confirm(_:at:under:)``.
    public func confirm(
        _ receipts: [Receipt], at now: WallInstant, under rules: StoreRules
    ) throws(StoreFailure) -> ReceiptOutcome {
        try transaction.confirm(receipts, at: now, under: rules)
    }

    /// All queues; see ``WakeStore/queues()``.
    public func queues() throws(StoreFailure) -> [WakeQueueRow] { try transaction.queues() }

    /// Pauses queues; see ``WakeStore/setPause(_:of:)``.
    public func setPause(_ pause: QueuePause?, of queues: [WakeQueueKey]) throws(StoreFailure) {
        try transaction.setPause(pause, of: queues)
    }

    /// The next due time; see ``WakeStore/nextDue(in:)``.
    public func nextDue(in queues: [WakeQueueKey]) throws(StoreFailure) -> WallInstant? {
        try transaction.nextDue(in: queues)
    }

    /// One wake; see ``WakeStore/record(of:)``.
    public func record(of id: WakeID) throws(StoreFailure) -> WakeRecord? {
        try transaction.record(of: id)
    }

    /// Wakes, page by page; see ``WakeStore/wakes(_:)``.
    public func wakes(_ query: WakeQuery) throws(StoreFailure) -> WakePage {
        try transaction.wakes(query)
    }

    /// A device; see ``WakeStore/devices(_:in:at:under:)``.
    public func devices(
        _ token: DeviceToken, in queues: [WakeQueueKey], at now: WallInstant,
        under rules: StoreRules
    ) throws(StoreFailure) -> [DeviceView] {
        try transaction.devices(token, in: queues, at: now, under: rules)
    }

    /// The books by their counters; see ``WakeStore/count()``.
    public func count() throws(StoreFailure) -> StoreCount { try transaction.count() }

    /// The books row by row; see ``WakeStore/recount()``.
    public func recount() throws(StoreFailure) -> StoreCount { try transaction.recount() }

    /// The feedback feed; see ``WakeStore/feedback(after:limit:of:)``.
    public func feedback(
        after cursor: Int64, limit: Int, of apps: Set<BundleID>?
    ) throws(StoreFailure) -> [FeedbackEntry] {
        try transaction.feedback(after: cursor, limit: limit, of: apps)
    }

    /// Writes a webhook about a queue; see ``WakeStore/note(_:under:)``.
    public func note(_ halt: AppHalt, under rules: StoreRules) throws(StoreFailure) {
        try transaction.note(halt, under: rules)
    }

    /// Takes leases on webhooks; see
    /// ``WakeStore/claimWebhooks(of:at:until:limit:)``.
    public func claimWebhooks(
        of endpoint: WebhookEndpointID, at now: WallInstant, until leaseEnd: WallInstant,
        limit: Int
    ) throws(StoreFailure) -> WebhookBatch {
        try transaction.claimWebhooks(of: endpoint, at: now, until: leaseEnd, limit: limit)
    }

    /// Records deliveries; see ``WakeStore/settleWebhooks(_:)``.
    public func settleWebhooks(_ settlements: [WebhookSettlement]) throws(StoreFailure) {
        try transaction.settleWebhooks(settlements)
    }

    /// Does nothing: what is kept in memory is not damaged.
    public nonisolated func whenDamaged(_ tell: @escaping @Sendable (DamagedRow) -> Void) {}

    /// Writes something that says nothing; see ``WakeStore/tryWriting()``.
    public func tryWriting() { transaction.tryWriting() }

    /// Removes what has had its time; see ``WakeStore/prune(_:)``.
    public func prune(_ order: PruneOrder) throws(StoreFailure) -> Pruned {
        try transaction.prune(order)
    }
}

/// For a test that decides itself when a transaction fails or is lost.
extension InMemoryWakeStore {
    /// How many states are kept.
    package var keptStateCount: Int { keptStates.count }

    /// Keeps the state as it is now, behind those that are kept.
    package func keepState() { keptStates.append(MemoryRows(copying: rows)) }

    /// Goes back to a kept state.
    package func restoreState(_ place: Int) {
        rows = MemoryRows(copying: keptStates[place])
        transaction = StoreTransaction(rows: rows)
    }

    /// Forgets the kept states from this one on.
    package func dropKeptStates(from place: Int) {
        keptStates.removeLast(keptStates.count - place)
    }
}
