// SPDX-License-Identifier: Apache-2.0

import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import NIOHTTPTypesHTTP2
import ServerTLS

/// HTTP/1.1 or HTTP/2 on an admitted connection, over TLS where there is a certificate.
///
/// Hummingbird's own TLS channel keeps one context; this one gets the present one at each
/// connection, so that a renewed certificate needs no restart.
struct ListenerChannel: ServerChildChannel {
    /// An admitted connection.
    struct Value: ServerChildChannelValue {
        let channel: any Channel
        /// Its requests, when its version of HTTP is known; fails when it ends before.
        fileprivate let requests: EventLoopFuture<Requests>
    }

    /// The requests of a connection that the router answers.
    fileprivate enum Requests: Sendable {
        case http1(HTTP1Channel.Value)
        case http2(StreamQueue)
    }

    /// How long a closing connection waits for the caller's close_notify: one that does not answer
    /// keeps its descriptor no longer.
    private static let closeTimeout = TimeAmount.seconds(1)

    let base: HTTP1Channel
    let limits: AdminConfiguration
    let connections: ListenerConnections
    let bodies: BodyBudget
    let access: AccessControl
    let refusals: RefusalLog
    /// The route whose plain requests are answered without the router; `nil` if there is none.
    let direct: DirectRoute?

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        guard let connection = connections.admit(channel) else {
            refusals.note(PeerAddress(channel.remoteAddress), status: 0)
            channel.close(promise: nil)
            return channel.eventLoop.makeFailedFuture(ChannelError.ioOnClosedChannel)
        }
        let requests = channel.eventLoop.makePromise(of: Requests.self)
        return channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            let watch = FirstByteWatch()
            try pipeline.addHandler(watch)
            if let context = limits.tls?.current {
                try pipeline.addHandler(
                    ServerTLSHandler(context: context, closeTimeout: Self.closeTimeout))
            }
            let choice = HTTPVersionChoice(limits: limits, watch: watch) { isHTTP2 in
                if isHTTP2 {
                    requests.succeed(.http2(try setupHTTP2(channel, connection)))
                } else {
                    try setupHTTP1(channel, connection, logger).cascade(to: requests)
                }
            } abandon: {
                requests.fail(ChannelError.ioOnClosedChannel)
            }
            try pipeline.addHandler(choice)
            return Value(channel: channel, requests: requests.futureResult)
        }
    }

    private func setupHTTP1(
        _ channel: any Channel, _ connection: ListenerConnection, _ logger: Logger
    ) throws -> EventLoopFuture<Requests> {
        let value = base.setup(channel: channel, logger: logger)
        if let direct {
            let pipeline = channel.pipeline.syncOperations
            let encoded = EncodedAnswer(
                after: try pipeline.context(handlerType: HTTPResponseEncoder.self))
            let codec = try pipeline.handler(type: HTTP1ToHTTPServerCodec.self)
            try pipeline.addHandler(encoded, position: .before(codec))
            let warden = try pipeline.handler(type: ConnectionGuard.self)
            // After the handler that knows whether the connection is idle.
            let state = try pipeline.handler(type: HTTPConnectionStateHandler.self)
            try pipeline.addHandler(
                DirectRouteHandler(direct, connection, warden, encoded), position: .after(state))
        }
        return value.map { .http1($0) }
    }

    private func setupHTTP2(
        _ channel: any Channel, _ connection: ListenerConnection
    ) throws -> StreamQueue {
        let streams = StreamQueue()
        let warden = HTTP2Guard(
            limits: limits, connections: connections, connection: connection, bodies: bodies,
            access: access, direct: direct, streams: streams)
        var configuration = NIOHTTP2Handler.ConnectionConfiguration()
        configuration.initialSettings = HTTP2Guard.settings(limits)
        // What is under way on a stream that was reset is no fault of the caller.
        configuration.maximumRecentlyResetStreams = 2 * limits.streamCount
        // NIO's limits are out of reach: its GOAWAY would say that no request was processed, and a
        // caller may send all of them again (RFC 9113 §6.8).
        configuration.maximumConnectionGlitches = .max
        configuration.maximumSequentialEmptyDataFrames = .max
        configuration.controlFrameRateLimit.windowLength = .nanoseconds(1)
        var streamConfiguration = NIOHTTP2Handler.StreamConfiguration()
        streamConfiguration.streamResetFrameRateLimit.windowLength = .nanoseconds(1)
        streamConfiguration.streamErrorRateLimit.windowLength = .nanoseconds(1)
        let multiplexer = HTTP2StreamMultiplexer(mode: .server, channel: channel) {
            [connections] stream in
            stream.eventLoop.makeCompletedFuture {
                try stream.pipeline.syncOperations.addHandler(HTTP2FramePayloadToHTTPServerCodec())
                let requests = try HTTP1Channel.Value(wrappingChannelSynchronously: stream)
                connections.addStream(stream, of: connection)
                streams.append(requests)
            }
        }
        try channel.pipeline.syncOperations.addHandlers([
            warden.frameLimit,
            NIOHTTP2Handler(
                mode: .server, frameDelegate: warden, connectionConfiguration: configuration,
                streamConfiguration: streamConfiguration),
            warden, multiplexer,
        ])
        return streams
    }

    func handle(value: Value, logger: Logger) async {
        // The connection ends if this task is cancelled.
        let requests = await withTaskCancellationHandler {
            try? await value.requests.get()
        } onCancel: {
            value.channel.close(promise: nil)
        }
        switch requests {
        case nil: break
        case .http1(let requests): await base.handle(value: requests, logger: logger)
        case .http2(let streams):
            await withTaskCancellationHandler {
                await withDiscardingTaskGroup { group in
                    while let stream = await streams.next() {
                        group.addTask { await base.handle(value: stream, logger: logger) }
                    }
                }
            } onCancel: {
                value.channel.close(promise: nil)
            }
        }
    }
}
