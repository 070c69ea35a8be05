// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// A small HTTP server in place of a gateway: it records requests, and gives the configured
/// answers, then 204.
final class ReceiptServer: Sendable {
    struct Request: Hashable, Sendable {
        var method: String
        var path: String
        var authorization: String?
        var body: String
    }

    let port: Int
    private let channel: any Channel
    private let requests: AsyncStream<Request>

    /// Listens; the first requests are answered with `statuses`.
    static func start(answering statuses: [Int] = []) async throws -> ReceiptServer {
        let (requests, continuation) = AsyncStream.makeStream(of: Request.self)
        let script = Script(statuses)
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(
                        Answerer(continuation, script))
                }
            }
            .bind(host: "127.0.0.1", port: 0)
            .get()
        return ReceiptServer(channel, requests)
    }

    private init(_ channel: any Channel, _ requests: AsyncStream<Request>) {
        self.channel = channel
        self.requests = requests
        port = channel.localAddress?.port ?? 0
    }

    func makeIterator() -> AsyncStream<Request>.AsyncIterator { requests.makeAsyncIterator() }

    func close() async { try? await channel.close() }

    /// The statuses that are still to be answered.
    final class Script: Sendable {
        private let statuses: Mutex<[Int]>

        init(_ statuses: [Int]) { self.statuses = Mutex(statuses) }

        func next() -> Int { statuses.withLock { $0.isEmpty ? 204 : $0.removeFirst() } }
    }
}

private final class Answerer: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let continuation: AsyncStream<ReceiptServer.Request>.Continuation
    private let script: ReceiptServer.Script
    private var request: ReceiptServer.Request?

    init(
        _ continuation: AsyncStream<ReceiptServer.Request>.Continuation,
        _ script: ReceiptServer.Script
    ) {
        self.continuation = continuation
        self.script = script
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            request = .init(
                method: head.method.rawValue, path: head.uri,
                authorization: head.headers.first(name: "authorization"), body: "")
        case .body(let bytes): request?.body += String(buffer: bytes)
        case .end:
            if let request { continuation.yield(request) }
            let status = HTTPResponseStatus(statusCode: script.next())
            let head = HTTPResponseHead(
                version: .http1_1, status: status,
                headers: status == .noContent ? [:] : ["content-length": "0"])
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }
}
