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

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        guard connections.admit(channel) != nil else {
            refusals.note(PeerAddress(channel.remoteAddress), status: 0)
            channel.close(promise: nil)
            return channel.eventLoop.makeFailedFuture(ChannelError.ioOnClosedChannel)
        }
        guard let context = tls?.current else {
            return base.setup(channel: channel, logger: logger)
        }
        let added = channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(
                ServerTLSHandler(context: context, closeTimeout: Self.closeTimeout))
        }
        return added.flatMap { base.setup(channel: channel, logger: logger) }
    }

    func handle(value: Value, logger: Logger) async {
        await base.handle(value: value, logger: logger)
    }
}
