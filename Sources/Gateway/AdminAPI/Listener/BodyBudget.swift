// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The limit of the request bodies of all connections in memory, in bytes.
///
/// The limit of a body bounds one connection, but not a thousand with the largest batch. The first
/// ``freeByteCount`` of a body are not counted, because the number of connections bounds them. So a
/// single wake is not counted here, and is accepted regardless of the number of batches.
///
/// May be used from any thread.
final class BodyBudget: Sendable {
    /// The maximum number of counted bytes.
    let byteCount: Int
    /// The part of each body that is not counted, in bytes.
    let freeByteCount: Int

    private let taken = Atomic<Int>(0)

    init(byteCount: Int, freeByteCount: Int) {
        precondition(byteCount >= 0 && freeByteCount >= 0, "A budget of bytes begins at 0.")
        self.byteCount = byteCount
        self.freeByteCount = freeByteCount
    }

    /// The number of counted bytes.
    var takenByteCount: Int { taken.load(ordering: .relaxed) }

    /// Whether a body of this size would fit at present.
    func hasRoom(for bodyByteCount: Int) -> Bool {
        bodyByteCount <= freeByteCount
            || bodyByteCount - freeByteCount <= byteCount - takenByteCount
    }

    /// The number of bytes to count when a body grows; `nil` for none.
    func due(from oldByteCount: Int, to byteCount: Int) -> Int? {
        let due = byteCount - max(oldByteCount, freeByteCount)
        return due > 0 ? due : nil
    }

    /// Counts further bytes. Returns whether there was room; otherwise nothing is counted.
    func take(_ count: Int) -> Bool {
        var before = takenByteCount
        while count <= byteCount - before {
            let (isTaken, present) = taken.weakCompareExchange(
                expected: before, desired: before + count, ordering: .relaxed)
            if isTaken { return true }
            before = present
        }
        return false
    }

    /// Uncounts bytes.
    func giveBack(_ count: Int) {
        let before = taken.wrappingSubtract(count, ordering: .relaxed).oldValue
        assert(before >= count, "More bytes were given back than were taken.")
    }
}

/// The part of the budget that one request uses. It is released when this object is freed, after
/// the request was answered or abandoned.
final class BodyShare: Sendable {
    private let budget: BodyBudget
    private let taken = Atomic<Int>(0)

    init(of budget: BodyBudget) { self.budget = budget }

    deinit { budget.giveBack(taken.load(ordering: .relaxed)) }

    /// Takes further bytes. Returns whether there was room.
    func take(_ count: Int) -> Bool {
        guard budget.take(count) else { return false }
        taken.wrappingAdd(count, ordering: .relaxed)
        return true
    }
}
