// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Plain sockets to this machine.
enum LoopbackSocket {
    /// A connected one, which the caller closes. Reading from it gives up after so many seconds.
    static func connect(
        port: Int, patienceSeconds: Int, receiveByteCount: Int32? = nil
    ) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var patience = timeval(tv_sec: patienceSeconds, tv_usec: 0)
        setsockopt(
            descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        if var receiveByteCount {
            setsockopt(
                descriptor, SOL_SOCKET, SO_RCVBUF, &receiveByteCount,
                socklen_t(MemoryLayout<Int32>.size))
        }
        let isConnected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else {
            close(descriptor)
            throw POSIXError(.ECONNREFUSED)
        }
        return descriptor
    }
}
