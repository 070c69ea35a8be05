// SPDX-License-Identifier: Apache-2.0

import HummingbirdCore
import Logging
import NIOCore
import ServerTLS

/// HTTP/1.1 on an admitted connection, over TLS where there is a certificate.
///
/// Hummingbird's own TLS channel keeps one context; this one gets the present one at each
/// connection, so that a renewed certificate needs no restart.
struct ListenerChannel: ServerChildChannel {
    typealias Value = HTTP1Channel.Value

    /// How long a closing connection waits for the caller's close_notify: one that does not answer
    /// keeps its descriptor no longer.
    private static let closeTimeout = TimeAmount.seconds(1)

    let base: HTTP1Channel
    let tls: ListenerTLS?
    let connections: ListenerConnections
    let refusals: RefusalLog
    /// Makes the handler of a connection's plain requests; `nil` if no route has one.
    let direct: @Sendable (any Channel) -> DirectRouteHandler?

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        guard connections.admit(channel) != nil else {
            refusals.note(PeerAddress(channel.remoteAddress), status: 0)
            channel.close(promise: nil)
            return channel.eventLoop.makeFailedFuture(ChannelError.ioOnClosedChannel)
        }
        guard let context = tls?.current else {
            return setupHTTP(channel: channel, logger: logger)
        }
        let added = channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(
                ServerTLSHandler(context: context, closeTimeout: Self.closeTimeout))
        }
        return added.flatMap { setupHTTP(channel: channel, logger: logger) }
    }

    private func setupHTTP(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        base.setup(channel: channel, logger: logger).flatMapThrowing { value in
            if let handler = direct(channel) {
                let pipeline = channel.pipeline.syncOperations
                // After the handler that knows whether the connection is idle.
                let state = try pipeline.handler(type: HTTPConnectionStateHandler.self)
                try pipeline.addHandler(handler, position: .after(state))
            }
            return value
        }
    }

    func handle(value: Value, logger: Logger) async {
        await base.handle(value: value, logger: logger)
    }
}
