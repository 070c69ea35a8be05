// SPDX-License-Identifier: Apache-2.0

package import APNsSimulator
package import PushTransport
import Testing

/// A simulator, a transport that sends to it, and what came back.
package struct Bench: Sendable {
    package let simulator: APNsSimulator
    package let transport: any PushTransport
    package let inbox: Inbox

    package func send(_ number: UInt64, timeout: Duration = .seconds(20)) async -> Inbox.Outcome {
        transport.submit([TestPush.submission(number, timeout: timeout)])
        return await inbox.outcome(of: number)
    }

    /// How often a push arrived whole at the server.
    package func arrivals(of number: UInt64) -> Int {
        simulator.receivedPushes.count { $0.deviceTokenHex == TestPush.token(number) }
    }
}

/// Runs `body` on a bench, and takes everything down again.
package func withBench(
    _ maker: TransportMaker,
    simulator configure: (inout APNsSimulator.Configuration) -> Void = { _ in },
    transport adjust: (inout TransportConfiguration) -> Void = { _ in },
    reusesIDs: Bool = false,
    _ body: (Bench) async throws -> Void
) async throws {
    var configuration = APNsSimulator.Configuration()
    configure(&configuration)
    let simulator = try await APNsSimulator.start(configuration)
    var reach = TransportConfiguration(host: "127.0.0.1")
    reach.port = simulator.port
    reach.trust = .pem(simulator.certificateAuthorityPEM)
    reach.proxy = .none
    reach.connectTimeout = .seconds(5)
    adjust(&reach)
    let inbox = Inbox()
    let transport = try maker.make(reach, inbox.sink)
    let bench = Bench(simulator: simulator, transport: transport, inbox: inbox)
    do {
        try await body(bench)
    } catch {
        await transport.shutDown(gracePeriod: .zero)
        try await simulator.shutdown()
        throw error
    }
    await transport.shutDown(gracePeriod: .zero)
    if !reusesIDs { #expect(inbox.answeredTwice == 0) }
    #expect(inbox.withoutContext == 0, "a submitter would not know whose outcome this is")
    #expect(transport.gauges.inFlight == 0)
    #expect(transport.gauges.queued == 0)
    #expect(transport.gauges.connections == 0)
    try await simulator.shutdown()
}

/// Polls a condition that no event announces, for at most so long.
package func eventually(
    within limit: Duration = .seconds(30), _ condition: () -> Bool
) async -> Bool {
    let clock = ContinuousClock()
    let end = clock.now + limit
    while !condition() {
        if clock.now > end { return false }
        do { try await clock.sleep(for: .milliseconds(5)) } catch { return false }
    }
    return true
}
