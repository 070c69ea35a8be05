// SPDX-License-Identifier: Apache-2.0

package import Gateway
import PayloadRules
import Synchronization
package import WakeModel

/// A store in front of another one: it counts transactions, tells when a wake has ended, fails on
/// demand, and can be cut off for good, as by the death of the process.
package final class WatchfulStore: WakeStore {
    private struct Spoiled {
        let tokens: Set<DeviceToken>
        let wakes: Set<WakeID>
        let failure: StoreFailure
        /// How many transactions it still fails.
        var times: Int
    }

    private struct State {
        var admissions: [Int] = []
        var settled = 0
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
        var failure: StoreFailure?
        var sparesReads = false
        var upkeepFailure: StoreFailure?
        var spoiled: [Spoiled] = []
        var gate: CheckedContinuation<Void, Never>?
        var isGated = false
        var claimHook: (@Sendable () -> Void)?
        var queuesHook: (@Sendable () async -> Void)?
    }

    private let state = Mutex(State())
    private let base: any WakeStore

    package init(_ base: any WakeStore) { self.base = base }

    /// The number of submissions in each admitting transaction.
    package var admissions: [Int] { state.withLock { $0.admissions } }

    /// From now on every verb fails, or with `sparingReads` those only that certainly write, as on
    /// a full disk where nothing is due or overdue; `nil` mends it.
    package func fail(with failure: StoreFailure?, sparingReads: Bool = false) {
        state.withLock { state in
            state.failure = failure
            state.sparesReads = sparingReads
        }
    }

    /// From now on what a gateway does by itself fails: ending overdue wakes, taking back leases,
    /// pruning.
    package func failUpkeep(with failure: StoreFailure?) {
        state.withLock { $0.upkeepFailure = failure }
    }

    /// From now on each transaction fails, or so many do, that admits a wake for one of these
    /// devices, or settles one of these wakes. Of several spoilings the first one counts.
    package func spoil(
        _ tokens: Set<DeviceToken>, wakes: Set<WakeID> = [], with failure: StoreFailure,
        times: Int = .max
    ) {
        state.withLock { state in
            state.spoiled.append(
                Spoiled(tokens: tokens, wakes: wakes, failure: failure, times: times))
        }
    }

    private func checkSpoiled(_ isConcerned: (Spoiled) -> Bool) throws(StoreFailure) {
        let failure = state.withLock { state -> StoreFailure? in
            let place = state.spoiled.firstIndex { $0.times > 0 && isConcerned($0) }
            guard let place else { return nil }
            state.spoiled[place].times -= 1
            return state.spoiled[place].failure
        }
        if let failure { throw failure }
    }

    /// Calls `hook` after each claim that took something, before its caller has it.
    package func whenClaimed(_ hook: @escaping @Sendable () -> Void) {
        state.withLock { $0.claimHook = hook }
    }

    /// The next admission waits until ``openGate()``.
    package func closeGate() { state.withLock { $0.isGated = true } }

    package func openGate() {
        let waiter = state.withLock { state in
            state.isGated = false
            defer { state.gate = nil }
            return state.gate
        }
        waiter?.resume()
    }

    /// Whether an admission waits for ``openGate()``.
    package var isWaitingAtGate: Bool { state.withLock { $0.gate != nil } }

    /// Calls `hook` after the queues were read for the first time from now on, before its caller
    /// has them.
    package func onceQueuesAreRead(_ hook: @escaping @Sendable () async -> Void) {
        state.withLock { $0.queuesHook = hook }
    }

    /// Returns when so many settlements were written.
    package func waitUntilSettled(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.settled >= count { return true }
                state.watchers.append((count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    private func check() throws(StoreFailure) {
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    private func checkRead() throws(StoreFailure) {
        if state.withLock({ $0.sparesReads }) { return }
        try check()
    }

    private func checkUpkeep() throws(StoreFailure) {
        if let failure = state.withLock({ $0.upkeepFailure }) { throw failure }
    }

    // MARK: Watched verbs

    package func admit(
        _ submissions: [Submission], grant: ClaimGrant?, under rules: StoreRules
    ) async throws(StoreFailure) -> AdmitAnswer {
        await withCheckedContinuation { continuation in
            let passes = state.withLock { state in
                if state.isGated { state.gate = continuation }
                return !state.isGated
            }
            if passes { continuation.resume() }
        }
        try check()
        state.withLock { $0.admissions.append(submissions.count) }
        try checkSpoiled { spoiled in
            submissions.contains { spoiled.tokens.contains($0.wake.wake.deviceToken) }
        }
        let answer = try await base.admit(submissions, grant: grant, under: rules)
        if !answer.claims.isEmpty { state.withLock { $0.claimHook }?() }
        return answer
    }

    package func claim(
        _ order: ClaimOrder, under rules: StoreRules
    ) async throws(StoreFailure) -> ClaimAnswer {
        try checkRead()
        let answer = try await base.claim(order, under: rules)
        if !answer.claims.isEmpty { state.withLock { $0.claimHook }?() }
        return answer
    }

    package func settle(
        _ settlements: [Settlement], under rules: StoreRules
    ) async throws(StoreFailure) -> SettleAnswer {
        try check()
        try checkSpoiled { spoiled in
            settlements.contains { spoiled.wakes.contains($0.ticket.id) }
        }
        let answer = try await base.settle(settlements, under: rules)
        let ready = state.withLock { state in
            state.settled += settlements.count
            let settled = state.settled
            let ready = state.watchers.filter { $0.count <= settled }
            state.watchers.removeAll { $0.count <= settled }
            return ready
        }
        for watcher in ready { watcher.continuation.resume() }
        return answer
    }

    // MARK: The rest

    package func expireOverdue(
        at now: WallInstant, limit: Int, under rules: StoreRules
    ) async throws(StoreFailure) -> [EndedWake] {
        try checkRead()
        try checkUpkeep()
        return try await base.expireOverdue(at: now, limit: limit, under: rules)
    }

    package func reclaimLapsed(
        at now: WallInstant, limit: Int, except held: Set<WakeID>, under rules: StoreRules
    ) async throws(StoreFailure) -> Reclaimed {
        try checkRead()
        try checkUpkeep()
        return try await base.reclaimLapsed(at: now, limit: limit, except: held, under: rules)
    }

    package func cancel(
        _ id: WakeID, at now: WallInstant, under rules: StoreRules
    ) async throws(StoreFailure) -> CancelOutcome {
        try check()
        return try await base.cancel(id, at: now, under: rules)
    }

    package func report(
        _ report: DeviceReport, of token: DeviceToken, in queues: [WakeQueueKey], makes: Bool,
        at now: WallInstant, under rules: StoreRules
    ) async throws(StoreFailure) -> ReportOutcome {
        try check()
        return try await base.report(
            report, of: token, in: queues, makes: makes, at: now, under: rules)
    }

    package func confirm(
        _ receipts: [Receipt], at now: WallInstant, under rules: StoreRules
    ) async throws(StoreFailure) -> ReceiptOutcome {
        try check()
        return try await base.confirm(receipts, at: now, under: rules)
    }

    package func queues() async throws(StoreFailure) -> [WakeQueueRow] {
        try checkRead()
        let rows = try await base.queues()
        let hook = state.withLock { state in
            defer { state.queuesHook = nil }
            return state.queuesHook
        }
        await hook?()
        return rows
    }

    package func setPause(
        _ pause: QueuePause?, of queues: [WakeQueueKey]
    ) async throws(StoreFailure) {
        try check()
        try await base.setPause(pause, of: queues)
    }

    package func nextDue(in queues: [WakeQueueKey]) async throws(StoreFailure) -> WallInstant? {
        try checkRead()
        return try await base.nextDue(in: queues)
    }

    package func record(of id: WakeID) async throws(StoreFailure) -> WakeRecord? {
        try checkRead()
        return try await base.record(of: id)
    }

    package func wakes(_ query: WakeQuery) async throws(StoreFailure) -> WakePage {
        try checkRead()
        return try await base.wakes(query)
    }

    package func devices(
        _ token: DeviceToken, in queues: [WakeQueueKey], at now: WallInstant,
        under rules: StoreRules
    ) async throws(StoreFailure) -> [DeviceView] {
        try checkRead()
        return try await base.devices(token, in: queues, at: now, under: rules)
    }

    package func count() async throws(StoreFailure) -> StoreCount {
        try checkRead()
        return try await base.count()
    }

    package func recount() async throws(StoreFailure) -> StoreCount {
        try checkRead()
        return try await base.recount()
    }

    package func feedback(
        after cursor: Int64, limit: Int, of apps: Set<BundleID>?
    ) async throws(StoreFailure) -> [FeedbackEntry] {
        try checkRead()
        return try await base.feedback(after: cursor, limit: limit, of: apps)
    }

    package func note(_ halt: AppHalt, under rules: StoreRules) async throws(StoreFailure) {
        try check()
        try await base.note(halt, under: rules)
    }

    package func claimWebhooks(
        of endpoint: WebhookEndpointID, at now: WallInstant, until leaseEnd: WallInstant,
        limit: Int
    ) async throws(StoreFailure) -> WebhookBatch {
        try check()
        return try await base.claimWebhooks(
            of: endpoint, at: now, until: leaseEnd, limit: limit)
    }

    package func settleWebhooks(
        _ settlements: [WebhookSettlement]
    ) async throws(StoreFailure) {
        try check()
        try await base.settleWebhooks(settlements)
    }

    package func whenDamaged(_ tell: @escaping @Sendable (DamagedRow) -> Void) {
        base.whenDamaged(tell)
    }

    package func tryWriting() async throws(StoreFailure) {
        try check()
        try await base.tryWriting()
    }

    package func prune(_ order: PruneOrder) async throws(StoreFailure) -> Pruned {
        try checkRead()
        try checkUpkeep()
        return try await base.prune(order)
    }
}
