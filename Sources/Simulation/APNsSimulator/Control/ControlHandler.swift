// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1
import NIOPosix

/// The HTTP/1.1 shell of ``ControlRouter``: one request after the other.
final class ControlHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let router: ControlRouter
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []

    init(router: ControlRouter) { self.router = router }

    /// Listens for control requests.
    static func bind(
        router: ControlRouter, group: any EventLoopGroup, host: String, port: Int
    ) async throws -> any Channel {
        try await ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.configureHTTPServerPipeline()
                    try pipeline.addHandler(ControlHandler(router: router))
                }
            }
            .bind(host: host, port: port)
            .get()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
            body = []
        case .body(let bytes):
            guard body.count + bytes.readableBytes <= ControlRouter.longestBody else {
                context.close(promise: nil)
                return
            }
            body.append(contentsOf: bytes.readableBytesView)
        case .end:
            guard let head else { return }
            self.head = nil
            let response = router.respond(
                method: head.method.rawValue, path: head.uri, body: body)
            write(response, keepAlive: head.isKeepAlive, context: context)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func write(
        _ response: ControlRouter.Response, keepAlive: Bool, context: ChannelHandlerContext
    ) {
        var head = HTTPResponseHead(
            version: .http1_1, status: HTTPResponseStatus(statusCode: response.status))
        if response.status != 204 {
            head.headers.add(name: "content-length", value: "\(response.body.count)")
        }
        if !response.body.isEmpty {
            head.headers.add(name: "content-type", value: response.contentType)
        }
        if !keepAlive { head.headers.add(name: "connection", value: "close") }
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if !response.body.isEmpty {
            let bytes = ByteBuffer(bytes: response.body)
            context.write(wrapOutboundOut(.body(.byteBuffer(bytes))), promise: nil)
        }
        let end = context.writeAndFlush(wrapOutboundOut(.end(nil)))
        guard !keepAlive else { return }
        // Only now: what is not written yet would be thrown away.
        end.whenComplete { [channel = context.channel] _ in channel.close(promise: nil) }
    }
}
