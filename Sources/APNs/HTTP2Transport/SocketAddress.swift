// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The address of a TCP connection.
struct SocketAddress: Hashable, Sendable {
    /// The address family.
    enum Family: Hashable, Sendable {
        /// Version 4.
        case v4
        /// Version 6.
        case v6
    }

    let family: Family
    /// The `sockaddr_in` or `sockaddr_in6`, byte for byte.
    let bytes: [UInt8]

    /// Copies what the resolver found; `nil` for any other family.
    init?(_ address: UnsafePointer<sockaddr>, length: Int) {
        switch Int32(address.pointee.sa_family) {
        case AF_INET: family = .v4
        case AF_INET6: family = .v6
        default: return nil
        }
        // SAFETY: the caller's address has `length` bytes, which are copied here.
        bytes = Array(UnsafeRawBufferPointer(start: address, count: length))
    }

    /// For tests: any bytes.
    init(family: Family, bytes: [UInt8]) {
        self.family = family
        self.bytes = bytes
    }

    /// The bytes of an IP address in text, in network order; `nil` for a name.
    static func parse(_ text: String) -> (family: Family, bytes: [UInt8])? {
        var four = in_addr()
        if inet_pton(AF_INET, text, &four) == 1 {
            // SAFETY: plain bytes of a local value, copied before the closure ends.
            return (.v4, withUnsafeBytes(of: &four) { Array($0) })
        }
        var six = in6_addr()
        if inet_pton(AF_INET6, text, &six) == 1 {
            // SAFETY: as above.
            return (.v6, withUnsafeBytes(of: &six) { Array($0) })
        }
        return nil
    }
}
