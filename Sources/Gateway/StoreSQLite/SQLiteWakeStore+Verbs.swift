// SPDX-License-Identifier: Apache-2.0

public import Gateway
import PayloadRules
public import WakeModel

extension SQLiteWakeStore {
    /// Keeps wakes; see ``Gateway/WakeStore/admit(_:grant:under:)``.
    public func admit(
        _ submissions: [Submission], grant: ClaimGrant?, under rules: StoreRules
    ) async throws(StoreFailure) -> AdmitAnswer {
        // Calls come first in a batch.
        let isUrgent = submissions.first?.wake.wake.kind == .voip
        return try await writing.write(
            weight: submissions.count, isUrgent: isUrgent, addsWork: true
        ) { transaction throws(StoreFailure) in
            try transaction.admit(submissions, grant: grant, under: rules)
        }
    }

    /// Takes leases; see ``Gateway/WakeStore/claim(_:under:)``.
    public func claim(
        _ order: ClaimOrder, under rules: StoreRules
    ) async throws(StoreFailure) -> ClaimAnswer {
        // Most looks find nothing, and a look does not wait for the writing.
        let queues = order.shares.map(\.queue)
        let due = try await read { transaction throws(StoreFailure) in
            try transaction.nextDue(in: queues)
        }
        guard let due, due <= order.now else { return ClaimAnswer() }
        let isUrgent = queues.first?.kind == .voip
        return try await writing.write(weight: order.limit, isUrgent: isUrgent) {
            transaction throws(StoreFailure) in
            try transaction.claim(order, under: rules)
        }
    }

    /// Records outcomes; see ``Gateway/WakeStore/settle(_:under:)``.
    public func settle(
        _ settlements: [Settlement], under rules: StoreRules
    ) async throws(StoreFailure) -> SettleAnswer {
        try await writing.write(weight: settlements.count) { transaction throws(StoreFailure) in
            try transaction.settle(settlements, under: rules)
        }
    }

    /// Ends overdue wakes; see ``Gateway/WakeStore/expireOverdue(at:limit:under:)``.
    public func expireOverdue(
        at now: WallInstant, limit: Int, under rules: StoreRules
    ) async throws(StoreFailure) -> [EndedWake] {
        try await writing.write(weight: limit) { transaction throws(StoreFailure) in
            try transaction.expireOverdue(at: now, limit: limit, under: rules)
        }
    }

    /// Takes lapsed leases back; see ``Gateway/WakeStore/reclaimLapsed(at:limit:except:under:)``.
    public func reclaimLapsed(
        at now: WallInstant, limit: Int, except held: Set<WakeID>, under rules: StoreRules
    ) async throws(StoreFailure) -> Reclaimed {
        try await writing.write(weight: limit) { transaction throws(StoreFailure) in
            try transaction.reclaimLapsed(at: now, limit: limit, except: held, under: rules)
        }
    }

    /// Ends a pending wake; see ``Gateway/WakeStore/cancel(_:at:under:)``.
    public func cancel(
        _ id: WakeID, at now: WallInstant, under rules: StoreRules
    ) async throws(StoreFailure) -> CancelOutcome {
        try await writing.write(isCallers: true) { transaction throws(StoreFailure) in
            try transaction.cancel(id, at: now, under: rules)
        }
    }

    /// Records a report; see ``Gateway/WakeStore/report(_:of:in:makes:at:under:)``.
    public func report(
        _ report: DeviceReport, of token: DeviceToken, in queues: [WakeQueueKey], makes: Bool,
        at now: WallInstant, under rules: StoreRules
    ) async throws(StoreFailure) -> ReportOutcome {
        try await writing.write(isCallers: true) { transaction throws(StoreFailure) in
            try transaction.report(
                report, of: token, in: queues, makes: makes, at: now, under: rules)
        }
    }

    /// Records receipts; see ``Gateway/WakeStore/confirm(_:at:under:)``.
    public func confirm(
        _ receipts: [Receipt], at now: WallInstant, under rules: StoreRules
    ) async throws(StoreFailure) -> ReceiptOutcome {
        let resolved = try await resolve(receipts)
        let known = resolved.compactMap(\.self)
        var outcome = ReceiptOutcome()
        if !known.isEmpty {
            outcome = try await writing.write(weight: known.count, isCallers: true) {
                transaction throws(StoreFailure) in
                try transaction.confirm(known, at: now, under: rules)
            }
        }
        var answers = outcome.answers.makeIterator()
        outcome.answers = resolved.map { $0 == nil ? .unknownWake : answers.next() ?? .unknownWake }
        return outcome
    }

    /// How many refs one look resolves. A ref is looked for in a device's whole chain of wakes, so
    /// that is not done while the writer waits, and a look that claims has its turn in between.
    static let refsPerLook = 8

    /// The receipts by the ids of their wakes; `nil` where no wake has the ref.
    private func resolve(_ receipts: [Receipt]) async throws(StoreFailure) -> [Receipt?] {
        var resolved: [Receipt?] = receipts
        let places = receipts.indices.filter { place in
            if case .ref = receipts[place].subject { true } else { false }
        }
        var rest = places[...]
        while !rest.isEmpty {
            let part = rest.prefix(Self.refsPerLook).map { receipts[$0] }
            let found = try await ask(weight: part.count) { transaction throws(StoreFailure) in
                var found: [Receipt?] = []
                for receipt in part { found.append(try transaction.resolve(receipt)) }
                return found
            }
            for (place, receipt) in zip(rest, found) { resolved[place] = receipt }
            rest = rest.dropFirst(part.count)
        }
        return resolved
    }

    /// Pauses queues; see ``Gateway/WakeStore/setPause(_:of:)``.
    public func setPause(
        _ pause: QueuePause?, of queues: [WakeQueueKey]
    ) async throws(StoreFailure) {
        // Also while the log is full: somebody stops an app in need, and that adds a page.
        try await writing.write(isCallers: true, addsWork: false) {
            transaction throws(StoreFailure) in
            try transaction.setPause(pause, of: queues)
        }
    }

    /// Writes a webhook about a queue; see ``Gateway/WakeStore/note(_:under:)``.
    public func note(_ halt: AppHalt, under rules: StoreRules) async throws(StoreFailure) {
        try await writing.write { transaction throws(StoreFailure) in
            try transaction.note(halt, under: rules)
        }
    }

    /// Takes leases on webhooks; see
    /// ``Gateway/WakeStore/claimWebhooks(of:at:until:limit:)``.
    public func claimWebhooks(
        of endpoint: WebhookEndpointID, at now: WallInstant, until leaseEnd: WallInstant,
        limit: Int
    ) async throws(StoreFailure) -> WebhookBatch {
        // An endpoint for which nothing is due costs a look, and no transaction: one that is down
        // has events that wait for their next try, and each settlement rings its bell.
        let (standing, isDue) = try await read { transaction throws(StoreFailure) in
            (
                try transaction.webhookStanding(of: endpoint),
                try transaction.hasDueWebhook(of: endpoint, at: now)
            )
        }
        guard isDue else { return standing }
        return try await writing.write(weight: limit) { transaction throws(StoreFailure) in
            try transaction.claimWebhooks(of: endpoint, at: now, until: leaseEnd, limit: limit)
        }
    }

    /// Records deliveries; see ``Gateway/WakeStore/settleWebhooks(_:)``.
    public func settleWebhooks(
        _ settlements: [WebhookSettlement]
    ) async throws(StoreFailure) {
        try await writing.write(weight: settlements.count) { transaction throws(StoreFailure) in
            try transaction.settleWebhooks(settlements)
        }
    }

    /// Writes something that says nothing; see ``Gateway/WakeStore/tryWriting()``.
    public func tryWriting() async throws(StoreFailure) {
        try await writing.write { transaction throws(StoreFailure) in transaction.tryWriting() }
    }

    /// Removes what has had its time, and gives pages that stay empty back to the file system; see
    /// ``Gateway/WakeStore/prune(_:)``.
    public func prune(_ order: PruneOrder) async throws(StoreFailure) -> Pruned {
        // It can wait, and while the log is full it would only make it longer.
        try await writing.write(weight: order.limit, addsWork: true) {
            transaction throws(StoreFailure) in
            try transaction.prune(order)
        }
    }

    // MARK: Reading

    /// All queues; see ``Gateway/WakeStore/queues()``.
    public func queues() async throws(StoreFailure) -> [WakeQueueRow] {
        try await read { transaction throws(StoreFailure) in try transaction.queues() }
    }

    /// The next due time; see ``Gateway/WakeStore/nextDue(in:)``.
    public func nextDue(in queues: [WakeQueueKey]) async throws(StoreFailure) -> WallInstant? {
        try await read { transaction throws(StoreFailure) in try transaction.nextDue(in: queues) }
    }

    /// One wake; see ``Gateway/WakeStore/record(of:)``.
    public func record(of id: WakeID) async throws(StoreFailure) -> WakeRecord? {
        try await ask(isShown: true) { transaction throws(StoreFailure) in
            try transaction.record(of: id)
        }
    }

    /// Wakes, page by page; see ``Gateway/WakeStore/wakes(_:)``.
    public func wakes(_ query: WakeQuery) async throws(StoreFailure) -> WakePage {
        try await ask(weight: query.rowCount, isShown: true) { transaction throws(StoreFailure) in
            try transaction.wakes(query)
        }
    }

    /// A device; see ``Gateway/WakeStore/devices(_:in:at:under:)``.
    public func devices(
        _ token: DeviceToken, in queues: [WakeQueueKey], at now: WallInstant,
        under rules: StoreRules
    ) async throws(StoreFailure) -> [DeviceView] {
        let weight = DeviceView.recentCount * queues.count
        return try await ask(weight: weight, isShown: true) { transaction throws(StoreFailure) in
            try transaction.devices(token, in: queues, at: now, under: rules)
        }
    }

    /// The counts by their counters; see ``Gateway/WakeStore/count()``.
    public func count() async throws(StoreFailure) -> StoreCount {
        try await ask { transaction throws(StoreFailure) in try transaction.count() }
    }

    /// The counts, row by row; see ``Gateway/WakeStore/recount()``.
    public func recount() async throws(StoreFailure) -> StoreCount {
        try await ask(within: ReadConnection.maximumRecountDuration) {
            transaction throws(StoreFailure) in
            try transaction.recount()
        }
    }

    /// The feedback feed; see ``Gateway/WakeStore/feedback(after:limit:of:)``.
    public func feedback(
        after cursor: Int64, limit: Int, of apps: Set<BundleID>?
    ) async throws(StoreFailure) -> [FeedbackEntry] {
        try await ask(weight: limit, isShown: true) { transaction throws(StoreFailure) in
            try transaction.feedback(after: cursor, limit: limit, of: apps)
        }
    }

    /// One transaction that reads, for the gateway's own use. Fails once the disk has failed, so
    /// that readiness does not turn green by what is only remembered.
    private func read<Answer: Sendable>(
        _ body: @escaping @Sendable (StoreTransaction) throws(StoreFailure) -> Answer
    ) async throws(StoreFailure) -> Answer {
        if let failure = flusher.failure { throw failure }
        return try await reader.read(body)
    }

    /// The same for a caller: beside the gateway's own looks, and bounded. With ``Durability/disk``
    /// one who `isShown` wakes hears of nothing that is not there: a reader sees transactions as
    /// soon as they are committed, before their flush.
    private func ask<Answer: Sendable>(
        weight: Int = 1, isShown: Bool = false,
        within duration: Duration = ReadConnection.maximumDuration,
        _ body: @escaping @Sendable (StoreTransaction) throws(StoreFailure) -> Answer
    ) async throws(StoreFailure) -> Answer {
        if let failure = flusher.failure { throw failure }
        return try await callersReader.bounded(weight: weight) { () async throws(StoreFailure) in
            let answer = try await callersReader.read(within: duration, body)
            guard isShown, durability == .disk else { return answer }
            if let failure = await flusher.flushed() { throw failure }
            return answer
        }
    }
}
