// SPDX-License-Identifier: Apache-2.0

import APNsClient
import PushTransport
import Testing
import WakeModel

/// A client on a scripted transport, with a clock that stands still.
struct Play {
    let clock = TestClock()
    let client: APNsClient
    let transport: ScriptedTransport

    init() throws {
        var configuration = APNsClient.Configuration(
            environment: .sandbox,
            authentication: .providerToken(try Samples.tokens(clock: clock.clock)))
        configuration.clock = clock.clock
        var made: ScriptedTransport?
        client = try APNsClient(configuration) { configuration, sink in
            let transport = ScriptedTransport(configuration, sink)
            made = transport
            return transport
        }
        transport = try #require(made)
    }

    /// Sends a push in a task of its own.
    func send() -> Task<PushOutcome, any Error> {
        let client = client
        return Task { try await client.send(Samples.background()) }
    }

    /// The next submission, once it is there.
    func nextRequest() async -> TransportRequest {
        await transport.nextRequest()
    }

    func cancelledIDs() -> [TransportRequest.ID] {
        transport.takeEvents().compactMap { event in
            if case .cancelled(let id) = event { id } else { nil }
        }
    }
}
