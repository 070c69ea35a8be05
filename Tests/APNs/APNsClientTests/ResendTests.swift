// SPDX-License-Identifier: Apache-2.0

import APNsClient
import APNsSimulator
import APNsWire
import PushTransport
import Testing
import WakeModel

/// What the client sends again by itself, and what it does not: against the simulator.
@Suite("Resending", .timeLimit(.minutes(10)))
struct ResendTests {
    /// Runs a test with clocks for APNs and for the provider token, `minutes` after the first push
    /// was accepted.
    private func withExpiredToken(
        apple appleMinutes: Int64, own ownMinutes: Int64, wedges: Bool = false,
        over transport: TransportKind = .native,
        _ body: (APNsClient, APNsSimulator) async throws -> Void
    ) async throws {
        let (apple, own) = (TestClock(), TestClock())
        var configuration = APNsSimulator.Configuration()
        configuration.now = { apple.now }
        configuration.wedgesOnExpiredToken = wedges
        let tokens = try Samples.tokens(clock: own.clock)
        try await withClient(
            configuration, authentication: .providerToken(tokens), over: transport
        ) { client, simulator in
            #expect(try await client.send(Samples.background(1)).isAccepted)
            apple.advance(seconds: appleMinutes * 60)
            own.advance(seconds: ownMinutes * 60)
            simulator.clearReceivedPushes()
            try await body(client, simulator)
        }
    }

    @Test(
        "a push that met an expired token goes out once more, with a new token and the same id",
        arguments: TransportKind.allCases)
    func renewed(over transport: TransportKind) async throws {
        try await withExpiredToken(apple: 61, own: 25, over: transport) { client, simulator in
            let push = try Samples.background(2)
            #expect(try await client.send(push).isAccepted)
            let received = simulator.receivedPushes
            try #require(received.count == 2)
            #expect(received.map(\.reason) == [.expiredProviderToken, nil])
            #expect(received.allSatisfy { $0["apns-id"] == push.apnsID.description })
            #expect(received[0]["authorization"] != received[1]["authorization"])
            #expect(received[0].body == received[1].body)
        }
    }

    @Test("all pushes of a batch that met an expired token share one new token")
    func renewedBatch() async throws {
        try await withExpiredToken(apple: 61, own: 25) { client, simulator in
            let replies = await client.send(try (0..<200).map(Samples.background))
            for reply in replies { #expect(try reply.result.get().isAccepted) }
            let received = simulator.receivedPushes
            #expect(Set(received.map { $0["authorization"] }).count == 2)
            let attempts = Dictionary(grouping: received) { $0["apns-id"] }
            #expect(attempts.count == 200)
            #expect(attempts.values.allSatisfy { $0.count <= 2 })
        }
    }

    @Test("a connection that refuses every later token too is left for a new one")
    func wedged() async throws {
        try await withExpiredToken(apple: 61, own: 25, wedges: true) { client, simulator in
            #expect(try await client.send(Samples.background(2)).isAccepted)
            #expect(try await client.send(Samples.background(3)).isAccepted)
            let received = simulator.receivedPushes
            #expect(received.map(\.reason) == [.expiredProviderToken, nil, nil])
            try #require(received.count == 3)
            #expect(received[0].connection != received[1].connection)
            #expect(received[1].connection == received[2].connection)
        }
    }

    @Test("within 20 minutes of the last token the caller is told instead")
    func notTooOften() async throws {
        try await withExpiredToken(apple: 61, own: 10) { client, simulator in
            let rejection = try await client.send(Samples.background(2)).rejection
            #expect(rejection?.reason == .expiredProviderToken)
            #expect(simulator.receivedPushes.count == 1)
        }
    }

    @Test(
        "a new token that is refused as well is not renewed again, nor the push sent a third time",
        arguments: TransportKind.allCases)
    func atMostOnce(over transport: TransportKind) async throws {
        try await withExpiredToken(apple: 200, own: 25, over: transport) { client, simulator in
            let rejection = try await client.send(Samples.background(2)).rejection
            #expect(rejection?.reason == .expiredProviderToken)
            #expect(simulator.receivedPushes.count == 2)
            for number in 3..<10 {
                let rejection = try await client.send(Samples.background(number)).rejection
                #expect(rejection?.reason == .expiredProviderToken)
            }
            #expect(simulator.receivedPushes.count == 9)
            #expect(simulator.counters.connectionsOpened <= 3, "a wrong clock opens no storm")
        }
    }

    @Test(
        "a push that met a connection at its end goes out once more over another one",
        arguments: [RejectionReason.shutdown, .idleTimeout, .unrelatedKeyIDInToken])
    func anotherConnection(reason: RejectionReason) async throws {
        try await withClient { client, simulator in
            #expect(try await client.send(Samples.background(1)).isAccepted)
            simulator.clearReceivedPushes()
            simulator.inject(Fault(.reject(reason), count: 1))
            let push = try Samples.voip()
            #expect(try await client.send(push).acceptance?.apnsID == push.apnsID)
            let received = simulator.receivedPushes
            try #require(received.count == 2)
            #expect(received.map(\.reason) == [reason, nil])
            #expect(received.allSatisfy { $0["apns-id"] == push.apnsID.description })
            #expect(received[0].connection != received[1].connection)
        }
    }

    @Test(
        "nothing else is sent again",
        arguments: RejectionReason.table.map(\.reason).filter {
            ![.expiredProviderToken, .shutdown, .idleTimeout, .unrelatedKeyIDInToken].contains($0)
        })
    func nothingElse(reason: RejectionReason) async throws {
        let play = try Play()
        let task = play.send()
        let submission = await play.nextRequest()
        play.transport.answer(
            submission.id, reason.entry?.status ?? 0, #"{"reason":"\#(reason.rawValue)"}"#)
        #expect(try await task.value.rejection?.reason == reason)
        #expect(play.transport.takeEvents().isEmpty)
    }

    @Test("a failure is the caller's to judge: it is not sent again", arguments: Certainty.allCases)
    func failure(certainty: Certainty) async throws {
        let play = try Play()
        let task = play.send()
        let submission = await play.nextRequest()
        let failure = TransportFailure(.connectionLost, certainty: certainty)
        play.transport.fail(submission.id, failure)
        await #expect(throws: failure) { try await task.value }
        #expect(play.transport.takeEvents().isEmpty)
    }
}
