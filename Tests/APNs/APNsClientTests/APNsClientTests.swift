// SPDX-License-Identifier: Apache-2.0

import APNsClient
import APNsSimulator
import APNsWire
import PushTransport
import Synchronization
import Testing
import WakeModel

@Suite("APNs client", .timeLimit(.minutes(10)))
struct APNsClientTests {
    // MARK: Bytes

    /// Each push kind with the fields that it alone decides, as they must arrive.
    static let kinds: [(name: String, fields: [String: String])] = [
        ("background", ["apns-topic": "com.example.app", "apns-priority": "5"]),
        (
            "voip",
            [
                "apns-topic": "com.example.app.voip", "apns-priority": "10",
                "apns-expiration": "0",
            ]
        ),
        ("location", ["apns-topic": "com.example.app.location-query", "apns-priority": "10"]),
        (
            "pushtotalk",
            [
                "apns-topic": "com.example.app.voip-ptt", "apns-priority": "10",
                "apns-expiration": "0",
            ]
        ),
        (
            "fileprovider",
            ["apns-topic": "com.example.app.pushkit.fileprovider", "apns-priority": "5"]
        ),
        ("complication", ["apns-topic": "com.example.app.complication", "apns-priority": "5"]),
        ("widgets", ["apns-topic": "com.example.app.push-type.widgets", "apns-priority": "5"]),
        (
            "controls",
            [
                "apns-topic": "com.example.app.push-type.controls", "apns-priority": "10",
                "apns-expiration": "0",
            ]
        ),
    ]

    private func push(_ kind: String, id: APNsID) throws -> Push {
        let (device, app, payload) = (try Samples.device(7), try Samples.app, Samples.payload)
        let wakeKind = try #require(WakeKind(rawValue: kind))
        return try .wake(wakeKind, to: device, of: app, payload: payload, apnsID: id)
    }

    @Test(
        "every push kind arrives with exactly its fields and its body, and is accepted",
        arguments: TransportKind.allCases)
    func bytes(over transport: TransportKind) async throws {
        let tokens = try Samples.tokens()
        try await withClient(
            authentication: .providerToken(tokens), over: transport
        ) { client, simulator in
            for (kind, fields) in Self.kinds {
                let id = APNsID.generate()
                let outcome = try await client.send(push(kind, id: id))
                #expect(outcome.acceptance?.apnsID == id, "\(kind)")
                let received = try #require(simulator.receivedPushes.last)
                var expected = fields
                expected[":method"] = "POST"
                expected[":scheme"] = "https"
                expected[":authority"] = "localhost:\(simulator.port)"
                expected[":path"] = "/3/device/" + (try Samples.device(7)).hex
                expected["authorization"] = "bearer " + tokens.current().value
                expected["apns-push-type"] = kind
                expected["apns-id"] = id.description
                expected["user-agent"] = "rouse"
                // HTTP/2 frames say where a body ends; libcurl says its length all the same.
                if transport == .curl {
                    expected["content-length"] = "\(Samples.payload.count)"
                }
                let actual = Dictionary(
                    received.headers.map { ($0.name, $0.value) }, uniquingKeysWith: { $0 + $1 })
                #expect(actual == expected, "\(kind)")
                #expect(received.headers.count == expected.count, "no field comes twice")
                #expect(received.body == Samples.payload)
            }
        }
    }

    @Test("a server whose authority is not trusted gets nothing")
    func trust() async throws {
        try await withClient { _, simulator in
            var transport = simulator.transport
            transport.trust = .system
            let stranger = try APNsClient(
                .init(
                    transport: transport, authentication: .providerToken(try Samples.tokens())))
            let failure = await #expect(throws: TransportFailure.self) {
                try await stranger.send(Samples.background())
            }
            #expect(failure?.kind == .tls)
            #expect(failure?.certainty == .notSent)
            await stranger.shutDown(gracePeriod: .zero)
        }
    }

    /// libcurl announces the length of a body, which the native transport leaves to HTTP/2's
    /// framing.
    @Test(
        "pushes go by the native transport unless the configuration says otherwise",
        arguments: [nil, .native, .curl] as [TransportKind?])
    func transportKind(choice: TransportKind?) async throws {
        let simulator = try await APNsSimulator.start()
        var configuration = APNsClient.Configuration(
            transport: simulator.transport, authentication: .providerToken(try Samples.tokens()))
        if let choice { configuration.transportKind = choice }
        let client = try APNsClient(configuration)
        #expect(try await client.send(Samples.background()).isAccepted)
        await client.shutDown(gracePeriod: .zero)
        let push = try #require(simulator.receivedPushes.first)
        #expect((push["content-length"] == nil) == (choice != .curl))
        try await simulator.shutdown()
    }

    // MARK: Answers

    @Test("apns-unique-id comes from the sandbox alone", arguments: APNsEnvironment.allCases)
    func uniqueID(environment: APNsEnvironment) async throws {
        var configuration = APNsSimulator.Configuration()
        configuration.environment = environment
        try await withClient(configuration) { client, _ in
            let acceptance = try await client.send(Samples.background()).acceptance
            #expect((acceptance?.apnsUniqueID != nil) == (environment == .sandbox))
        }
    }

    @Test("every reason of the table, and an unknown one, arrives verbatim with its advice")
    func reasons() async throws {
        try await withClient { client, simulator in
            let unknown = RejectionReason(rawValue: "Not In Any \"Table\"")
            for (number, reason) in (RejectionReason.table.map(\.reason) + [unknown]).enumerated() {
                let device = try Samples.device(number)
                simulator.inject(Fault(.reject(reason), for: .deviceToken(device)))
                let push = try Samples.background(number)
                let rejection = try #require(try await client.send(push).rejection)
                #expect(rejection.reason == reason)
                #expect(rejection.status == reason.entry?.status ?? 500)
                #expect(rejection.advice == reason.advice(status: rejection.status))
                #expect(rejection.apnsID == push.apnsID)
                #expect(rejection.timestamp == nil)
            }
        }
    }

    @Test("410 brings the instant at which the device token died")
    func gone() async throws {
        let died = Samples.start.advanced(byMilliseconds: 123)
        try await withClient { client, simulator in
            let states: [(RegisteredDevice.State, RejectionReason)] = [
                (.unregistered(since: died), .unregistered), (.expired(since: died), .expiredToken),
            ]
            for (state, reason) in states {
                simulator.register(RegisteredDevice(token: try Samples.device(1), state: state))
                let rejection = try await client.send(Samples.background()).rejection
                #expect(rejection?.status == 410)
                #expect(rejection?.reason == reason)
                #expect(rejection?.timestamp == died)
                #expect(rejection?.advice.deviceToken == .deadUnlessRegisteredSince)
            }
        }
    }

    @Test("the simulator, with Swift Crypto, verifies this client's signatures")
    func signature() async throws {
        let key = SigningKey.generate()
        var configuration = APNsSimulator.Configuration()
        configuration.providerKeys = [
            ProviderKey(teamID: "TEAM123456", keyID: "KEYKEY1234", pem: key.publicKeyPEM)
        ]
        let right = try Samples.tokens(key: key)
        try await withClient(configuration, authentication: .providerToken(right)) {
            client, simulator in
            #expect(try await client.send(Samples.background()).isAccepted)
            let wrong = try simulator.client(.providerToken(try Samples.tokens()))
            let rejection = try await wrong.send(Samples.background()).rejection
            #expect(rejection?.reason == .invalidProviderToken)
            await wrong.shutDown(gracePeriod: .zero)
        }
    }

    // MARK: Many at once

    @Test("a batch's replies come in the order of its pushes, accepted or not")
    func batch() async throws {
        try await withClient { client, simulator in
            for number in stride(from: 0, to: 600, by: 3) {
                simulator.register(
                    RegisteredDevice(
                        token: try Samples.device(number),
                        state: .unregistered(since: Samples.start)))
            }
            let pushes = try (0..<600).map(Samples.background)
            let replies = await client.send(pushes)
            #expect(replies.map(\.index) == Array(0..<600))
            for (push, reply) in zip(pushes, replies) {
                let outcome = try reply.result.get()
                #expect(outcome.isAccepted == !reply.index.isMultiple(of: 3))
                #expect((outcome.acceptance?.apnsID ?? outcome.rejection?.apnsID) == push.apnsID)
            }
            #expect(await client.send([Push]()).isEmpty)
        }
    }

    @Test("replies are handed out as they come, each exactly once")
    func receiving() async throws {
        try await withClient { client, simulator in
            // A connection has one stream until its first answer, which must not be the late one.
            #expect(try await client.send(Samples.background(1)).isAccepted)
            let late = try Samples.device(0)
            simulator.inject(Fault(.neverAnswer, for: .deviceToken(late)))
            let (replies, continuation) = AsyncStream.makeStream(of: PushReply.self)
            client.send(try (0..<300).map(Samples.background)) { replies in
                for reply in replies { continuation.yield(reply) }
            }
            var seen: Set<Int> = []
            for await reply in replies {
                #expect(try reply.result.get().isAccepted)
                #expect(seen.insert(reply.index).inserted)
                if seen.count == 299 { break }
            }
            #expect(seen == Set(1..<300), "the first one is still out")
            await client.shutDown(gracePeriod: .zero)
            for await reply in replies {
                #expect(reply.index == 0)
                #expect(throws: TransportFailure.self) { try reply.result.get() }
                break
            }
            client.send([]) { _ in Issue.record("no push, no reply") }
        }
    }

    @Test("two thousand tasks at once get one answer each, and each push arrives once")
    func manyTasks() async throws {
        var configuration = APNsSimulator.Configuration()
        configuration.log = .countsOnly
        try await withClient(configuration) { client, simulator in
            let accepted = try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<2000 {
                    let push = try Samples.background(number)
                    group.addTask {
                        let outcome = try await client.send(push)
                        return outcome.acceptance?.apnsID == push.apnsID
                    }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(accepted == 2000)
            let counts = simulator.pushCounts
            #expect(counts.count == 2000)
            #expect(counts.values.allSatisfy { $0 == 1 })
        }
    }

    @Test("two clients of one source push with one and the same provider token")
    func sharedToken() async throws {
        let tokens = try Samples.tokens()
        try await withClient(authentication: .providerToken(tokens)) { client, simulator in
            let other = try simulator.client(.providerToken(tokens))
            for number in 0..<20 {
                #expect(try await client.send(Samples.background(number)).isAccepted)
                #expect(try await other.send(Samples.voip(number)).isAccepted)
            }
            await other.shutDown(gracePeriod: .zero)
            let pushes = simulator.receivedPushes
            #expect(Set(pushes.map(\.connection)).count >= 2)
            #expect(Set(pushes.map { $0["authorization"] }).count == 1)
        }
    }

    // MARK: Ends

    @Test("cancelling the task gives up on an answer that does not come")
    func cancellation() async throws {
        try await withClient { client, simulator in
            simulator.inject(Fault(.neverAnswer, for: .deviceToken(try Samples.device(9))))
            let push = try Samples.background(9)
            let task = Task { () throws(TransportFailure) in try await client.send(push) }
            await simulator.waitForPushes(1)
            task.cancel()
            let failure = await #expect(throws: TransportFailure.self) { try await task.value }
            #expect(failure?.kind == .cancelled)
            #expect(failure?.certainty == .unknown, "the push was on the wire")
            #expect(try await client.send(Samples.background(1)).isAccepted, "others go on")
        }
    }

    @Test("a task that is cancelled before it sends is told at once")
    func cancelledBefore() async throws {
        try await withClient { client, simulator in
            simulator.inject(Fault(.neverAnswer))
            let push = try Samples.background()
            let task = Task { () throws(TransportFailure) in
                withUnsafeCurrentTask { $0?.cancel() }
                return try await client.send(push)
            }
            let failure = await #expect(throws: TransportFailure.self) { try await task.value }
            #expect(failure?.kind == .cancelled)
        }
    }

    @Test("a push that gets no answer in its time fails as timed out, its fate unknown")
    func timeout() async throws {
        try await withClient { _, simulator in
            simulator.inject(Fault(.neverAnswer))
            var configuration = APNsClient.Configuration(
                transport: simulator.transport,
                authentication: .providerToken(try Samples.tokens()))
            configuration.pushTimeout = .milliseconds(700)
            let client = try APNsClient(configuration)
            let failure = await #expect(throws: TransportFailure.self) {
                try await client.send(Samples.background())
            }
            #expect(failure?.kind == .timedOut)
            #expect(failure?.certainty == .unknown)
            await client.shutDown(gracePeriod: .zero)
        }
    }

    @Test("shutdown answers what is out, refuses what comes, and closes the connections")
    func shutdown() async throws {
        try await withClient { client, simulator in
            simulator.inject(Fault(.neverAnswer, for: .deviceToken(try Samples.device(9))))
            let push = try Samples.background(9)
            let waiting = Task { () throws(TransportFailure) in try await client.send(push) }
            await simulator.waitForPushes(1)
            await client.shutDown(gracePeriod: .milliseconds(50))
            let failure = await #expect(throws: TransportFailure.self) { try await waiting.value }
            #expect(failure?.kind == .shutDown)
            #expect(failure?.certainty == .unknown)
            let refused = await #expect(throws: TransportFailure.self) {
                try await client.send(Samples.background())
            }
            #expect(refused?.kind == .shutDown)
            #expect(refused?.certainty == .notSent)
            let replies = await client.send([try Samples.background(), try Samples.voip()])
            #expect(replies.count == 2)
            #expect(client.gauges.connections == 0)
            #expect(client.gauges.connectionsOpened == 1)
            await client.shutDown()
        }
    }

    @Test("after shutdown a receiver may send again from inside its reply, as often as it likes")
    func sendFromReply() async throws {
        try await withClient { client, _ in
            await client.shutDown(gracePeriod: .zero)
            let push = try Samples.background()
            let sent = Atomic(0)
            @Sendable func send() {
                sent.add(1, ordering: .relaxed)
                client.send([push]) { replies in
                    #expect(replies.count == 1)
                    if sent.load(ordering: .relaxed) < 100_000 { send() }
                }
            }
            send()
            #expect(sent.load(ordering: .relaxed) == 100_000)
        }
    }

    @Test("shutdown waits, within its grace, for answers that are on their way")
    func graceful() async throws {
        try await withClient { client, simulator in
            simulator.inject(Fault(.delay(milliseconds: 300)))
            let push = try Samples.background()
            let waiting = Task { try await client.send(push) }
            await simulator.waitForPushes(1)
            await client.shutDown(gracePeriod: .seconds(10))
            #expect(try await waiting.value.isAccepted)
        }
    }
}
