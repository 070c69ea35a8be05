// SPDX-License-Identifier: Apache-2.0

import APNsClient
import APNsSimulator
import APNsWire
import PushTransport
import Testing
import WakeModel

/// What the client sends again by itself, and what it does not: against the simulator.
@Suite("Resending", .timeLimit(.minutes(1)))
struct ResendTests {
    /// Runs a test with clocks for APNs and for the provider token, `minutes` after the first push
    /// was accepted.
    private func withExpiredToken(
        apple appleMinutes: Int64, own ownMinutes: Int64, wedges: Bool = false,
        _ body: (APNsClient, APNsSimulator) async throws -> Void
    ) async throws {
        let (apple, own) = (TestClock(), TestClock())
        var configuration = APNsSimulator.Configuration()
        configuration.now = { apple.now }
        configuration.wedgesOnExpiredToken = wedges
        let tokens = try Samples.tokens(clock: own.clock)
        try await withClient(configuration, authentication: .providerToken(tokens)) {
            client, simulator in
            #expect(try await client.send(Samples.background(1)).isAccepted)
            apple.advance(seconds: appleMinutes * 60)
            own.advance(seconds: ownMinutes * 60)
            simulator.clearReceivedPushes()
            try await body(client, simulator)
        }
    }

    @Test("a push that met an expired token goes out once more, with a new token and the same id")
    func renewed() async throws {
        try await withExpiredToken(apple: 61, own: 25) { client, simulator in
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
        "a new token that is refused as well is not renewed again, nor the push sent a third time")
    func atMostOnce() async throws {
        try await withExpiredToken(apple: 200, own: 25) { client, simulator in
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
        let submission = await play.nextSubmission()
        play.transport.answer(
            submission.id, reason.entry?.status ?? 0, #"{"reason":"\#(reason.rawValue)"}"#)
        #expect(try await task.value.rejection?.reason == reason)
        #expect(play.transport.takeEvents().isEmpty)
    }

    @Test("a failure is the caller's to judge: it is not sent again", arguments: Certainty.allCases)
    func failure(certainty: Certainty) async throws {
        let play = try Play()
        let task = play.send()
        let submission = await play.nextSubmission()
        let failure = TransportFailure(.connectionLost, certainty: certainty)
        play.transport.fail(submission.id, failure)
        await #expect(throws: failure) { try await task.value }
        #expect(play.transport.takeEvents().isEmpty)
    }
}

/// The same, step by step, on a transport that the test plays.
@Suite("Resending, step by step")
struct ResendStepTests {
    static let shutdown = #"{"reason":"Shutdown"}"#

    @Test("a resend has what is left of the push's time, and is not made when nothing is left")
    func deadline() async throws {
        let play = try Play()
        let task = play.send()
        let first = await play.nextSubmission()
        #expect(first.timeout == .seconds(30))
        play.clock.advance(seconds: 20)
        play.transport.answer(first.id, 503, Self.shutdown)
        let second = await play.nextSubmission()
        #expect(second.timeout == .seconds(10))
        play.transport.answer(second.id, 200)
        #expect(try await task.value.isAccepted)

        let late = play.send()
        let third = await play.nextSubmission()
        play.clock.advance(seconds: 30)
        play.transport.answer(third.id, 503, Self.shutdown)
        #expect(try await late.value.rejection?.reason == .shutdown)
    }

    @Test("connections are replaced before the resend, and once for many answers")
    func replacement() async throws {
        let play = try Play()
        let (first, second) = (play.send(), play.send())
        let ids = [await play.nextSubmission().id, await play.nextSubmission().id]
        for id in ids { play.transport.answer(id, 503, Self.shutdown) }
        let events = play.transport.takeEvents()
        try #require(events.count == 3)
        guard case .replacedConnections = events[0] else {
            Issue.record("the resend was handed over before the connections were replaced")
            return
        }
        for case .submitted(let submission) in events {
            play.transport.answer(submission.id, 200)
        }
        #expect(try await first.value.isAccepted)
        #expect(try await second.value.isAccepted)
    }

    @Test("cancelling reaches a push that is out for the second time")
    func cancelResend() async throws {
        let play = try Play()
        let task = play.send()
        play.transport.answer(await play.nextSubmission().id, 503, Self.shutdown)
        let resend = await play.nextSubmission()
        task.cancel()
        #expect(play.cancelledIDs().contains(resend.id))
        play.transport.fail(resend.id, TransportFailure(.cancelled, certainty: .unknown))
        await #expect(throws: TransportFailure.self) { try await task.value }
    }

    @Test("a push that was given up on is not sent again")
    func cancelledFirst() async throws {
        let play = try Play()
        let task = play.send()
        let first = await play.nextSubmission()
        task.cancel()
        play.transport.answer(first.id, 503, Self.shutdown)
        #expect(try await task.value.rejection?.reason == .shutdown)
        #expect(play.transport.takeSubmissions().isEmpty)
    }

    @Test("cancelling while the resend is being handed over reaches it as well")
    func cancelBetween() async throws {
        let play = try Play()
        let task = play.send()
        let first = await play.nextSubmission()
        play.transport.interruptNextSubmission { task.cancel() }
        play.transport.answer(first.id, 503, Self.shutdown)
        let events = play.transport.takeEvents()
        let order = events.compactMap { event -> String? in
            switch event {
            case .submitted: "submitted"
            case .cancelled(let id): id == first.id ? nil : "cancelled"
            case .replacedConnections: nil
            }
        }
        #expect(order == ["cancelled", "submitted", "cancelled"])
        for case .submitted(let submission) in events {
            play.transport.fail(submission.id, TransportFailure(.cancelled, certainty: .notSent))
        }
        await #expect(throws: TransportFailure.self) { try await task.value }
    }
}

@Suite("Clock skew")
struct ClockSkewTests {
    /// Samples.start, as a server writes it.
    static let date = "Sat, 21 Nov 2026 09:34:00 GMT"

    @Test(
        "the date of an answer tells how far APNs is ahead",
        arguments: [(0, 0.5), (-90, 90.5), (3600, -3599.5)] as [(Int64, Double)])
    func skew(ownSeconds: Int64, expected: Double) async throws {
        let play = try Play()
        #expect(play.client.clockSkew == nil)
        play.clock.advance(seconds: ownSeconds, wallOnly: true)
        let task = play.send()
        play.transport.answer(await play.nextSubmission().id, 200, date: Self.date)
        #expect(try await task.value.isAccepted)
        #expect(play.client.clockSkew == .seconds(expected))
    }

    @Test("no date, or one that cannot be read, tells nothing", arguments: [nil, "yesterday"])
    func none(date: String?) async throws {
        let play = try Play()
        let task = play.send()
        play.transport.answer(await play.nextSubmission().id, 200, date: date)
        _ = try await task.value
        #expect(play.client.clockSkew == nil)
    }

    @Test("it is looked at once a minute")
    func interval() async throws {
        let play = try Play()
        for (wait, expected) in [(0, 0.5), (59, 0.5), (1, -59.5)] as [(Int64, Double)] {
            play.clock.advance(seconds: wait)
            let task = play.send()
            play.transport.answer(await play.nextSubmission().id, 200, date: Self.date)
            _ = try await task.value
            #expect(play.client.clockSkew == .seconds(expected))
        }
    }
}

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
    func nextSubmission() async -> Submission {
        await transport.nextSubmission()
    }

    func cancelledIDs() -> [Submission.ID] {
        transport.takeEvents().compactMap { event in
            if case .cancelled(let id) = event { id } else { nil }
        }
    }
}
