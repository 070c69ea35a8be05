// SPDX-License-Identifier: Apache-2.0

import Glibc
import NIOCore

/// Has the system end the connections of callers that have vanished without a word: a machine that
/// lost its power or its network closes nothing, and TCP by itself goes on for a quarter of an hour
/// with what it wrote, and for ever without.
enum KeepAlive {
    /// After how long without a sign of the caller its connection ends, in seconds.
    static let seconds: CInt = 60
    /// After how long without anything from the caller it is asked for one, and how often then, in
    /// seconds.
    private static let (idleSeconds, intervalSeconds): (CInt, CInt) = (30, 10)

    /// Sets the options on a listening socket, of which each connection that it accepts has them.
    /// A Unix domain socket has none and needs none: its callers cannot vanish.
    static func start(on listener: any Channel) async {
        guard listener.localAddress?.ipAddress != nil else { return }
        try? await listener.setOption(.socketOption(.so_keepalive), value: 1).get()
        let options = [
            (TCP_KEEPIDLE, idleSeconds), (TCP_KEEPINTVL, intervalSeconds),
            (TCP_KEEPCNT, (seconds - idleSeconds) / intervalSeconds),
            (TCP_USER_TIMEOUT, seconds * 1_000),
        ]
        for (name, value) in options {
            // It fails for a listener that is closed already, and then nobody comes.
            try? await listener.setOption(
                ChannelOptions.Types.SocketOption(level: .tcp, name: .init(rawValue: name)),
                value: Int(value)
            ).get()
        }
    }
}
