// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Gateway

/// A connection, and the queue on which alone it is used.
///
// SAFETY: `@unchecked`, because a connection must not be used by two threads at a time. Only what
// runs on the serial queue gets it.
final class ConnectionQueue: @unchecked Sendable {
    private let queue: DispatchQueue
    private let connection: Connection

    /// A queue for a connection that nothing else uses from now on.
    init(_ connection: sending Connection, label: String) {
        self.connection = connection
        queue = DispatchQueue(label: label, qos: .userInitiated)
    }

    /// Waits until `body` was run. Not for what runs on the queue.
    func sync<Answer, Failure>(
        _ body: (Connection) throws(Failure) -> Answer
    ) throws(Failure) -> Answer {
        let result = queue.sync { () -> Result<Answer, Failure> in
            Result { () throws(Failure) in try body(connection) }
        }
        return try result.get()
    }

    /// Runs `body` after what was given to the queue before.
    func async(_ body: @escaping @Sendable (Connection) -> Void) {
        queue.async { body(self.connection) }
    }

    func close() throws(StoreFailure) {
        try sync { connection throws(StoreFailure) in try connection.close() }
    }
}
