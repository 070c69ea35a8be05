// SPDX-License-Identifier: Apache-2.0

import GRDB
import Gateway
import Synchronization

/// The connection of a reading connection: it sees what was committed before each transaction.
///
/// The gateway's own reads have a separate one, so that no number of callers delays a wake. The
/// callers' waiting reads are bounded, because nothing else bounds them: a client that disconnects
/// makes room for the next connection, while its read keeps waiting.
///
// SAFETY: `@unchecked`, because a connection must not be used by two threads at a time. It is made,
// used and closed on the queue of its connection only. The weight alone is anybody's, and is an
// atomic.
final class ReadConnection: @unchecked Sendable {
    /// The most that callers have waiting to be read, in rows: more than the readings of all who
    /// may wait for outcomes. For a list to look at 5 000 took 10 ms over HTTP, and to give 1 000
    /// of them 24 ms.
    static let maximumCallersWeight = 65_536
    /// How long one transaction may read. What it sees is kept in the log meanwhile, which cannot
    /// begin anew.
    static let maximumDuration: Duration = .seconds(5)
    /// The same where every row of the file is read.
    static let maximumRecountDuration: Duration = .seconds(60)

    private let database: DatabaseQueue
    private let store: StoreConnection
    private let maximumWeight: Int
    private let weight = Atomic(0)

    /// How many rows wait to be read, or for the disk after that.
    var waitingWeight: Int { weight.load(ordering: .relaxed) }

    /// A connection at a connection. What would make more than `maximumWeight` wait is refused.
    init(
        _ database: DatabaseQueue, damage: DamageListener, maximumWeight: Int = .max
    ) throws {
        self.database = database
        self.maximumWeight = maximumWeight
        store = try database.unsafeRead {
            try SQLiteWakeStore.connection($0, cachedDevices: 0, damage: damage) { _ in }
        }
    }

    /// Counts what `answer` waits for as so many rows; refuses it when too many wait.
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

    /// One transaction that reads; one that takes longer than `duration` fails. It is not given up
    /// when the calling task is cancelled.
    func read<Answer: Sendable>(
        within duration: Duration = maximumDuration,
        _ body: @escaping @Sendable (StoreConnection) throws(StoreFailure) -> Answer
    ) async throws(StoreFailure) -> Answer {
        let result: Result<Answer, StoreFailure> = await withCheckedContinuation { continuation in
            database.asyncUnsafeRead { database in
                do throws(StoreFailure) {
                    if case .failure(let error) = database { throw StoreFailure(error) }
                    let answer = try self.store.read(within: duration, body)
                    continuation.resume(returning: .success(answer))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        return try result.get()
    }

    func close() throws {
        database.unsafeRead { _ in store.close() }
        try database.close()
    }
}
