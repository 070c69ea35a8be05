// SPDX-License-Identifier: Apache-2.0

import NIOCore
import ServiceLifecycle

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Why the API cannot listen, or cannot go on: the system's refusal, with what to do about it.
public struct ListenerFailure: Error, Hashable, CustomStringConvertible {
    /// The system's error number (`errno`).
    public let code: Int32

    /// The failure that this error number stands for.
    public init(code: Int32) { self.code = code }

    /// A sentence or two.
    public var description: String {
        switch code {
        case EADDRINUSE:
            "another program listens there. Stop it, or listen elsewhere (--listen)."
        case EADDRNOTAVAIL:
            "this machine has no such address. Listen on one that it has (--listen)."
        case EACCES:
            "this user may not. Listen on a port above 1023, or where the user may write (--listen)."
        case ENOENT:
            "there is no such folder. Make it, or listen elsewhere (--listen)."
        default:
            (strerror(code).map { String(cString: $0) } ?? "error \(code)") + "."
        }
    }
}

/// A server whose refusals by the system are a ``ListenerFailure`` instead of the event loop's own
/// error, which is written for programmers.
struct ListeningService<Server: Service>: Service {
    let server: Server

    func run() async throws {
        do {
            try await server.run()
        } catch let error as IOError {
            throw ListenerFailure(code: error.errnoCode)
        }
    }
}
