// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logging
import NIOCore

/// Handles a lack of file descriptors: strangers' connections are closed, and the listener pauses,
/// so that their descriptors are free before it accepts the next connection.
///
/// If the system still refuses one, NIO retries immediately and without a pause: its pending read
/// stays after a failure, so that `AcceptBackoffHandler` has no effect. Hence the event loop itself
/// sleeps, and its other connections wait meanwhile.
///
/// Confined to the listener's event loop.
final class AcceptPause: ChannelInboundHandler {
    typealias InboundIn = any Channel

    /// The maximum number of strangers that are closed before a connection is passed on. Those on
    /// this event loop are closed only after it.
    private static let mostDropped = 8
    /// The pauses while a stranger's connection is being closed, and without one, in microseconds.
    private static let rests: (closing: UInt32, full: UInt32) = (1_000, 20_000)
    private static let warningSeconds: Int64 = 60

    private let connections: ListenerConnections
    private let logger: Logger
    private var nextWarning = NIODeadline.now()

    init(_ connections: ListenerConnections, _ logger: Logger) {
        self.connections = connections
        self.logger = logger
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var dropped = 0
        while dropped < Self.mostDropped, ListenerConnections.isShortOfFiles,
            connections.dropStranger()
        {
            usleep(Self.rests.closing)
            dropped += 1
        }
        context.fireChannelRead(data)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let failure = error as? IOError else { return context.fireErrorCaught(error) }
        guard [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(failure.errnoCode) else { return }
        if nextWarning <= .now() {
            nextWarning = .now() + .seconds(Self.warningSeconds)
            logger.warning(
                "connections wait, because the system has no room for another",
                metadata: ["errno": "\(failure.errnoCode)"])
        }
        usleep(connections.dropStranger() ? Self.rests.closing : Self.rests.full)
    }
}
