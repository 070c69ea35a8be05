// SPDX-License-Identifier: Apache-2.0

import NIOCore
import ServiceLifecycle

/// The system does not let the API listen, or not any longer.
public struct ListenerFailure: Error, Hashable {
    /// The system's error number (`errno`).
    public let code: Int32

    /// The failure that this error number stands for.
    public init(code: Int32) { self.code = code }
}

/// A server whose refusals by the system are a ``ListenerFailure`` instead of the event loop's own
/// error, which is written for programmers.
///
/// It also ends the intervals of the log of refusals.
struct ListeningService<Server: Service>: Service {
    let server: Server
    let refusals: RefusalLog
    /// The socket in the file system; `nil` for a port.
    let socket: ListeningSocket?

    func run() async throws {
        socket?.begin()
        defer { socket?.end() }
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await server.run() }
                group.addTask { await refusals.run() }
                try await group.next()
                group.cancelAll()
            }
        } catch let error as IOError {
            throw ListenerFailure(code: error.errnoCode)
        }
        if let failure = socket?.failure { throw failure }
    }
}
