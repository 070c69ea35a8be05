// SPDX-License-Identifier: Apache-2.0

import APNsSimulator
import NIOCore
import NIOHPACK
import NIOHTTP2
import NIOPosix
import NIOSSL
import Testing
import WakeModel

@Suite("Clients that others wrote", .timeLimit(.minutes(10)))
struct ForeignClientTests {
    static let curl = "/usr/bin/curl"

    static func curlArguments(_ simulator: APNsSimulator, authority: String) -> [String] {
        var arguments = ["-sS", "-i", "--http2", "--cacert", authority, "--data", "{}"]
        for (name, value) in Push().headers { arguments += ["-H", "\(name): \(value)"] }
        return arguments
    }

    @Test("curl trusts the certificate for each of its names, and gets a push accepted")
    func curl() async throws {
        try await WireTests.withSimulator { simulator in
            try await Command.withFile(simulator.certificateAuthorityPEM) { authority in
                for name in ["localhost", "127.0.0.1"] {
                    let output = try await Command.run(
                        Self.curl,
                        Self.curlArguments(simulator, authority: authority) + [
                            "https://\(name):\(simulator.port)/3/device/\(Push.token)"
                        ])
                    #expect(output.status == 0)
                    #expect(output.text.hasPrefix("HTTP/2 200"))
                    #expect(output.text.contains("apns-id: \(Push.apnsID)"))
                }
                #expect(simulator.receivedPushes.map(\.status) == [200, 200])
            }
        }
    }

    @Test("curl sends several pushes over one connection, and reads a refusal")
    func curlReuse() async throws {
        try await WireTests.withSimulator { simulator in
            try await Command.withFile(simulator.certificateAuthorityPEM) { authority in
                let base = "https://localhost:\(simulator.port)/3/device/"
                let output = try await Command.run(
                    Self.curl,
                    Self.curlArguments(simulator, authority: authority)
                        + [base + "ab", base + "cd", base + "nonsense"])
                #expect(output.status == 0)
                #expect(output.text.hasSuffix(#"{"reason":"BadDeviceToken"}"#))
                #expect(simulator.counters.answers == [200: 2, 400: 1])
                #expect(simulator.counters.connectionsOpened == 1)
            }
        }
    }

    @Test("curl without the certificate authority refuses to talk")
    func curlUntrusted() async throws {
        try await WireTests.withSimulator { simulator in
            let output = try await Command.run(
                Self.curl, ["-s", "https://localhost:\(simulator.port)/"])
            #expect(output.status == 60)
            #expect(simulator.counters.requests == 0)
        }
    }

    @Test("swift-nio-http2's client, with all its validation, finds nothing to object to")
    func nioClient() async throws {
        try await WireTests.withSimulator {
            $0.maxConcurrentStreams = 20
        } _: { simulator in
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .certificates(
                try NIOSSLCertificate.fromPEMBytes(Array(simulator.certificateAuthorityPEM.utf8)))
            tls.applicationProtocols = ["h2"]
            tls.shutdownTimeout = .milliseconds(50)
            let context = try NIOSSLContext(configuration: tls)
            // HTTP/2 has to be there before the server's first bytes are.
            let (channel, multiplexer) = try await ClientBootstrap(
                group: MultiThreadedEventLoopGroup.singleton
            ).connect(host: simulator.host, port: simulator.port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(
                        NIOSSLClientHandler(context: context, serverHostname: "localhost"))
                    let multiplexer = try pipeline.configureHTTP2Pipeline(
                        mode: .client, connectionConfiguration: .init(),
                        streamConfiguration: .init()
                    ) { $0.eventLoop.makeSucceededVoidFuture() }
                    return (channel, multiplexer)
                }
            }
            // One request first, as Apple wants it; then the client keeps to the limit by itself.
            #expect(try await Self.send(Push(), multiplexer) == "200")
            let statuses = try await withThrowingTaskGroup(of: String?.self) { group in
                for index in 0..<100 {
                    let push = index % 10 == 0 ? Push().with("apns-topic", nil) : Push()
                    group.addTask { try await Self.send(push, multiplexer) }
                }
                return try await group.reduce(into: [:]) { $0[$1 ?? "none", default: 0] += 1 }
            }
            #expect(statuses == ["200": 90, "400": 10])
            #expect(simulator.counters.completeRequests == 101)
            #expect(simulator.counters.refusedStreams == 0)
            try await channel.close()
        }
    }

    private static func send(
        _ push: Push, _ multiplexer: NIOHTTP2Handler.StreamMultiplexer
    ) async throws -> String? {
        let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
        let status = eventLoop.makePromise(of: String?.self)
        let stream = eventLoop.makePromise(of: (any Channel).self)
        multiplexer.createStreamChannel(promise: stream) { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(StatusReader(status))
            }
        }
        let channel = try await stream.futureResult.get()
        let headers = HTTP2Frame.FramePayload.headers(.init(headers: HPACKHeaders(push.fields)))
        channel.write(headers, promise: nil)
        let body = ByteBuffer(bytes: push.body)
        channel.writeAndFlush(
            HTTP2Frame.FramePayload.data(.init(data: .byteBuffer(body), endStream: true)),
            promise: nil)
        return try await status.futureResult.get()
    }
}

/// Completes with the answer's status when the stream has ended; fails for anything irregular.
private final class StatusReader: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame.FramePayload

    private let promise: EventLoopPromise<String?>
    private var status: String?

    init(_ promise: EventLoopPromise<String?>) { self.promise = promise }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .headers(let headers):
            status = headers.headers.first(name: ":status")
            if headers.endStream { promise.succeed(status) }
        case .data(let data): if data.endStream { promise.succeed(status) }
        default: break
        }
    }

    func channelInactive(context: ChannelHandlerContext) { promise.succeed(status) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        promise.fail(error)
        context.close(promise: nil)
    }
}
