// SPDX-License-Identifier: Apache-2.0

package import Gateway
import Synchronization
package import WakeModel

/// A store in front of another one: it counts transactions, tells when a wake has ended, fails on
/// demand, and can be cut off for good, as by the death of the process.
package final class WatchfulStore: WakeStore {
    private struct State {
        var admissions: [Int] = []
        var settled = 0
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
        var failure: StoreFailure?
        var gate: CheckedContinuation<Void, Never>?
        var isGated = false
        var claimHook: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())
    private let base: any WakeStore

    package init(_ base: any WakeStore) { self.base = base }

    /// The number of submissions in each admitting transaction.
    package var admissions: [Int] { state.withLock { $0.admissions } }

    /// From now on every verb fails; `nil` mends it.
    package func fail(with failure: StoreFailure?) { state.withLock { $0.failure = failure } }

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

    package func admit(_ submissions: [Submission]) async throws(StoreFailure) -> [Admission] {
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

    package func claim(_ order: ClaimOrder) async throws(StoreFailure) -> [Claim] {
        try check()
        let claims = try await base.claim(order)
        if !claims.isEmpty { state.withLock { $0.claimHook }?() }
        return claims
    }

    package func settle(
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

    package func expireOverdue(
        at now: WallInstant, limit: Int
    ) async throws(StoreFailure) -> [WakeID] {
        try check()
        return try await base.expireOverdue(at: now, limit: limit)
    }

    package func reclaimLapsed(
        at now: WallInstant, limit: Int
    ) async throws(StoreFailure) -> Reclaimed {
        try check()
        return try await base.reclaimLapsed(at: now, limit: limit)
    }

    package func nextDue(in lanes: [Lane]) async throws(StoreFailure) -> WallInstant? {
        try check()
        return try await base.nextDue(in: lanes)
    }

    package func record(of id: WakeID) async throws(StoreFailure) -> WakeRecord? {
        try check()
        return try await base.record(of: id)
    }

    package func countUnended() async throws(StoreFailure) -> Int {
        try check()
        return try await base.countUnended()
    }

    package func recount() async throws(StoreFailure) -> StoreCount {
        try check()
        return try await base.recount()
    }

    package func forgetIdempotencyKeys(
        at now: WallInstant, limit: Int
    ) async throws(StoreFailure) -> Int {
        try check()
        return try await base.forgetIdempotencyKeys(at: now, limit: limit)
    }
}
