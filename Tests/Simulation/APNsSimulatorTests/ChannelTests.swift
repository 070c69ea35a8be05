// SPDX-License-Identifier: Apache-2.0

import Testing
import WakeModel

@testable import APNsSimulator

@Suite("Broadcast channels", .timeLimit(.minutes(10)))
struct ChannelTests {
    private static let now = WallInstant(secondsSinceEpoch: TestToken.now)
    private static let management = "/1/apps/com.example.app/channels"
    private static let channel = "dHN0LXNyY2gtY2hubA=="

    /// A request of the broadcast API with a provider token and nothing else.
    private static func request(
        _ method: String, _ path: String, _ fields: [(String, String)] = [], body: String = ""
    ) -> Push {
        var push = Push(authorization: nil, body: Array(body.utf8))
        push.headers =
            [("authorization", TestToken.bearer(issuedAt: TestToken.now))] + fields
        push.method = method
        push.path = path
        return push
    }

    private static let creation = request(
        "POST", management, body: #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#)
    private static let broadcast = request(
        "POST", "/4/broadcasts/apps/com.example.app",
        [
            ("apns-channel-id", channel), ("apns-push-type", "liveactivity"),
            ("apns-expiration", "0"), ("apns-priority", "10"),
        ], body: "{}")

    private static func judge(
        _ push: Push, by judge: RequestJudge = RequestJudge(),
        certificate: ConnectionIdentity.CertificateRights? = nil
    ) -> RequestJudge.Verdict {
        var connection = ConnectionIdentity(certificate: certificate)
        return judge.judgeChannel(
            push.head, body: push.body, bodyByteCount: push.body.count, connection: &connection,
            now: now)
    }

    private static func call(_ action: ChannelCall.Action) -> RequestJudge.Verdict {
        .call(ChannelCall(bundleID: "com.example.app", action: action))
    }

    @Test("what is in order is carried out")
    func accepted() {
        let named = [("apns-channel-id", Self.channel)]
        #expect(Self.judge(Self.creation) == Self.call(.create(.latest)))
        #expect(
            Self.judge(Self.request("GET", Self.management, named))
                == Self.call(.read(Self.channel)))
        #expect(
            Self.judge(Self.request("DELETE", Self.management, named))
                == Self.call(.delete(Self.channel)))
        #expect(
            Self.judge(Self.request("GET", "/1/apps/com.example.app/all-channels"))
                == Self.call(.list))
        let sent = Self.call(.send(to: Self.channel, Array("{}".utf8), isStored: false))
        for push in [
            Self.broadcast, Self.broadcast.with("apns-push-type", "LiveActivity"),
            Self.broadcast.with("apns-priority", nil), Self.broadcast.with("apns-priority", "1"),
        ] {
            #expect(Self.judge(push) == sent)
        }
        #expect(
            Self.judge(Self.broadcast.with("apns-expiration", "1795256400"))
                == Self.call(.send(to: Self.channel, Array("{}".utf8), isStored: true)))
    }

    private static func body(_ text: String) -> Push {
        request("POST", management, body: text)
    }

    private static let refusals: [(Push, RejectionReason)] = [
        (creation.with(path: "/1/apps/com.example.app"), .badPath),
        (creation.with(path: "/1/apps//channels"), .badPath),
        (creation.with(path: "/4/broadcasts/app/com.example.app"), .badPath),
        (creation.with(path: "/1/apps/com.example.app/channels/x"), .badPath),
        (creation.with(method: "PUT"), .methodNotAllowed),
        (broadcast.with(method: "GET"), .methodNotAllowed),
        (creation.with(path: "/1/apps/com.example.app/all-channels"), .methodNotAllowed),
        (creation.with("authorization", nil), .missingProviderToken),
        (creation.adding("apns-request-id", "x").adding("apns-request-id", "x"), .duplicateHeaders),
        (creation.with("apns-request-id", "x"), .badMessageID),
        (creation.with(path: "/1/apps/com.example.app.voip/channels"), .topicDisallowed),
        (body(""), .payloadEmpty), (body("{"), .badRequestPayload),
        (body("[]"), .badRequestPayload),
        (body(#"{"message-storage-policy":1}"#), .missingPushType),
        (body(#"{"message-storage-policy":1,"push-type":"alert"}"#), .invalidPushType),
        (body(#"{"message-storage-policy":2,"push-type":"LiveActivity"}"#), .badRequestParams),
        (body(#"{"push-type":"LiveActivity"}"#), .badRequestParams),
        (
            body(#"{"message-storage-policy":1,"push-type":"LiveActivity","x":1}"#),
            .badRequestParams
        ),
        (body(String(repeating: " ", count: 5121)), .payloadTooLarge),
        (request("GET", management), .missingChannelID),
        (request("GET", management, [("apns-channel-id", "a b")]), .badChannelID),
        (broadcast.with("apns-channel-id", nil), .missingChannelID),
        (broadcast.with("apns-push-type", nil), .missingPushType),
        (broadcast.with("apns-push-type", "alert"), .invalidPushType),
        (broadcast.with("apns-expiration", nil), .badExpirationDate),
        (broadcast.with("apns-expiration", "soon"), .badExpirationDate),
        (broadcast.with("apns-priority", "7"), .badPriority),
        (broadcast.with(bodyByteCount: 0), .payloadEmpty),
        (broadcast.with(bodyByteCount: 10), .badRequestPayload),
        (broadcast.with(bodyByteCount: 5121), .payloadTooLarge),
    ]

    @Test("each fault has its reason", arguments: refusals)
    func refused(push: Push, reason: RejectionReason) {
        #expect(Self.judge(push) == .rejected(reason))
    }

    @Test("an app needs the capability, and a sender the right to it")
    func rights() {
        var judge = RequestJudge()
        judge.broadcastApps = ["com.example.other"]
        #expect(Self.judge(Self.creation, by: judge) == .rejected(.featureNotEnabled))
        judge.broadcastApps = ["com.example.app"]
        #expect(Self.judge(Self.creation, by: judge) == Self.call(.create(.latest)))
        let push = Self.creation.with("authorization", nil)
        #expect(
            Self.judge(push, certificate: .init(topics: ["com.example.other"]))
                == .rejected(.topicMismatch))
        #expect(
            Self.judge(push, certificate: .init(topics: ["com.example.app"]))
                == Self.call(.create(.latest)))
    }

    @Test("ids are those of the seed, of 16 bytes each, and no two are the same")
    func ids() throws {
        let registry = ChannelRegistry(limit: 100, seed: 7)
        let ids = (0..<100).compactMap { _ in registry.create(of: "a", storing: .none)?.value }
        #expect(Set(ids).count == 100 && ids.allSatisfy { $0.utf8.count == 24 })
        #expect(registry.create(of: "a", storing: .none) == nil)
        #expect(registry.create(of: "b", storing: .none) != nil)
        let again = ChannelRegistry(limit: 100, seed: 7)
        #expect(again.create(of: "a", storing: .none)?.value == ids[0])
        #expect(registry.channels(of: "a").map(\.id.value) == ids)
        #expect(
            registry.perform(ChannelCall(bundleID: "a", action: .delete(ids[1])))
                == .done(.init(status: 204)))
        #expect(registry.create(of: "a", storing: .none) != nil)
    }

    @Test("on the wire: ids and request ids in the headers, and no apns-id")
    func wire() async throws {
        try await WireTests.withSimulator { simulator in
            let client = try await RawClient.connect(to: simulator)
            let creation = Self.creation.with("authorization", TestToken.current)
            let made = try #require(
                try await client.push(creation.with("apns-request-id", Push.apnsID)))
            #expect(made.status == 201 && made.body.isEmpty)
            #expect(made.headers["apns-request-id"] == Push.apnsID)
            #expect(made.headers["apns-id"] == nil)
            let id = try #require(made.headers["apns-channel-id"])
            let broadcast = Self.broadcast.with("authorization", TestToken.current)
                .with("apns-channel-id", id)
            let sent = try #require(try await client.push(broadcast))
            #expect(sent.status == 200 && sent.headers["apns-unique-id"] != nil)
            #expect(sent.headers["apns-request-id"]?.utf8.count == 36)
            let stored = try #require(
                try await client.push(broadcast.with("apns-channel-id", "YQ==")))
            #expect(stored.body == #"{"reason":"ChannelNotRegistered"}"#)
            let app = try BundleID("com.example.app")
            #expect(simulator.channels(of: app).map(\.broadcastCount) == [1])
            #expect(simulator.receivedPushes.map(\.status) == [201, 200, 400])
            await client.close()
        }
    }

    @Test("a refusal by a fault leaves nothing done; a lost answer does")
    func faults() async throws {
        try await WireTests.withSimulator { simulator in
            let client = try await RawClient.connect(to: simulator)
            let creation = Self.creation.with("authorization", TestToken.current)
            simulator.inject(Fault(.reject(.tooManyRequests), count: 1))
            #expect(try await client.push(creation)?.status == 429)
            let app = try BundleID("com.example.app")
            #expect(simulator.channels(of: app).isEmpty)
            simulator.inject(Fault(.resetStream(.internalError), count: 1))
            #expect(try await client.push(creation) == nil)
            #expect(simulator.channels(of: app).count == 1)
            await client.close()
        }
    }
}
