// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// How many bytes of request bodies all connections together may hold.
///
/// One connection is bounded by the limit of its body, and a thousand of them are not: each could
/// bring the largest batch. What a body has up to ``freeByteCount`` is not counted, because the
/// number of connections bounds it well enough. So a single wake costs no counting here, and finds
/// room however many batches are under way.
///
/// May be used from any thread.
final class BodyBudget: Sendable {
    /// The most bytes that are counted at a time.
    let byteCount: Int
    /// How much of each body is not counted, in bytes.
    let freeByteCount: Int

    private let taken = Atomic<Int>(0)

    init(byteCount: Int, freeByteCount: Int) {
        precondition(byteCount >= 0 && freeByteCount >= 0, "A budget of bytes begins at 0.")
        self.byteCount = byteCount
        self.freeByteCount = freeByteCount
    }

    /// How many bytes are counted at present.
    var takenByteCount: Int { taken.load(ordering: .relaxed) }

    /// Whether a body of so many bytes would fit at present.
    func hasRoom(for bodyByteCount: Int) -> Bool {
        bodyByteCount <= freeByteCount
            || bodyByteCount - freeByteCount <= byteCount - takenByteCount
    }

    /// How many bytes are to be counted when a body grows; `nil` for none.
    func due(from oldByteCount: Int, to byteCount: Int) -> Int? {
        let due = byteCount - max(oldByteCount, freeByteCount)
        return due > 0 ? due : nil
    }

    /// Counts so many bytes more. Whether there was room; otherwise nothing is counted.
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

    /// Counts so many bytes less.
    func giveBack(_ count: Int) {
        let before = taken.wrappingSubtract(count, ordering: .relaxed).oldValue
        assert(before >= count, "More bytes were given back than were taken.")
    }
}

/// What one request has taken of the budget. It gives it back when it is gone, which is when the
/// request has been answered or abandoned: no way of ending can be forgotten.
final class BodyShare: Sendable {
    private let budget: BodyBudget
    private let taken = Atomic<Int>(0)

    init(of budget: BodyBudget) { self.budget = budget }

    deinit { budget.giveBack(taken.load(ordering: .relaxed)) }

    /// Takes so many bytes more. Whether there was room.
    func take(_ count: Int) -> Bool {
        guard budget.take(count) else { return false }
        taken.wrappingAdd(count, ordering: .relaxed)
        return true
    }
}
