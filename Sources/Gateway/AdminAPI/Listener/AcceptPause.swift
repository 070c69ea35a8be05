// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logging
import NIOCore

/// What the listener does when files are short: strangers give their places away, and the listener
/// rests for moments, so that their descriptors are free before it takes the next connection.
///
/// Where the system refuses one all the same, NIO asks again at once, and knows no pause: what it
/// wants to read it goes on wanting after a failure, so that `AcceptBackoffHandler` has nothing to
/// hold back. Hence the event loop itself sleeps, for a moment in which its other connections wait
/// too.
///
/// It lives on the listener's event loop.
final class AcceptPause: ChannelInboundHandler {
    typealias InboundIn = any Channel

    /// How many strangers go at most before a connection is passed on. Those on this event loop are
    /// closed only after it.
    private static let mostDropped = 8
    /// How long it rests while a stranger's connection is being closed, and where there is none, in
    /// microseconds.
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
