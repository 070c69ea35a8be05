// SPDX-License-Identifier: Apache-2.0

import Synchronization
import WakeModel

extension Dispatcher {
    /// Claims what is due until the dispatcher is stopped.
    func claimUntilStopped() async {
        while !state.withLock({ $0.isStopping }) {
            do throws(StoreFailure) {
                try await keepHouse()
                guard try await !claim() else { continue }
                let instant = try await nextInstant()
                state.withLock { $0.nextLook = instant }
                await bell.wait(until: instant, clock: clock)
                state.withLock { $0.nextLook = WallInstant(millisecondsSinceEpoch: .max) }
            } catch {
                let pause = Int64(limits.storePauseMilliseconds)
                await bell.wait(
                    until: clock.now().advanced(byMilliseconds: pause), clock: clock)
            }
        }
    }

    /// Claims once, VoIP first and with all the room, background with what is left beside the
    /// reserve. Whether anything was found.
    private func claim() async throws(StoreFailure) -> Bool {
        let free = limits.inFlightCount - state.withLock { $0.inFlight }
        let voip = try await claim(\.voipLanes, limit: min(free, limits.claimBatchCount))
        let room = min(
            free - voip.claimed - limits.voipReserveCount,
            limits.claimBatchCount - voip.claimed)
        let background = try await claim(\.backgroundLanes, limit: room)
        return voip.found + background.found > 0
    }

    private func claim(
        _ path: KeyPath<State, [Lane]>, limit: Int
    ) async throws(StoreFailure) -> (claimed: Int, found: Int) {
        guard limit > 0 else { return (0, 0) }
        let now = clock.now()
        let (shares, leaseSeconds) = state.withLock { state in
            let lanes = state.open(path)
            return (
                state.holds.shares(of: lanes, limit: limit, now: now), state.leaseSeconds(limits)
            )
        }
        guard !shares.isEmpty else { return (0, 0) }
        let order = ClaimOrder(
            shares: shares, limit: limit, now: now,
            leaseUntil: now.advanced(bySeconds: Int64(leaseSeconds)))
        let answer = try await hall.claim(order)
        state.withLock { state in
            state.inFlight += answer.claims.count
            state.leases.take(answer.claims)
            for share in shares {
                if answer.unfinished.contains(share.lane) {
                    state.unfinished.insert(share.lane)
                } else {
                    state.unfinished.remove(share.lane)
                }
            }
            guard !state.holds.holds.isEmpty else { return }
            for claim in answer.claims { state.holds.claimed(claim.lane) }
        }
        if !answer.claims.isEmpty { deliveries.put(answer.claims) }
        return (
            answer.claims.count, answer.claims.count + answer.ended.count + answer.deferred
        )
    }

    /// When to look again if nothing rings before: the next due time in a lane that may send, or
    /// the next housekeeping. Without room in flight only a settlement, which rings, changes that.
    private func nextInstant() async throws(StoreFailure) -> WallInstant {
        let now = clock.now()
        let (inFlight, free, housekeeping) = state.withLock { state in
            let lanes = state.open(\.voipLanes) + state.open(\.backgroundLanes)
            let shares = state.holds.shares(of: lanes, limit: 1, now: now)
            let earliest = state.holds.nextProbe(after: now).map { min($0, state.nextHousekeeping) }
            return (state.inFlight, shares.map(\.lane), earliest ?? state.nextHousekeeping)
        }
        let hasRoom = inFlight < limits.inFlightCount - limits.voipReserveCount
        let lanes = hasRoom ? free : free.filter { $0.kind == .voip }
        guard inFlight < limits.inFlightCount, !lanes.isEmpty else { return housekeeping }
        guard let due = try await hall.nextDue(in: lanes) else { return housekeeping }
        return min(due, housekeeping)
    }
}

extension Dispatcher.State {
    /// The lanes of a kind that nobody paused, beginning with another one each time, so that none
    /// always comes last.
    fileprivate mutating func open(_ path: KeyPath<Self, [Lane]>) -> [Lane] {
        let lanes = self[keyPath: path].filter { paused[$0.app] == nil }
        guard lanes.count > 1 else { return lanes }
        rotation &+= 1
        let start = Int(UInt(bitPattern: rotation) % UInt(lanes.count))
        return Array(lanes[start...] + lanes[..<start])
    }
}
