// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A port that answers no SYN: a listener that accepts no connection, its queue filled.
package struct BlackHole {
    package let port: Int
    private let sockets: [Int32]

    /// On that IP address.
    package init(on host: String = "127.0.0.1") {
        let listener = Socket.listening(on: host, backlog: 0)
        port = Socket.port(of: listener)
        var sockets = [listener]
        // The queue of a listener takes one more than its backlog.
        if let filler = Socket.connected(to: port, on: host) { sockets.append(filler) }
        self.sockets = sockets
    }

    package func close() { for socket in sockets { Glibc.close(socket) } }
}
