// SPDX-License-Identifier: Apache-2.0

package import Gateway
import PayloadRules
import Synchronization
package import WakeModel

/// A store in front of another one: it counts transactions, reports when a wake has ended, fails on
/// demand, and can be cut off for good, as by a crash of the process.
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
        var forgettingFailure: StoreFailure?
        var spoiled: [Spoiled] = []
        var gate: CheckedContinuation<Void, Never>?
        var isGated = false
        var claimHook: (@Sendable () -> Void)?
        var queuesHook: (@Sendable () async -> Void)?
        var usersHook: (@Sendable () async -> Void)?
        var refusesDuties = false
    }

    private let state = Mutex(State())
    private let base: any WakeStore

    package init(_ base: any WakeStore) { self.base = base }

    /// The number of submissions in each admitting transaction.
    package var admissions: [Int] { state.withLock { $0.admissions } }

    /// From now on every verb fails, or with `sparingReads` those only that certainly write, as on
    /// a full disk where nothing is due or overdue; `nil` ends the failure.
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

    /// The next transaction fails that goes on with forgetting a device.
    package func failNextForgetting(with failure: StoreFailure) {
        state.withLock { $0.forgettingFailure = failure }
    }

    private func checkForgetting() throws(StoreFailure) {
        let failure = state.withLock { state in
            defer { state.forgettingFailure = nil }
            return state.forgettingFailure
        }
        if let failure { throw failure }
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

    /// Calls `hook` after users were resolved for the first time from now on, before its caller
    /// has their devices.
    package func onceUsersAreResolved(_ hook: @escaping @Sendable () async -> Void) {
        state.withLock { $0.usersHook = hook }
    }

    /// From now on another gateway has every duty, or none has any.
    package func refuseDuties(_ isRefused: Bool) {
        state.withLock { $0.refusesDuties = isRefused }
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

    // MARK: Commands

    package func perform<Command: StoreCommand>(
        _ command: Command
    ) async throws(StoreFailure) -> Command.Answer {
        if command is AdmitWakes { await passGate() }
        try check(command)
        if command is ForgetPushes { try checkForgetting() }
        if let admit = command as? AdmitWakes {
            state.withLock { $0.admissions.append(admit.submissions.count) }
            try checkSpoiled { spoiled in
                admit.submissions.contains { spoiled.tokens.contains($0.wake.deviceToken) }
            }
        }
        if let settle = command as? SettleWakes {
            try checkSpoiled { spoiled in
                settle.settlements.contains { spoiled.wakes.contains($0.ticket.id) }
            }
        }
        let answer = try await base.perform(command)
        let claims = (answer as? AdmitAnswer)?.claims ?? (answer as? ClaimAnswer)?.claims ?? []
        if !claims.isEmpty { state.withLock { $0.claimHook }?() }
        if let settle = command as? SettleWakes { noteSettled(settle.settlements.count) }
        if command is ListQueues {
            let hook = state.withLock { state in
                defer { state.queuesHook = nil }
                return state.queuesHook
            }
            await hook?()
        }
        if command is ResolveUsers {
            let hook = state.withLock { state in
                defer { state.usersHook = nil }
                return state.usersHook
            }
            await hook?()
        }
        return answer
    }

    private func passGate() async {
        await withCheckedContinuation { continuation in
            let passes = state.withLock { state in
                if state.isGated { state.gate = continuation }
                return !state.isGated
            }
            if passes { continuation.resume() }
        }
    }

    private func noteSettled(_ count: Int) {
        let ready = state.withLock { state in
            state.settled += count
            let settled = state.settled
            let ready = state.watchers.filter { $0.count <= settled }
            state.watchers.removeAll { $0.count <= settled }
            return ready
        }
        for watcher in ready { watcher.continuation.resume() }
    }

    private func check<Command: StoreCommand>(_ command: Command) throws(StoreFailure) {
        // What a gateway asks for by itself finds nothing to write, mostly.
        let onlyReads =
            command.profile.access == .read || command is ClaimWakes || command is ExpireWakes
            || command is ReclaimLeases
        try check(onlyReads: onlyReads)
        if command is ExpireWakes || command is ReclaimLeases { try checkUpkeep() }
    }

    private func check(onlyReads: Bool) throws(StoreFailure) {
        let failure = state.withLock { state in
            onlyReads && state.sparesReads ? nil : state.failure
        }
        if let failure { throw failure }
    }

    private func checkUpkeep() throws(StoreFailure) {
        if let failure = state.withLock({ $0.upkeepFailure }) { throw failure }
    }

    // MARK: The rest

    package func prune(_ order: PruneOrder) async throws(StoreFailure) -> Pruned {
        try check(onlyReads: true)
        try checkUpkeep()
        return try await base.prune(order)
    }

    package func take(_ duty: StoreDuty, seconds: Int) async throws(StoreFailure) -> Bool {
        try check(onlyReads: false)
        if state.withLock({ $0.refusesDuties }) { return false }
        return try await base.take(duty, seconds: seconds)
    }

    package func giveBack(_ duty: StoreDuty) async throws(StoreFailure) {
        try check(onlyReads: false)
        try await base.giveBack(duty)
    }

    package func whenDamaged(_ tell: @escaping @Sendable (DamagedRow) -> Void) {
        base.whenDamaged(tell)
    }
}
