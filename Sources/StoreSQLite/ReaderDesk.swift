// SPDX-License-Identifier: Apache-2.0

import GRDB
import Gateway
import Synchronization

/// The desk of the reading connection: it sees what was committed before each transaction.
///
// SAFETY: `@unchecked`, because a desk must not be used by two threads at a time. It is made, used
// and closed on the queue of its connection only.
final class ReaderDesk: @unchecked Sendable {
    private let database: DatabaseQueue
    private let desk: Desk

    init(_ database: DatabaseQueue) throws {
        self.database = database
        desk = try database.unsafeRead { try SQLiteWakeStore.desk($0, cachedDevices: 0) { _ in } }
    }

    /// One transaction that reads. It is not given up when the calling task is cancelled.
    func read<Answer: Sendable>(
        _ body: @escaping @Sendable (WakeBooks) throws(StoreFailure) -> Answer
    ) async throws(StoreFailure) -> Answer {
        let result: Result<Answer, StoreFailure> = await withCheckedContinuation { continuation in
            database.asyncUnsafeRead { database in
                do throws(StoreFailure) {
                    if case .failure(let error) = database { throw StoreFailure(error) }
                    let answer = try self.desk.read(body)
                    continuation.resume(returning: .success(answer))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        return try result.get()
    }

    func close() throws {
        database.unsafeRead { _ in desk.close() }
        try database.close()
    }
}
