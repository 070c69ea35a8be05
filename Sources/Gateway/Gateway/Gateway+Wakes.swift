// SPDX-License-Identifier: Apache-2.0

import Synchronization
public import WakeModel

extension Gateway {
    /// The record of a wake; `nil` for an unknown id, and for a wake of an app that is not `among`
    /// these.
    public func record(
        of id: WakeID, among apps: Set<BundleID>? = nil
    ) async throws(StoreFailure) -> WakeRecord? {
        let record = try await context.perform(FindWake(id))
        guard let record, apps?.contains(record.app.bundleID) ?? true else { return nil }
        return record
    }

    /// Wakes, the newest first, page by page.
    public func wakes(_ query: WakeQuery) async throws(StoreFailure) -> WakePage {
        try await context.perform(ListWakes(query))
    }

    /// Waits until a wake or its carrier has ended, at most for the given time, and returns its
    /// record; `nil` for an unknown id. It does not wait when too many callers wait already.
    ///
    /// An end written by this gateway is answered immediately. One written by another gateway on
    /// the same store is found by polling: at first after
    /// ``GatewayLimits/outcomeLookMilliseconds``, then at growing intervals, up to
    /// ``GatewayLimits/outcomeLookMaximumMilliseconds``.
    public func outcome(
        of id: WakeID, within milliseconds: Int64
    ) async throws(StoreFailure) -> WakeRecord? {
        let limit = TimeLimit(milliseconds: milliseconds, from: clock.now())
        while true {
            guard let record = try await record(of: id) else { return nil }
            guard let awaited = try await whoseEndMissing(record), !limit.isOver(at: clock.now()),
                !Task.isCancelled, let entry = context.hub.signal(for: awaited)
            else { return record }
            defer { context.hub.release(entry.key, for: awaited) }
            // It may have ended between the query and the subscription.
            if try await self.record(of: awaited)?.end == nil {
                await entry.signal.wait(until: limit, clock: clock)
            }
        }
    }

    /// The wake whose end determines the outcome of a wake: itself, or its carrier; `nil` when it
    /// has ended.
    private func whoseEndMissing(_ record: WakeRecord) async throws(StoreFailure) -> WakeID? {
        guard record.end != nil else { return record.id }
        guard var carrier = record.carriedBy, record.carrierEnd == nil else { return nil }
        while let next = try await self.record(of: carrier) {
            guard next.end != nil else { return next.id }
            guard let further = next.carriedBy else { return nil }
            carrier = further
        }
        return nil
    }

    /// Ends a wake that waits, or that merged into a waiting one, and no other: wakes that merged
    /// into it still wait, and its carrier is sent without its payload, as far as the parts are
    /// distinguishable. A wake of an app that is not `among` these is unknown.
    public func cancel(
        _ id: WakeID, among apps: Set<BundleID>? = nil
    ) async throws(StoreFailure) -> CancelAnswer {
        // A wake never changes its app, so this check may precede the transaction.
        if apps != nil, try await record(of: id, among: apps) == nil { return .unknown }
        let outcome = try await context.perform(
            CancelWake(id, at: clock.now(), under: context.rules))
        context.tell(outcome.ended)
        guard let isCancelled = outcome.isCancelled, let record = try await record(of: id) else {
            return .unknown
        }
        return isCancelled ? .cancelled(record) : .tooLate(record)
    }

    /// The outcomes of all gateways on the store from now on, or behind a cursor, of all apps or of
    /// some; `nil` when there are too many readers, or too many of a named caller
    /// (``GatewayLimits/eventSubscriberCountOfCaller``).
    public func events(
        after cursor: Int64? = nil, among apps: Set<BundleID>? = nil, caller: String? = nil
    ) async throws(StoreFailure) -> OutcomeEvents? {
        let oldest = clock.now().advanced(bySeconds: -Int64(context.configuration.keptSeconds))
        return try await context.hub.feed.subscribe(
            after: cursor, keptFrom: WakeID.firstNumber(at: oldest), of: apps, caller: caller)
    }

    /// Records receipts: reports of the app that wakes launched it. Returns an answer for each, in
    /// order.
    public func confirm(_ receipts: [Receipt]) async throws(StoreFailure) -> [ReceiptAnswer] {
        let outcome = try await context.watch.observe(.readThenWrite) {
            () async throws(StoreFailure) in
            try await context.store.confirm(receipts, at: clock.now(), under: context.rules)
        }
        if !outcome.confirmingQueues.isEmpty {
            dispatcher.state.withLock { $0.confirming.formUnion(outcome.confirmingQueues) }
        }
        context.tell(outcome.ended)
        dispatcher.signal.ring()
        return outcome.answers
    }
}
