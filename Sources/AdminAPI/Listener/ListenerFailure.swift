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
