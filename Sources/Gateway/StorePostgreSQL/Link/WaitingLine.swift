// SPDX-License-Identifier: Apache-2.0

internal import DequeModule

/// Those who wait for a session, in the order in which they get one: a higher rank before a lower
/// one, though never twice in a row, so that no rank waits forever; within a rank as they came.
struct WaitingLine<Waiter> {
    private struct Queue {
        var waiters: Deque<Waiter> = []
        /// Whether the last one of this rank passed those of lower ranks.
        var hasPassed = false
    }

    private var queues = Session.Rank.allCases.map { _ in Queue() }

    var count: Int { queues.reduce(0) { $0 + $1.waiters.count } }
    var isEmpty: Bool { queues.allSatisfy(\.waiters.isEmpty) }

    mutating func append(_ waiter: Waiter, _ rank: Session.Rank) {
        queues[rank.rawValue].waiters.append(waiter)
    }

    /// Removes the next one, with its rank; without `callers` none of those.
    mutating func popNext(callers: Bool) -> (Waiter, Session.Rank)? {
        let waiting = Session.Rank.allCases.filter { rank in
            !queues[rank.rawValue].waiters.isEmpty && (callers || rank != .caller)
        }
        for rank in Session.Rank.allCases {
            let mayPass = !queues[rank.rawValue].hasPassed
            queues[rank.rawValue].hasPassed = false
            guard waiting.contains(rank), mayPass || rank == waiting.last else { continue }
            queues[rank.rawValue].hasPassed = rank != waiting.last
            return queues[rank.rawValue].waiters.popFirst().map { ($0, rank) }
        }
        return nil
    }

    /// Removes those for whom this holds.
    mutating func removeAll(where isGone: (Waiter) -> Bool) -> [Waiter] {
        var gone: [Waiter] = []
        for index in queues.indices where queues[index].waiters.contains(where: isGone) {
            gone += queues[index].waiters.filter(isGone)
            queues[index].waiters.removeAll(where: isGone)
        }
        return gone
    }
}
