// SPDX-License-Identifier: Apache-2.0

import Glibc
import NIOCore

/// Makes the system end the connections of callers that were lost: a machine without power or
/// network closes nothing, and TCP alone retries unacknowledged data for a quarter of an hour, and
/// keeps an idle connection forever.
enum KeepAlive {
    /// The time without a packet of the caller after which its connection ends, in seconds.
    static let seconds: CInt = 60
    /// The time without a packet of the caller after which it is probed, and the interval of
    /// probes, in seconds.
    private static let (idleSeconds, intervalSeconds): (CInt, CInt) = (30, 10)

    /// Sets the options on a listening socket, of which each connection that it accepts has them. A
    /// Unix domain socket has none and needs none: the system closes its connections when a caller
    /// ends.
    static func start(on listener: any Channel) async {
        guard listener.localAddress?.ipAddress != nil else { return }
        try? await listener.setOption(.socketOption(.so_keepalive), value: 1).get()
        let options = [
            (TCP_KEEPIDLE, idleSeconds), (TCP_KEEPINTVL, intervalSeconds),
            (TCP_KEEPCNT, (seconds - idleSeconds) / intervalSeconds),
            (TCP_USER_TIMEOUT, seconds * 1_000),
        ]
        for (name, value) in options {
            // It fails for a listener that is closed already, which accepts no connections.
            try? await listener.setOption(
                ChannelOptions.Types.SocketOption(level: .tcp, name: .init(rawValue: name)),
                value: Int(value)
            ).get()
        }
    }
}
