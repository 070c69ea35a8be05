// SPDX-License-Identifier: Apache-2.0

import APNsClient
import APNsSimulator
import APNsWire
import Foundation
import PushTransport
import Testing
import WakeModel

@Suite("The client of broadcast channels", .timeLimit(.minutes(10)))
struct ChannelClientTests {
    private static let update = Array(
        #"{"aps":{"timestamp":1795253640,"event":"update","content-state":{"score":1}}}"#.utf8)

    /// Runs a test with a simulator and a client of its channels, and ends both.
    private func withChannels(
        _ configuration: APNsSimulator.Configuration = .init(),
        authentication: APNsClient.Authentication? = nil, over kind: TransportKind = .native,
        _ body: (ChannelClient, APNsSimulator, BundleID) async throws -> Void
    ) async throws {
        let simulator = try await APNsSimulator.start(configuration)
        let result: Result<Void, any Error>
        do {
            var settings = ChannelClient.Configuration(
                transport: simulator.transport,
                authentication: try authentication ?? .providerToken(Samples.tokens()))
            settings.transportKind = kind
            settings.timeout = .seconds(20)
            let client = ChannelClient(settings)
            do {
                result = .success(try await body(client, simulator, try Samples.app))
            } catch {
                result = .failure(error)
            }
            await client.shutDown(gracePeriod: .zero)
        }
        try await simulator.shutdown()
        try result.get()
    }

    private func broadcast(
        to channel: ChannelID, expiration: Expiration = .immediately
    ) throws -> Broadcast {
        try Broadcast(
            to: channel, of: Samples.app, payload: Self.update, expiration: expiration,
            requestID: .generate())
    }

    @Test(
        "a channel is made, read, listed, sent to and deleted", arguments: TransportKind.allCases)
    func life(kind: TransportKind) async throws {
        try await withChannels(over: kind) { client, simulator, app in
            let requestID = APNsID.generate()
            let made = try await client.createChannel(
                of: app, storing: .latest, requestID: requestID)
            guard case .done(let channel, let receipt) = made else {
                Issue.record("\(made)")
                return
            }
            #expect(receipt.status == 201 && receipt.requestID == requestID.description)
            let storage = try await client.storage(of: channel, of: app)
            #expect(storage.value == .latest)
            #expect(try await client.channels(of: app).value == [channel])
            let later = Expiration.at(WakeClock.system.now().advanced(bySeconds: 3600))
            let sent = try await client.send(broadcast(to: channel, expiration: later))
            #expect(sent.receipt?.status == 200 && sent.receipt?.apnsUniqueID != nil)
            let known = try #require(simulator.channels(of: app).first)
            #expect(known.broadcastCount == 1 && known.storedPayload == Self.update)
            let push = try #require(simulator.receivedPushes.last)
            #expect(push[":path"] == "/4/broadcasts/apps/com.example.app")
            #expect(push["apns-push-type"] == "liveactivity" && push["apns-topic"] == nil)
            #expect(push["apns-channel-id"] == channel.value && push["apns-priority"] == "10")
            #expect(try await client.deleteChannel(channel, of: app).receipt?.status == 204)
            #expect(try await client.channels(of: app).value == [])
            for rejection in [
                try await client.send(broadcast(to: channel)).rejection,
                try await client.storage(of: channel, of: app).rejection,
                try await client.deleteChannel(channel, of: app).rejection,
            ] {
                #expect(rejection?.reason == .channelNotRegistered)
            }
        }
    }

    @Test(
        "all 10 000 channels of an app fit a list, and there is no further one",
        arguments: TransportKind.allCases)
    func manyChannels(kind: TransportKind) async throws {
        try await withChannels(over: kind) { client, simulator, app in
            let made = try (0..<ChannelRequest.maximumChannelCount).map { _ in
                try #require(simulator.createChannel(of: app))
            }
            #expect(try await client.channels(of: app).value == made)
            let refused = try await client.createChannel(of: app, storing: .none)
            #expect(refused.rejection?.reason == .cannotCreateChannelConfig)
            // Another app has its own.
            let other = try BundleID("com.example.other")
            #expect(try await client.createChannel(of: other, storing: .none).value != nil)
        }
    }

    @Test("a channel that stores nothing takes no expiration but 0")
    func storage() async throws {
        try await withChannels { client, simulator, app in
            let channel = try #require(simulator.createChannel(of: app))
            let later = Expiration.at(WakeClock.system.now().advanced(bySeconds: 60))
            let refused = try await client.send(broadcast(to: channel, expiration: later))
            #expect(refused.rejection?.reason == .badExpirationDate)
            #expect(refused.rejection?.meaning.contains("stores nothing") == true)
            #expect(try await client.send(broadcast(to: channel)).value != nil)
        }
    }

    @Test(
        "an answer that proves that nothing was done is followed by a second request, once",
        arguments: [RejectionReason.shutdown, .idleTimeout])
    func otherConnection(reason: RejectionReason) async throws {
        try await withChannels { client, simulator, app in
            simulator.inject(Fault(.reject(reason), count: 1))
            let requestID = APNsID.generate()
            let made = try await client.createChannel(
                of: app, storing: .none, requestID: requestID)
            #expect(made.value != nil)
            let requests = simulator.receivedPushes
            #expect(
                requests.map { $0["apns-request-id"] } == [
                    requestID.description, requestID.description,
                ]
            )
            #expect(Set(requests.map(\.connection)).count == 2)
            #expect(simulator.channels(of: app).count == 1)
            simulator.inject(Fault(.reject(reason), count: 2))
            let refused = try await client.createChannel(of: app, storing: .none)
            #expect(refused.rejection?.reason == reason)
            #expect(simulator.receivedPushes.count == 4)
        }
    }

    @Test("an expired provider token is replaced once, if a new one may be minted")
    func expiredToken() async throws {
        let clock = TestClock()
        let tokens = try Samples.tokens(clock: clock.clock)
        var configuration = APNsSimulator.Configuration()
        configuration.now = { clock.now }
        try await withChannels(
            configuration, authentication: .providerToken(tokens)
        ) { client, simulator, app in
            #expect(try await client.channels(of: app).value == [])
            // Half an hour, after which a new token may be minted and need not be.
            clock.advance(seconds: 1_800)
            simulator.inject(Fault(.reject(.expiredProviderToken), count: 1))
            #expect(try await client.channels(of: app).value == [])
            let headers = simulator.receivedPushes.map { $0["authorization"] }
            #expect(headers.count == 3 && headers[1] == headers[0] && headers[2] != headers[1])
            // Now it is too young for another.
            simulator.inject(Fault(.reject(.expiredProviderToken), count: 1))
            let refused = try await client.channels(of: app)
            #expect(refused.rejection?.reason == .expiredProviderToken)
            #expect(simulator.receivedPushes.count == 4)
        }
    }

    @Test("without an answer it says whether the request may have been carried out")
    func unanswered() async throws {
        try await withChannels { client, simulator, app in
            simulator.inject(Fault(.resetStream(.internalError), count: 1))
            let failure = await #expect(throws: TransportFailure.self) {
                try await client.createChannel(of: app, storing: .none)
            }
            #expect(failure?.certainty == .unknown)
            // It was: the list has the channel whose id nobody was told.
            let list = try await client.channels(of: app)
            #expect(list.value?.count == 1)
            await client.shutDown()
            let late = await #expect(throws: TransportFailure.self) {
                try await client.channels(of: app)
            }
            #expect(late?.kind == .shutDown && late?.certainty == .notSent)
        }
    }

    @Test("a cancelled request is given up")
    func cancellation() async throws {
        try await withChannels { client, simulator, app in
            simulator.inject(Fault(.neverAnswer))
            let asking = Task { try await client.channels(of: app) }
            await simulator.waitForPushes(1)
            asking.cancel()
            let failure = await #expect(throws: TransportFailure.self) { try await asking.value }
            #expect(failure?.kind == .cancelled)
        }
    }

    @Test("Apple's hosts and ports are those of the environment")
    func hosts() throws {
        for (environment, host, port) in [
            (APNsEnvironment.sandbox, "api-manage-broadcast.sandbox.push.apple.com", 2195),
            (.production, "api-manage-broadcast.push.apple.com", 2196),
        ] {
            let configuration = ChannelClient.Configuration(
                environment: environment, authentication: .providerToken(try Samples.tokens()))
            #expect(configuration.managementTransport.host == host)
            #expect(configuration.managementTransport.port == port)
            #expect(configuration.managementTransport.maximumConnections == 1)
            #expect(configuration.transport.host == environment.host)
            #expect(configuration.transport.port == 443)
        }
    }

    @Test("what manages channels is reached as what takes broadcasts is, over one connection")
    func management() throws {
        var transport = TransportConfiguration(host: "127.0.0.1")
        transport.port = 8443
        transport.maximumConnections = 3
        transport.connectTimeout = .seconds(45)
        transport.trust = .file(path: "/ca.pem")
        let authentication = APNsClient.Authentication.providerToken(try Samples.tokens())
        for (environment, host, port) in [
            (APNsEnvironment?.none, "127.0.0.1", 8443),
            (.production, "api-manage-broadcast.push.apple.com", 2196),
        ] {
            let configuration = ChannelClient.Configuration(
                transport: transport, managedBy: environment, authentication: authentication)
            #expect(configuration.transport.host == "127.0.0.1")
            #expect(configuration.transport.maximumConnections == 3)
            let management = configuration.managementTransport
            #expect(management.host == host && management.port == port)
            #expect(management.maximumConnections == 1)
            #expect(management.connectTimeout == .seconds(45))
            #expect(management.trust == .file(path: "/ca.pem"))
        }
    }

    @Test("a description shows servers and no credential")
    func description() throws {
        let client = ChannelClient(
            .init(environment: .sandbox, authentication: .providerToken(try Samples.tokens())))
        #expect("\(client)".contains("api-manage-broadcast"))
        var dump = ""
        Swift.dump(client, to: &dump)
        #expect(!dump.contains("KEYKEY1234"))
    }
}

extension ChannelAnswer {
    fileprivate var value: Value? {
        if case .done(let value, _) = self { value } else { nil }
    }

    fileprivate var receipt: ChannelReceipt? {
        if case .done(_, let receipt) = self { receipt } else { nil }
    }

    fileprivate var rejection: ChannelRejection? {
        if case .rejected(let rejection) = self { rejection } else { nil }
    }
}
