// SPDX-License-Identifier: Apache-2.0

import APNsSimulator
import Logging
import OpenSSLCrypto
import Testing
import WakeModel

@Suite("On the wire", .timeLimit(.minutes(10)))
struct WireTests {
    /// Runs `body` against a simulator of its own, and shuts it down.
    static func withSimulator(
        _ configure: (inout APNsSimulator.Configuration) -> Void = { _ in },
        logger: () -> Logger = { Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } },
        _ body: (APNsSimulator) async throws -> Void
    ) async throws {
        var configuration = APNsSimulator.Configuration()
        configure(&configuration)
        let simulator = try await APNsSimulator.start(
            configuration, logger: logger())
        do {
            try await body(simulator)
        } catch {
            try await simulator.shutdown()
            throw error
        }
        try await simulator.shutdown()
    }

    @Test("a push in order is answered 200 with its id and nothing else")
    func accepted() async throws {
        try await Self.withSimulator { simulator in
            let client = try await RawClient.connect(to: simulator)
            let answer = try #require(try await client.push(Push()))
            #expect(answer.status == 200)
            #expect(answer.body.isEmpty)
            #expect(answer.headers["apns-id"] == Push.apnsID)
            await client.close()
        }
    }

    @Test("a refusal says why in JSON", arguments: [("apns-topic", "MissingTopic")])
    func refused(header: String, reason: String) async throws {
        try await Self.withSimulator { simulator in
            let client = try await RawClient.connect(to: simulator)
            let answer = try #require(try await client.push(Push().with(header, nil)))
            #expect(answer.status == 400)
            #expect(answer.body == #"{"reason":"\#(reason)"}"#)
            #expect(answer.headers["apns-id"] == Push.apnsID)
            await client.close()
        }
    }

    @Test("410 carries its time in milliseconds")
    func gone() async throws {
        try await Self.withSimulator { simulator in
            simulator.register(
                .init(
                    token: try DeviceToken(hex: Push.token),
                    state: .unregistered(since: .init(millisecondsSinceEpoch: 1_700_000_000_123))))
            let client = try await RawClient.connect(to: simulator)
            let answer = try #require(try await client.push(Push()))
            #expect(answer.status == 410)
            #expect(answer.body == #"{"reason":"Unregistered","timestamp":1700000000123}"#)
            simulator.forget(try DeviceToken(hex: Push.token))
            #expect(try await client.push(Push())?.status == 200)
            await client.close()
        }
    }

    @Test("apns-unique-id comes in the sandbox only", arguments: APNsEnvironment.allCases)
    func uniqueID(environment: APNsEnvironment) async throws {
        try await Self.withSimulator {
            $0.environment = environment
        } _: { simulator in
            let client = try await RawClient.connect(to: simulator)
            let answer = try #require(try await client.push(Push()))
            let uniqueID = answer.headers["apns-unique-id"]
            #expect((uniqueID != nil) == (environment == .sandbox))
            if let uniqueID { _ = try APNsID(uniqueID) }
            await client.close()
        }
    }

    @Test("an id is made for a push without one, and a bad one is not echoed")
    func madeID() async throws {
        try await Self.withSimulator { simulator in
            let client = try await RawClient.connect(to: simulator)
            for push in [Push().with("apns-id", nil), Push().with("apns-id", "nonsense")] {
                let answer = try #require(try await client.push(push))
                let id = try #require(answer.headers["apns-id"])
                _ = try APNsID(id)
            }
            await client.close()
        }
    }

    @Test("the log has headers in order, the body, and where and when it came")
    func log() async throws {
        let now = WallInstant(secondsSinceEpoch: TestToken.now)
        try await Self.withSimulator {
            $0.now = { now }
        } _: { simulator in
            let client = try await RawClient.connect(to: simulator)
            let push = Push(authorization: TestToken.bearer(issuedAt: TestToken.now))
            _ = try await client.push(push)
            _ = try await client.push(push.with("apns-priority", "7"))
            let pushes = simulator.receivedPushes
            try #require(pushes.count == 2)
            #expect(pushes[0].headers.map(\.name) == push.fields.map(\.0))
            #expect(pushes[0].headers.map(\.value) == push.fields.map(\.1))
            #expect(pushes[0].body == push.body)
            #expect(pushes[0].deviceTokenHex == Push.token)
            #expect(pushes.map(\.connection) == [1, 1])
            #expect(pushes.map(\.stream) == [1, 3])
            #expect(pushes.map(\.number) == [1, 2])
            #expect(pushes.map(\.status) == [200, 400])
            #expect(pushes[1].reason == .badPriority)
            #expect(pushes[0].receivedAt == now)
            await client.close()
        }
    }

    @Test("a doubled header reaches the judge")
    func duplicateHeader() async throws {
        try await Self.withSimulator { simulator in
            let client = try await RawClient.connect(to: simulator)
            var push = Push()
            push.headers.append(("apns-priority", "5"))
            #expect(try await client.push(push)?.body == #"{"reason":"DuplicateHeaders"}"#)
            await client.close()
        }
    }

    @Test(
        "a malformed request is reset with PROTOCOL_ERROR, and the connection lives on",
        arguments: [
            [(":method", "POST"), (":scheme", "https"), (":path", "/"), ("Apns-Topic", "x")],
            [(":method", "POST"), (":scheme", "https")],
            [(":method", "POST"), (":scheme", "https"), (":path", "/"), (":path", "/")],
            [(":method", "POST"), (":scheme", "https"), ("a", "b"), (":path", "/")],
            [(":method", "POST"), (":scheme", "https"), (":path", "/"), (":status", "200")],
            [(":method", "POST"), (":scheme", "https"), (":path", "/"), ("connection", "close")],
            [(":method", "POST"), (":scheme", "https"), (":path", "/"), ("te", "gzip")],
            [(":method", "POST"), (":scheme", "https"), (":path", "/"), ("content-length", "x")],
            [(":method", "POST"), (":scheme", "https"), (":path", "/"), ("content-length", "+0")],
            [(":method", "POST"), (":scheme", "https"), (":path", "/"), ("content-length", "")],
            [(":method", "POST"), (":scheme", "https"), (":path", "/"), ("a", "b\n")],
            [(":method", "POST"), (":scheme", "https"), (":path", "/"), ("a", "b\0c")],
            [(":method", "POST"), (":scheme", "https"), (":path", "/"), ("a", " b")],
            [(":method", "POST"), (":scheme", "https"), (":path", "/"), ("", "b")],
            [(":method", "POST"), (":scheme", "https"), (":path", "/\r")],
        ])
    func malformed(fields: [(String, String)]) async throws {
        try await Self.withSimulator { simulator in
            let client = try await RawClient.connect(to: simulator)
            let stream = client.sendHeaders(fields)
            let reset = try #require(await client.nextFrame(ofType: RawClient.Kind.reset))
            #expect(reset.stream == stream)
            #expect(HTTP2ErrorCode(rawValue: reset.number()) == .protocolError)
            #expect(try await client.push(Push())?.status == 200)
            #expect(simulator.counters.malformedRequests == 1)
            await client.close()
        }
    }

    @Test("a body that is cut is not a push")
    func cutBody() async throws {
        try await Self.withSimulator { simulator in
            let client = try await RawClient.connect(to: simulator)
            let push = Push()
            let stream = client.sendHeaders(push.fields)
            client.sendBody(stream, Array(push.body.prefix(10)), endsStream: false)
            await client.synchronise()
            await client.close()
            #expect(simulator.counters.requests == 1)
            #expect(simulator.counters.completeRequests == 0)
            #expect(simulator.receivedPushes.isEmpty)
        }
    }

    @Test("a body that does not end is refused before it fills the window")
    func endlessBody() async throws {
        try await Self.withSimulator { simulator in
            let client = try await RawClient.connect(to: simulator)
            let stream = client.sendHeaders(Push().fields)
            for _ in 0..<3 {
                client.sendBody(stream, Array(repeating: 0x20, count: 16_384), endsStream: false)
            }
            #expect(try await client.answer(on: stream)?.body == #"{"reason":"PayloadTooLarge"}"#)
            let reset = try #require(await client.nextFrame(ofType: RawClient.Kind.reset))
            #expect(HTTP2ErrorCode(rawValue: reset.number()) == .noError)
            #expect(try await client.push(Push())?.status == 200)
            await client.close()
        }
    }

    @Test("one stream until a valid token, then all; what is over the limit is refused")
    func oneStream() async throws {
        try await Self.withSimulator {
            $0.maxConcurrentStreams = 2
        } _: { simulator in
            let client = try await RawClient.connect(to: simulator)
            let settings = try #require(await client.nextFrame(ofType: RawClient.Kind.settings))
            #expect(settings.streamLimit == 1)

            let push = Push()
            let first = client.sendHeaders(push.fields)
            let second = client.sendHeaders(push.fields)
            let reset = try #require(await client.nextFrame(ofType: RawClient.Kind.reset))
            #expect(reset.stream == second)
            #expect(HTTP2ErrorCode(rawValue: reset.number()) == .refusedStream)

            client.sendBody(first, push.body)
            let raised = await client.nextFrame {
                $0.type == RawClient.Kind.settings && $0.flags == 0
            }
            #expect(raised?.streamLimit == 2)
            #expect(try await client.answer(on: first)?.status == 200)

            let streams = (0..<3).map { _ in client.sendHeaders(push.fields) }
            let refused = try #require(await client.nextFrame(ofType: RawClient.Kind.reset))
            #expect(refused.stream == streams[2])
            #expect(simulator.counters.refusedStreams == 2)
            await client.close()
        }
    }

    @Test("a token that is not valid does not raise the limit")
    func noTokenNoStreams() async throws {
        try await Self.withSimulator { simulator in
            let client = try await RawClient.connect(to: simulator)
            #expect(try await client.push(Push(authorization: "bearer x"))?.status == 403)
            client.sendHeaders(Push().fields)
            client.sendHeaders(Push().fields)
            let reset = try #require(await client.nextFrame(ofType: RawClient.Kind.reset))
            #expect(HTTP2ErrorCode(rawValue: reset.number()) == .refusedStream)
            await client.close()
        }
    }

    @Test("clients without ALPN are served as by APNs, with a warning each, and refused on demand")
    func alpn() async throws {
        let lines = WarningLog()
        try await Self.withSimulator(logger: { lines.logger }) { simulator in
            let client = try await RawClient.connect(to: simulator, protocols: [])
            #expect(try await client.push(Push())?.status == 200)
            #expect(try await client.push(Push())?.status == 200)
            await client.close()
        }
        #expect(lines.all.count == 1)
        #expect(lines.all.first?.contains("ALPN") == true)
        try await Self.withSimulator {
            $0.requiresALPN = true
        } logger: {
            lines.logger
        } _: { simulator in
            let client = try await RawClient.connect(to: simulator, protocols: [])
            #expect(await client.nextFrame() == nil)
            #expect(simulator.counters.handshakes == 0)
        }
        #expect(lines.all.count == 2)
        #expect(lines.all.last?.contains("It is refused") == true)
    }

    @Test("a client that offers other protocols than h2 is refused in TLS, with a warning")
    func otherProtocols() async throws {
        let lines = WarningLog()
        try await Self.withSimulator(logger: { lines.logger }) { simulator in
            let client = try await RawClient.connect(to: simulator, protocols: ["http/1.1"])
            #expect(await client.nextFrame() == nil)
            let output = try await Command.run(
                "/bin/sh",
                [
                    "-c",
                    "openssl s_client -alpn spdy/3,http/1.1 -connect localhost:\(simulator.port) "
                        + "2>&1 </dev/null",
                ])
            #expect(output.status != 0)
            #expect(output.text.contains("no application protocol"))
            #expect(simulator.counters.handshakes == 0)
            let both = try await RawClient.connect(to: simulator, protocols: ["http/1.1", "h2"])
            #expect(try await both.push(Push())?.status == 200)
            await both.close()
        }
        #expect(lines.all.count == 2)
        #expect(lines.all.allSatisfy { $0.contains("ALPN") && $0.contains("It is refused") })
    }

    @Test("a client without ALPN that sends HTTP/1.1 is told why its connection ends")
    func otherPreface() async throws {
        let lines = WarningLog()
        try await Self.withSimulator(logger: { lines.logger }) { simulator in
            let client = try await RawClient.connect(
                to: simulator, protocols: [],
                preface: Array("POST /3/device/ab HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
            let goAway = try #require(await client.nextFrame(ofType: RawClient.Kind.goAway))
            #expect(HTTP2ErrorCode(rawValue: goAway.number(at: 4)) == .protocolError)
            let words = String(decoding: goAway.payload[8...], as: UTF8.self)
            #expect(words.contains("not HTTP/2"))
            while await client.nextFrame() != nil {}
        }
        #expect(lines.all == ["A client speaks no HTTP/2. It is refused."])
    }

    @Test("a token that deviates gets one warning a connection, without a part of it")
    func deviations() async throws {
        let key = P256PrivateKey()
        let now = TestToken.now
        let header = #"{"alg":"ES256","kid":"\#(TestToken.key)"}"#
        let claims = #"{"iss":"\#(TestToken.team)","iat":"\#(now)"}"#
        let signed = TestToken.base64URL(header.utf8) + "." + TestToken.base64URL(claims.utf8)
        let signature = TestToken.der(key.signature(for: signed.utf8))
        let token = "bearer \(signed).\(TestToken.base64URL(signature))"
        let lines = WarningLog()
        try await Self.withSimulator {
            $0.now = { WallInstant(secondsSinceEpoch: now) }
        } logger: {
            lines.logger
        } _: { simulator in
            let client = try await RawClient.connect(to: simulator)
            for _ in 0..<3 {
                #expect(try await client.push(Push(authorization: token))?.status == 200)
            }
            await client.close()
        }
        #expect(lines.all.count == 2)
        #expect(lines.all.contains { $0.contains("DER") && $0.contains("APNs takes that") })
        #expect(lines.all.contains { $0.contains("iat") })
        #expect(!lines.all.contains { $0.contains(signed.prefix(20)) })
    }

    @Test("cookie fields may be split, and no other field may")
    func cookies() async throws {
        try await Self.withSimulator { simulator in
            let client = try await RawClient.connect(to: simulator)
            let push = Push().with("cookie", "a=1").with("cookie2", "x")
            #expect(try await client.push(push.adding("cookie", "b=2"))?.status == 200)
            #expect(
                try await client.push(push.adding("cookie2", "y"))?.body
                    == #"{"reason":"DuplicateHeaders"}"#)
            await client.close()
        }
    }

    @Test("a header list that is too large is answered 431, and the connection goes on")
    func headerList() async throws {
        try await Self.withSimulator { simulator in
            let client = try await RawClient.connect(to: simulator)
            let large = Push().with("x-large", String(repeating: "x", count: 12_000))
            #expect(try await client.push(large)?.status == 431)
            #expect(try await client.push(Push())?.status == 200)
            #expect(simulator.counters.answers == [200: 1, 431: 1])
            #expect(simulator.counters.goAwaysSent == 0)
            await client.close()
        }
    }

    @Test("a client certificate makes the authorization header needless, within its topics")
    func clientCertificate() async throws {
        let identity = try TestCertificate()
        try await Self.withSimulator {
            $0.trustedClientCertificateAuthorityPEM = identity.authorityPEM
            $0.clientCertificateTopics = ["com.example.app"]
        } _: { simulator in
            let client = try await RawClient.connect(
                to: simulator, certificate: (identity.certificatePEM, identity.keyPEM))
            let settings = try #require(await client.nextFrame(ofType: RawClient.Kind.settings))
            #expect(settings.streamLimit == 1000)
            let push = Push(authorization: nil)
            #expect(try await client.push(push)?.status == 200)
            #expect(
                try await client.push(push.with("apns-topic", "com.other"))?.body
                    == #"{"reason":"TopicDisallowed"}"#)
            await client.close()

            let anonymous = try await RawClient.connect(to: simulator)
            #expect(
                try await anonymous.push(push)?.body == #"{"reason":"MissingProviderToken"}"#)
            await anonymous.close()
        }
    }

    @Test("a client certificate that runs out on an open connection is bad from then on")
    func expiringCertificate() async throws {
        let identity = try TestCertificate()
        let clock = TestClock()
        try await Self.withSimulator {
            $0.trustedClientCertificateAuthorityPEM = identity.authorityPEM
            $0.now = { clock.now }
        } _: { simulator in
            let client = try await RawClient.connect(
                to: simulator, certificate: (identity.certificatePEM, identity.keyPEM))
            #expect(try await client.push(Push(authorization: nil))?.status == 200)
            // Its end is counted from the machine's clock, which may be years ahead of the test's.
            clock.advance(bySeconds: 100 * 365 * 86_400)
            let answer = try await client.push(Push(authorization: nil))
            #expect(answer?.status == 403)
            #expect(answer?.body == #"{"reason":"BadCertificate"}"#)
            await client.close()
        }
    }

    @Test("a client certificate is held to its environment")
    func certificateEnvironment() async throws {
        let identity = try TestCertificate()
        try await Self.withSimulator {
            $0.trustedClientCertificateAuthorityPEM = identity.authorityPEM
            $0.clientCertificateEnvironment = .production
        } _: { simulator in
            let client = try await RawClient.connect(
                to: simulator, certificate: (identity.certificatePEM, identity.keyPEM))
            let answer = try await client.push(Push(authorization: nil))
            #expect(answer?.status == 403)
            #expect(answer?.body == #"{"reason":"BadCertificateEnvironment"}"#)
            await client.close()
        }
    }

    @Test("a client certificate of another CA fails the handshake")
    func strangeCertificate() async throws {
        let trusted = try TestCertificate()
        let stranger = try TestCertificate()
        try await Self.withSimulator {
            $0.trustedClientCertificateAuthorityPEM = trusted.authorityPEM
        } _: { simulator in
            let client = try await RawClient.connect(
                to: simulator, certificate: (stranger.certificatePEM, stranger.keyPEM))
            #expect(await client.nextFrame() == nil)
            #expect(simulator.counters.handshakes == 0)
        }
    }

    @Test("counting only keeps numbers for each device token, and no pushes")
    func countsOnly() async throws {
        try await Self.withSimulator {
            $0.log = .countsOnly
        } _: { simulator in
            let client = try await RawClient.connect(to: simulator)
            _ = try await client.push(Push())
            _ = try await client.push(Push(token: Push.token.uppercased()))
            _ = try await client.push(Push(token: "0b"))
            #expect(simulator.pushCounts == [Push.token: 2, "0b": 1])
            #expect(simulator.receivedPushes.isEmpty)
            #expect(simulator.counters.answers == [200: 3])
            await client.close()
        }
    }

    @Test("waiting for pushes ends when they have come, or already had")
    func waiting() async throws {
        try await Self.withSimulator { simulator in
            let client = try await RawClient.connect(to: simulator)
            async let three: Void = simulator.waitForPushes(3)
            for _ in 0..<3 { client.send(Push()) }
            await three
            await simulator.waitForPushes(2)
            #expect(simulator.counters.completeRequests + simulator.counters.refusedStreams >= 3)
            await client.close()
        }
    }

    @Test("too many resets end the connection where a limit is set", arguments: [true, false])
    func resets(isLimited: Bool) async throws {
        try await Self.withSimulator {
            if isLimited { $0.resetLimit = .limited(burst: 10, perSecond: 0) }
        } _: { simulator in
            let client = try await RawClient.connect(to: simulator)
            for _ in 0..<11 {
                let stream = client.send(Push())
                guard try await client.answer(on: stream) != nil else { break }
                client.write(
                    frame: .init(
                        type: RawClient.Kind.reset, flags: 0, stream: stream,
                        payload: [0, 0, 0, 5]))
            }
            if isLimited {
                let goAway = try #require(await client.nextFrame(ofType: RawClient.Kind.goAway))
                #expect(goAway.number() == 21)
                #expect(HTTP2ErrorCode(rawValue: goAway.number(at: 4)) == .internalError)
            } else {
                await client.synchronise()
                #expect(simulator.counters.goAwaysSent == 0)
            }
            #expect(simulator.counters.resetsReceived == [.streamClosed: 11])
            await client.close()
        }
    }
}

extension RawClient.Frame {
    /// SETTINGS_MAX_CONCURRENT_STREAMS, if the frame has it.
    var streamLimit: Int? {
        stride(from: 0, to: payload.count, by: 6)
            .first { payload[$0] == 0 && payload[$0 + 1] == 3 }
            .map { Int(number(at: $0 + 2)) }
    }
}
