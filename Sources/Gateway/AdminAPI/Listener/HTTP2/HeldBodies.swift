// SPDX-License-Identifier: Apache-2.0

/// The bodies that one connection holds for its requests. Together they have as much memory as the
/// one body of a connection of HTTP/1.1 that is not counted; more counts against the budget.
struct HeldBodies {
    private let budget: BodyBudget
    private var byteCount = 0
    /// The bytes that were taken from the budget.
    private var takenByteCount = 0

    init(within budget: BodyBudget) { self.budget = budget }

    /// Counts further bytes of a body of which `held` bytes are counted. Returns whether there is
    /// room.
    mutating func hold(_ count: Int, _ held: inout Int) -> Bool {
        // What is beyond this of one body is counted where it is read.
        let count = min(count, budget.freeByteCount - held)
        guard count > 0 else { return true }
        let due = byteCount + count - budget.freeByteCount - takenByteCount
        if due > 0 {
            guard budget.take(due) else { return false }
            takenByteCount += due
        }
        byteCount += count
        held += count
        return true
    }

    /// Uncounts all bytes of a body.
    mutating func release(_ held: inout Int) {
        byteCount -= held
        held = 0
        let surplus = takenByteCount - max(0, byteCount - budget.freeByteCount)
        guard surplus > 0 else { return }
        budget.giveBack(surplus)
        takenByteCount -= surplus
    }
}
