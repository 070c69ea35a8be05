// SPDX-License-Identifier: Apache-2.0

import Gateway
import StoreRows
import Synchronization

/// A connection for reading: a transaction sees what was committed before it.
///
/// The gateway's own reads have a separate one, so that no number of callers delays a wake. The
/// callers' waiting reads are bounded, because nothing else bounds them: a client that disconnects
/// makes room for the next connection, while its read keeps waiting.
///
// SAFETY: `@unchecked`, because a connection must not be used by two threads at a time. It is
// created and used on the queue of its connection only, except for the weight, which is an atomic.
final class ReadConnection: @unchecked Sendable {
    /// The most rows that callers may have waiting to be read: more than all callers that wait for
    /// outcomes need. A list that examines 5 000 rows took 10 ms over HTTP, and one that returns 1
    /// 000 of them 24 ms.
    static let maximumCallersWeight = 65_536
    /// The longest duration of one transaction. The log cannot restart meanwhile.
    static let maximumDuration: Duration = .seconds(5)
    /// The same where every row of the file is read.
    static let maximumRecountDuration: Duration = .seconds(60)

    private let database: ConnectionQueue
    private let store: StoreConnection
    private let maximumWeight: Int
    private let weight = Atomic(0)

    /// The number of rows that wait to be read, or for the disk after that.
    var waitingWeight: Int { weight.load(ordering: .relaxed) }

    /// Creates a connection over an open one. A read that would make more than `maximumWeight` wait
    /// is refused.
    init(
        _ database: ConnectionQueue, damage: DamageListener, maximumWeight: Int = .max
    ) throws(StoreFailure) {
        self.database = database
        self.maximumWeight = maximumWeight
        store = try database.sync { connection throws(StoreFailure) in
            try StoreConnection(connection, cachedDevices: 0, damage: damage)
        }
    }

    /// Counts the rows that `answer` waits for; refuses it when too many wait.
    func bounded<Answer: Sendable>(
        weight: Int, _ answer: () async throws(StoreFailure) -> Answer
    ) async throws(StoreFailure) -> Answer {
        defer { self.weight.subtract(weight, ordering: .relaxed) }
        let (before, after) = self.weight.add(weight, ordering: .relaxed)
        guard before == 0 || after <= maximumWeight else {
            throw StoreFailure(
                kind: .overloaded, message: "Too much waits to be read from the store already.")
        }
        return try await answer()
    }

    /// Runs one reading transaction; one that takes longer than `duration` fails. Cancelling the
    /// calling task does not end it.
    func read<Answer: Sendable>(
        within duration: Duration = maximumDuration,
        _ body: @escaping @Sendable (StoreConnection) throws(StoreFailure) -> Answer
    ) async throws(StoreFailure) -> Answer {
        let result: Result<Answer, StoreFailure> = await withCheckedContinuation { continuation in
            database.async { _ in
                continuation.resume(
                    returning: Result { () throws(StoreFailure) in
                        try self.store.read(within: duration, body)
                    })
            }
        }
        return try result.get()
    }

    func close() throws(StoreFailure) { try database.close() }
}
