// SPDX-License-Identifier: Apache-2.0

import APNsSimulator
import NIOCore
import NIOHPACK
import NIOPosix
import NIOSSL

/// An HTTP/2 client that sends any given bytes, valid or not, and shows every frame that comes
/// back. It shares no code with the simulator's session.
final class RawClient {
    /// A frame as sent on the wire.
    struct Frame: Sendable {
        var type: UInt8
        var flags: UInt8
        var stream: Int
        var payload: [UInt8]

        var endsStream: Bool { flags & 1 != 0 }
        /// The payload's four bytes at `offset` as a number.
        func number(at offset: Int = 0) -> UInt32 {
            payload[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
        }
    }

    /// An answer, put together from its frames.
    struct Answer {
        var status: Int
        var headers: [String: String]
        var body: String
    }

    enum Kind {
        static let data: UInt8 = 0
        static let headers: UInt8 = 1
        static let reset: UInt8 = 3
        static let settings: UInt8 = 4
        static let ping: UInt8 = 6
        static let goAway: UInt8 = 7
        static let continuation: UInt8 = 9
    }

    private let channel: any Channel
    private var iterator: AsyncStream<Frame>.AsyncIterator
    private var decoder = HPACKDecoder(allocator: ByteBufferAllocator())
    /// Frames that were skipped while waiting for another one.
    private var backlog: [Frame] = []
    private(set) var nextStream = 1

    /// Connects, and sends the preface (or something else) with an empty SETTINGS frame.
    static func connect(
        to simulator: APNsSimulator, protocols: [String] = ["h2"],
        certificate: (chain: String, key: String)? = nil, preface: [UInt8]? = nil
    ) async throws -> RawClient {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .certificates(
            try NIOSSLCertificate.fromPEMBytes(Array(simulator.certificateAuthorityPEM.utf8)))
        tls.applicationProtocols = protocols
        tls.shutdownTimeout = .milliseconds(50)
        if let certificate {
            tls.certificateChain = try NIOSSLCertificate.fromPEMBytes(Array(certificate.chain.utf8))
                .map { .certificate($0) }
            tls.privateKey = .privateKey(
                try NIOSSLPrivateKey(bytes: Array(certificate.key.utf8), format: .pem))
        }
        let context = try NIOSSLContext(configuration: tls)
        let (frames, continuation) = AsyncStream.makeStream(of: Frame.self)
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(
                        NIOSSLClientHandler(context: context, serverHostname: "localhost"),
                        FrameReader(continuation))
                }
            }
            .connect(host: simulator.host, port: simulator.port)
            .get()
        let client = RawClient(channel: channel, frames: frames)
        client.write(preface ?? Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8))
        client.write(frame: Frame(type: Kind.settings, flags: 0, stream: 0, payload: []))
        return client
    }

    private init(channel: any Channel, frames: AsyncStream<Frame>) {
        self.channel = channel
        iterator = frames.makeAsyncIterator()
    }

    func close() async {
        try? await channel.close()
    }

    func write(_ bytes: [UInt8]) {
        channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil)
    }

    func write(frame: Frame) { write(Self.bytes(of: frame)) }

    static func bytes(of frame: Frame) -> [UInt8] {
        let count = UInt32(frame.payload.count)
        let head: [UInt8] = [
            UInt8(count >> 16 & 0xff), UInt8(count >> 8 & 0xff), UInt8(count & 0xff), frame.type,
            frame.flags,
        ]
        let id = UInt32(frame.stream)
        return head + [UInt8(id >> 24), UInt8(id >> 16 & 0xff), UInt8(id >> 8 & 0xff)]
            + [UInt8(id & 0xff)] + frame.payload
    }

    /// A header block without Huffman coding or table, so that hostile names go through as given.
    static func block(_ fields: [(String, String)]) -> [UInt8] {
        func text(_ text: String) -> [UInt8] {
            var rest = text.utf8.count
            guard rest >= 0x7f else { return [UInt8(rest)] + text.utf8 }
            var bytes: [UInt8] = [0x7f]
            rest -= 0x7f
            while rest >= 0x80 {
                bytes.append(UInt8(rest & 0x7f) | 0x80)
                rest >>= 7
            }
            return bytes + [UInt8(rest)] + text.utf8
        }
        return fields.flatMap { [0x00] + text($0.0) + text($0.1) }
    }

    /// Opens a stream with these headers and returns its id.
    @discardableResult
    func sendHeaders(_ fields: [(String, String)], endsStream: Bool = false) -> Int {
        let stream = nextStream
        nextStream += 2
        write(
            frame: Frame(
                type: Kind.headers, flags: endsStream ? 0x5 : 0x4, stream: stream,
                payload: Self.block(fields)))
        return stream
    }

    func sendBody(_ stream: Int, _ body: [UInt8], endsStream: Bool = true) {
        write(
            frame: Frame(
                type: Kind.data, flags: endsStream ? 1 : 0, stream: stream, payload: body))
    }

    /// Sends a whole push in one write, so that no other frame gets in between.
    @discardableResult
    func send(_ push: Push) -> Int {
        let stream = nextStream
        nextStream += 2
        var bytes = Self.bytes(
            of: Frame(
                type: Kind.headers, flags: push.body.isEmpty ? 0x5 : 0x4, stream: stream,
                payload: Self.block(push.fields)))
        if !push.body.isEmpty {
            bytes += Self.bytes(
                of: Frame(type: Kind.data, flags: 1, stream: stream, payload: push.body))
        }
        write(bytes)
        return stream
    }

    /// The next frame, `nil` once the connection has ended.
    func nextFrame() async -> Frame? {
        backlog.isEmpty ? await iterator.next() : backlog.removeFirst()
    }

    /// The next frame that fits, `nil` once the connection has ended; frames looked past are kept.
    func nextFrame(where fits: (Frame) -> Bool) async -> Frame? {
        if let index = backlog.firstIndex(where: fits) { return backlog.remove(at: index) }
        while let frame = await iterator.next() {
            if fits(frame) { return frame }
            backlog.append(frame)
        }
        return nil
    }

    func nextFrame(ofType type: UInt8) async -> Frame? { await nextFrame { $0.type == type } }

    /// The answer on a stream, `nil` when the connection or the stream ends without one.
    func answer(on stream: Int) async throws -> Answer? {
        var answer: Answer?
        while let frame = await nextFrame(where: {
            $0.stream == stream && [Kind.data, Kind.headers, Kind.reset].contains($0.type)
        }) {
            switch frame.type {
            case Kind.headers:
                var buffer = ByteBuffer(bytes: frame.payload)
                let fields = try decoder.decodeHeaders(from: &buffer)
                answer = Answer(
                    status: fields.first(name: ":status").flatMap(Int.init) ?? 0,
                    headers: Dictionary(fields.map { ($0.name, $0.value) }) { first, _ in first },
                    body: "")
            case Kind.data: answer?.body += String(decoding: frame.payload, as: UTF8.self)
            default: return nil
            }
            if frame.endsStream { return answer }
        }
        return nil
    }

    /// Sends a push and awaits its answer.
    func push(_ push: Push) async throws -> Answer? { try await answer(on: send(push)) }

    /// Returns once the server has read everything sent so far, or has closed the connection.
    func synchronise() async {
        write(
            frame: Frame(
                type: Kind.ping, flags: 0, stream: 0, payload: Array(repeating: 7, count: 8)))
        _ = await nextFrame { $0.type == Kind.ping && $0.flags & 1 == 1 }
    }
}

/// Cuts the bytes that come into frames.
private final class FrameReader: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let continuation: AsyncStream<RawClient.Frame>.Continuation
    private var buffer = ByteBuffer()

    init(_ continuation: AsyncStream<RawClient.Frame>.Continuation) {
        self.continuation = continuation
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        buffer.writeBuffer(&bytes)
        while let head = buffer.getBytes(at: buffer.readerIndex, length: 9) {
            let length = head[0..<3].reduce(0) { $0 << 8 | Int($1) }
            guard buffer.readableBytes >= 9 + length else { return }
            buffer.moveReaderIndex(forwardBy: 9)
            continuation.yield(
                RawClient.Frame(
                    type: head[3], flags: head[4],
                    stream: head[5..<9].reduce(0) { $0 << 8 | Int($1) } & 0x7fff_ffff,
                    payload: buffer.readBytes(length: length) ?? []))
        }
    }

    func channelInactive(context: ChannelHandlerContext) { continuation.finish() }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
        continuation.finish()
    }
}
