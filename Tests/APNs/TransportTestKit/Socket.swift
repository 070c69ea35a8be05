// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The few socket calls of these tests.
package enum Socket {
    /// A socket that listens on a port that the system chose, of 127.0.0.1 or another IP address.
    package static func listening(on host: String = "127.0.0.1", backlog: Int32 = 64) -> Int32 {
        let (made, isBound) = withAddress(host, port: 0) { made, address, length in
            bind(made, address, length) == 0
        }
        precondition(isBound && listen(made, backlog) == 0, "A loopback port must be free.")
        return made
    }

    package static func port(of socket: Int32) -> Int {
        // The port's offset is the same for both families, and only the port is read.
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = getsockname(socket, $0, &length)
            }
        }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    /// A port of 127.0.0.1, or of another IP address, without a listener.
    package static func freePort(on host: String = "127.0.0.1") -> Int {
        let made = listening(on: host)
        defer { close(made) }
        return port(of: made)
    }

    package static func connected(to port: Int, on host: String = "127.0.0.1") -> Int32? {
        let (made, isConnected) = withAddress(host, port: port) { made, address, length in
            connect(made, address, length) == 0
        }
        if isConnected { return made }
        close(made)
        return nil
    }

    package static func send(_ text: String, to socket: Int32) {
        _ = Glibc.send(socket, text, text.utf8.count, Int32(MSG_NOSIGNAL))
    }

    /// Makes a socket, and does something with it and an address.
    private static func withAddress(
        _ host: String, port: Int,
        _ body: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Bool
    ) -> (socket: Int32, isDone: Bool) {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, String(port), &hints, &found) == 0, let entry = found?.pointee,
            let address = entry.ai_addr
        else { preconditionFailure("\(host) is an IP address.") }
        defer { freeaddrinfo(found) }
        let made = socket(entry.ai_family, entry.ai_socktype, 0)
        return (made, body(made, address, entry.ai_addrlen))
    }
}
