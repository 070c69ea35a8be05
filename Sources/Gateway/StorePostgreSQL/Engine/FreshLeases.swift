// SPDX-License-Identifier: Apache-2.0

import Gateway
import Synchronization
import WakeModel

/// The wakes that this gateway claimed with their admission, and whose outcome is awaited.
///
/// Most wakes are sent immediately and end a few milliseconds later. Two index entries for so short
/// a time would be a good part of their cost; so such a lease is *fresh*: it is in its row and
/// here, but in no place. Fresh leases of a stopped gateway are found by its writers' floors: no
/// wake with a smaller number of a writer's slot has a fresh lease.
final class FreshLeases: Sendable {
    private struct State {
        /// When each lease ends, and how many heartbeats there had been before it.
        var ends: [Int64: (at: WallInstant, beat: Int)] = [:]
        /// How many heartbeats there were.
        var beats = 0
        /// The numbers of each slot, the smallest first; some may have ended by now.
        var numbers: [Int64: [Int64]] = [:]
        /// How many of those have been passed.
        var passed: [Int64: Int] = [:]
    }

    private let state = Mutex(State())

    /// Takes note of a write: what it claimed anew, and what it put somewhere else.
    func note(_ changes: Changes, slot: Int64) {
        state.withLock { state in
            for wake in changes.newWakes where wake.state == .claimed {
                state.ends[wake.number] = (wake.leaseUntil, state.beats)
                state.numbers[slot, default: []].append(wake.number)
            }
            guard !state.ends.isEmpty else { return }
            for change in changes.wakes where WritePlan.placement(of: change) != .kept {
                state.ends[change.row.number] = nil
            }
            for number in changes.damagedWakes { state.ends[number] = nil }
        }
    }

    /// The number below which no wake of a slot has a fresh lease; `nil` when none has.
    func floor(ofSlot slot: Int64) -> Int64? {
        state.withLock { state in
            let numbers = state.numbers[slot] ?? []
            var place = state.passed[slot] ?? 0
            while place < numbers.count, state.ends[numbers[place]] == nil { place += 1 }
            if place > numbers.count / 2 {
                // Moving the rest to the front costs no more than what was passed.
                state.numbers[slot]?.removeFirst(place)
                state.passed[slot] = 0
                return place < numbers.count ? numbers[place] : nil
            }
            state.passed[slot] = place
            return place < numbers.count ? numbers[place] : nil
        }
    }

    /// Those whose lease has ended, the earliest first.
    func lapsed(at now: WallInstant, limit: Int) -> [Int64] {
        state.withLock { state in
            state.ends.filter { $0.value.at <= now }
                .sorted { ($0.value.at, $0.key) < ($1.value.at, $1.key) }
                .prefix(limit).map(\.key)
        }
    }

    /// Counts a heartbeat. Returns those that have lasted for so many: one slow push must not hold
    /// the floor down.
    func beat(olderThan beats: Int) -> [Int64] {
        state.withLock { state in
            state.beats += 1
            return state.ends.filter { $0.value.beat < state.beats - beats }.keys.sorted()
        }
    }

    /// Those whose lease ends after an instant, which only a wrong clock can have put there.
    func numbers(after bound: WallInstant) -> [Int64] {
        state.withLock { $0.ends.filter { $0.value.at > bound }.keys.sorted() }
    }

    /// Removes those that are in a place now.
    func remove(_ numbers: [Int64]) {
        state.withLock { state in for number in numbers { state.ends[number] = nil } }
    }
}
