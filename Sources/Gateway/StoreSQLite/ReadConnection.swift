// SPDX-License-Identifier: Apache-2.0

import Gateway
import StoreRows

/// A connection for reading: a transaction sees what was committed before it.
///
/// The gateway's own reads have a separate one, so that no number of callers delays a wake. The
/// callers' waiting reads are bounded by ``CallersWeight``.
///
// SAFETY: `@unchecked`, because a connection must not be used by two threads at a time. It is
// created and used on the queue of its connection only.
final class ReadConnection: @unchecked Sendable {
    /// The longest duration of one transaction. The log cannot restart meanwhile.
    static let maximumDuration: Duration = .seconds(5)
    /// The same where every row of the file is read.
    static let maximumRecountDuration: Duration = .seconds(60)

    private let database: ConnectionQueue
    private let store: StoreConnection

    /// Creates a connection over an open one.
    init(_ database: ConnectionQueue, damage: DamageListener) throws(StoreFailure) {
        self.database = database
        store = try database.sync { connection throws(StoreFailure) in
            try StoreConnection(connection, cachedDevices: 0, damage: damage)
        }
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
