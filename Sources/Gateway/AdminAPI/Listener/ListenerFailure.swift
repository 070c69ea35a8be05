// SPDX-License-Identifier: Apache-2.0

import Glibc
import NIOCore
import ServiceLifecycle

/// The failure of the system to let the API listen.
public struct ListenerFailure: Error, Hashable {
    /// The system's error number (`errno`).
    public let code: Int32

    /// The failure with this error number.
    public init(code: Int32) { self.code = code }
}

/// A server that throws ``ListenerFailure`` instead of the event loop's own error, which is for
/// programmers.
struct ListeningService<Server: Service>: Service {
    let server: Server
    /// The socket in the file system; `nil` for a port.
    let socket: ListeningSocket?
    /// The concurrent work, until it is cancelled.
    let meanwhile: [@Sendable () async -> Void]

    func run() async throws {
        try socket?.begin()
        defer { socket?.end() }
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await server.run() }
                for work in meanwhile { group.addTask { await work() } }
                try await group.next()
                group.cancelAll()
            }
        } catch let error as IOError {
            throw ListenerFailure(code: error.errnoCode)
        } catch is SocketAddressError.UnknownHost {
            throw ListenerFailure(code: EADDRNOTAVAIL)
        }
        if let failure = socket?.failure { throw failure }
    }
}
