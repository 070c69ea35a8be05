// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1
import NIOPosix

/// One HTTP/1.1 request on a separate connection, answered by a status.
struct HTTPExchange: Sendable {
    var host: String
    var port: Int
    var head: HTTPRequestHead
    var body: [UInt8]

    /// How long a connection may take.
    private static let connectTimeout = TimeAmount.seconds(2)
    /// How long the whole of it may take.
    private static let timeout = TimeAmount.seconds(5)

    /// The reason why there is no status.
    enum Failure: Error {
        case closed
        case timedOut
    }

    /// Sends the request, and returns the status once the answer is complete.
    ///
    /// Throws NIO's errors for a connection that fails, ``Failure``, and `CancellationError` when
    /// the task is cancelled.
    func status(on group: any EventLoopGroup) async throws -> Int {
        let loop = group.next()
        let answer = loop.makePromise(of: Int.self)
        let timer = loop.scheduleTask(in: Self.timeout) { answer.fail(Failure.timedOut) }
        defer { timer.cancel() }
        ClientBootstrap(group: loop)
            .connectTimeout(Self.connectTimeout)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHTTPClientHandlers()
                    try channel.pipeline.syncOperations.addHandler(
                        ExchangeHandler(self, answer: answer))
                }
            }
            .connect(host: host, port: port)
            .whenComplete { result in
                switch result {
                case .success(let channel):
                    // The connection ends with the request in any case.
                    answer.futureResult.whenComplete { _ in channel.close(promise: nil) }
                case .failure(let error): answer.fail(error)
                }
            }
        return try await withTaskCancellationHandler {
            try await answer.futureResult.get()
        } onCancel: {
            answer.fail(CancellationError())
        }
    }
}

/// Writes the request, and reads the answer's status.
private final class ExchangeHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    private let exchange: HTTPExchange
    /// Completed by the first event; later ones are ignored.
    private let answer: EventLoopPromise<Int>
    private var status: Int?

    init(_ exchange: HTTPExchange, answer: EventLoopPromise<Int>) {
        self.exchange = exchange
        self.answer = answer
    }

    func channelActive(context: ChannelHandlerContext) {
        context.write(wrapOutboundOut(.head(exchange.head)), promise: nil)
        let body = ByteBuffer(bytes: exchange.body)
        context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        // 1xx comes before the answer.
        case .head(let head): if head.status.code >= 200 { status = Int(head.status.code) }
        case .body: break
        case .end: if let status { answer.succeed(status) }
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        answer.fail(HTTPExchange.Failure.closed)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        answer.fail(error)
        context.close(promise: nil)
    }
}
