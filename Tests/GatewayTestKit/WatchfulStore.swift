// SPDX-License-Identifier: Apache-2.0

public import Gateway
import Synchronization
public import WakeModel

/// A store in front of another one: it counts transactions, tells when a wake has ended, fails on
/// demand, and can be cut off for good, as by the death of the process.
public final class WatchfulStore: WakeStore {
    private struct State {
        var admissions: [Int] = []
        var settled = 0
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
        var failure: StoreFailure?
        var gate: CheckedContinuation<Void, Never>?
        var isGated = false
    }

    private let state = Mutex(State())
    private let base: any WakeStore

    public init(_ base: any WakeStore) { self.base = base }

    /// The number of submissions in each admitting transaction.
    public var admissions: [Int] { state.withLock { $0.admissions } }

    /// From now on every verb fails; `nil` mends it.
    public func fail(with failure: StoreFailure?) { state.withLock { $0.failure = failure } }

    /// The next admission waits until ``openGate()``.
    public func closeGate() { state.withLock { $0.isGated = true } }

    public func openGate() {
        let waiter = state.withLock { state in
            state.isGated = false
            defer { state.gate = nil }
            return state.gate
        }
        waiter?.resume()
    }

    /// Returns when so many settlements were written.
    public func waitUntilSettled(_ count: Int) async {
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

    public func admit(_ submissions: [Submission]) async throws(StoreFailure) -> [Admission] {
        await withCheckedContinuation { continuation in
            let passes = state.withLock { state in
                if state.isGated { state.gate = continuation }
                return !state.isGated
            }
            if passes { continuation.resume() }
        }
        try check()
        state.withLock { $0.admissions.append(submissions.count) }
        return try await base.admit(submissions)
    }

    public func claim(_ order: ClaimOrder) async throws(StoreFailure) -> [Claim] {
        try check()
        return try await base.claim(order)
    }

    public func settle(
        _ settlements: [Settlement]
    ) async throws(StoreFailure) -> [SettlementVerdict] {
        try check()
        let verdicts = try await base.settle(settlements)
        let ready = state.withLock { state in
            state.settled += settlements.count
            let settled = state.settled
            let ready = state.watchers.filter { $0.count <= settled }
            state.watchers.removeAll { $0.count <= settled }
            return ready
        }
        for watcher in ready { watcher.continuation.resume() }
        return verdicts
    }

    public func expireOverdue(
        at now: WallInstant, limit: Int
    ) async throws(StoreFailure) -> [WakeID] {
        try check()
        return try await base.expireOverdue(at: now, limit: limit)
    }

    public func reclaimLapsed(
        at now: WallInstant, limit: Int
    ) async throws(StoreFailure) -> Reclaimed {
        try check()
        return try await base.reclaimLapsed(at: now, limit: limit)
    }

    public func nextDue(in lanes: [Lane]) async throws(StoreFailure) -> WallInstant? {
        try check()
        return try await base.nextDue(in: lanes)
    }

    public func record(of id: WakeID) async throws(StoreFailure) -> WakeRecord? {
        try check()
        return try await base.record(of: id)
    }

    public func countUnended() async throws(StoreFailure) -> Int {
        try check()
        return try await base.countUnended()
    }

    public func recount() async throws(StoreFailure) -> StoreCount {
        try check()
        return try await base.recount()
    }

    public func forgetIdempotencyKeys(
        at now: WallInstant, limit: Int
    ) async throws(StoreFailure) -> Int {
        try check()
        return try await base.forgetIdempotencyKeys(at: now, limit: limit)
    }
}
