// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The weight of the callers' commands that a store has not answered yet.
///
/// It is bounded, because nothing else bounds it: a client that disconnects makes room for the next
/// connection, while its command keeps waiting. The gateway's own loops wait for one command before
/// they submit the next, and those that accept requests have bounded queues.
package final class CallersWeight: Sendable {
    /// The most that may wait, in rows to be read or in wakes to be written: more than all callers
    /// that wait for outcomes need. A list that examines 5 000 rows took 10 ms over HTTP, and one
    /// that returns 1 000 of them 24 ms.
    package static let maximum = 65_536

    private let weight = Mutex(0)
    private let refusal: StoreFailure

    /// The weight of the callers' commands that read, or that write.
    package init(ofReads isOfReads: Bool) {
        refusal = StoreFailure(
            kind: .overloaded,
            message: isOfReads
                ? "Too much waits to be read from the store already."
                : "Too much waits to be written to the store already; nothing was changed.")
    }

    /// The weight of the commands that are not answered.
    package var waiting: Int { weight.withLock { $0 } }

    /// Counts a caller's command until `body` has carried it out, and refuses it when too much
    /// waits. One by itself may be heavier than the maximum. The gateway's own commands are neither
    /// counted nor refused.
    package func bounded<Answer: Sendable>(
        _ profile: CommandProfile, _ body: () async throws(StoreFailure) -> Answer
    ) async throws(StoreFailure) -> Answer {
        guard profile.origin == .caller else { return try await body() }
        let isTaken = weight.withLock { weight in
            guard weight == 0 || weight + profile.weight <= Self.maximum else { return false }
            weight += profile.weight
            return true
        }
        guard isTaken else { throw refusal }
        defer { weight.withLock { $0 -= profile.weight } }
        return try await body()
    }
}
