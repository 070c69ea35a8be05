// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOEmbedded
import NIOSSL
import NIOTLS
import OpenSSLCrypto
import SeedKit
import ServerTLS

/// The certificates of a test.
struct Certificates {
    static let validity: Range<Int64> = 1_700_000_000..<4_000_000_000

    let authority: CertificateAuthority
    let server: (chain: String, key: String)
    let client: (chain: String, key: String)

    init() throws {
        authority = try CertificateAuthority(commonName: "authority", validity: Self.validity)
        let serverKey = P256PrivateKey()
        server = (
            try authority.certificate(
                for: serverKey.publicKey, commonName: "server",
                purpose: .server([.host("localhost")])), serverKey.pem
        )
        let clientKey = P256PrivateKey()
        client = (
            try authority.certificate(
                for: clientKey.publicKey, commonName: "client", purpose: .client), clientKey.pem
        )
    }

    func context(
        requiresALPN: Bool = false, clientAuthorities: String? = nil
    ) throws -> ServerTLSContext {
        try ServerTLSContext(
            certificateChain: Array(server.chain.utf8), key: Array(server.key.utf8),
            applicationProtocols: ["h2"], requiresALPN: requiresALPN,
            clientAuthorities: clientAuthorities.map { Array($0.utf8) })
    }
}

/// Keeps what reaches the end of a pipeline, and its events.
final class Recorder: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private(set) var bytes: [UInt8] = []
    private(set) var errors: [any Error] = []
    private(set) var handshakes: [String?] = []
    private(set) var isActive = true
    /// How many bytes there were at each end of the input.
    private(set) var inputEnds: [Int] = []

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        bytes += unwrapInboundIn(data).readableBytesView
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted(let name) = event { handshakes.append(name) }
        if case ChannelEvent.inputClosed = event { inputEnds.append(bytes.count) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { errors.append(error) }

    func channelInactive(context: ChannelHandlerContext) { isActive = false }
}

/// Counts the reads that reach the socket, and ends its output as a socket does: EmbeddedChannel
/// would close.
final class ReadCounter: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer

    private(set) var count = 0

    func close(
        context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?
    ) {
        if mode == .output {
            promise?.succeed()
        } else {
            context.close(mode: mode, promise: promise)
        }
    }

    func read(context: ChannelHandlerContext) {
        count += 1
        context.read()
    }
}

/// A server on ``ServerTLSHandler`` and a client on swift-nio-ssl, which is another TLS library,
/// without sockets.
final class TLSPair {
    let server = EmbeddedChannel()
    let client = EmbeddedChannel()
    let atServer = Recorder()
    let atClient = Recorder()
    let reads = ReadCounter()
    private var random: SeededGenerator
    private let longestChunk: Int
    /// What the client sent, as records.
    private(set) var fromClient: [UInt8] = []
    private(set) var fromServer: [UInt8] = []

    init(
        _ context: ServerTLSContext, trusting certificates: Certificates,
        protocols: [String] = ["h2"], version: TLSVersion = .tlsv13,
        clientCertificate: (chain: String, key: String)? = nil, longestChunk: Int = 100_000,
        seed: UInt64 = 1
    ) throws {
        random = SeededGenerator(seed: seed)
        self.longestChunk = longestChunk
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.trustRoots = .certificates(
            try NIOSSLCertificate.fromPEMBytes(Array(certificates.authority.certificatePEM.utf8)))
        configuration.applicationProtocols = protocols
        configuration.minimumTLSVersion = version == .tlsv1 ? .tlsv1 : version
        configuration.maximumTLSVersion = version
        if let clientCertificate {
            configuration.certificateChain = try NIOSSLCertificate.fromPEMBytes(
                Array(clientCertificate.chain.utf8)
            ).map { .certificate($0) }
            configuration.privateKey = .privateKey(
                try NIOSSLPrivateKey(bytes: Array(clientCertificate.key.utf8), format: .pem))
        }
        try server.pipeline.syncOperations.addHandlers([
            reads, try ServerTLSHandler(context: context, closeTimeout: .seconds(1)), atServer,
        ])
        try client.pipeline.syncOperations.addHandlers([
            ReadCounter(),
            try NIOSSLClientHandler(
                context: try NIOSSLContext(configuration: configuration),
                serverHostname: "localhost"), atClient,
        ])
        // EmbeddedChannel is active after it was connected, to anything.
        let address = try SocketAddress(ipAddress: "127.0.0.1", port: 1)
        server.connect(to: address, promise: nil)
        client.connect(to: address, promise: nil)
    }

    /// Moves bytes between the two until neither has any, in chunks of random lengths. `change`
    /// may change what the client sends.
    func exchange(_ change: ([UInt8]) -> [UInt8] = { $0 }) {
        while true {
            let toServer = change(takeAll(client))
            let toClient = takeAll(server)
            fromClient += toServer
            fromServer += toClient
            if toServer.isEmpty, toClient.isEmpty { return }
            deliver(toServer, to: server)
            deliver(toClient, to: client)
        }
    }

    /// Gives bytes to a side as if they had been received.
    func deliver(_ bytes: [UInt8], to side: EmbeddedChannel) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let chunk = rest.prefix(1 + random.below(longestChunk))
            rest = rest.dropFirst(chunk.count)
            side.pipeline.fireChannelRead(ByteBuffer(bytes: chunk))
            side.pipeline.fireChannelReadComplete()
        }
    }

    /// What a side has sent.
    func takeAll(_ side: EmbeddedChannel) -> [UInt8] {
        var bytes: [UInt8] = []
        while let next = try? side.readOutbound(as: ByteBuffer.self) {
            bytes += next.readableBytesView
        }
        return bytes
    }

    /// The types of the records in the bytes.
    static func recordTypes(_ bytes: [UInt8]) -> [UInt8] {
        var types: [UInt8] = []
        var rest = bytes[...]
        while rest.count >= 5 {
            let start = rest.startIndex
            types.append(rest[start])
            rest = rest.dropFirst(5 + Int(rest[start + 3]) << 8 + Int(rest[start + 4]))
        }
        return types
    }
}
