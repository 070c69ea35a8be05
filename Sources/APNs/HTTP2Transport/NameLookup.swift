// SPDX-License-Identifier: Apache-2.0

internal import CHTTP2Shims
internal import Glibc
internal import LoopKit
internal import Synchronization

/// A lookup of a host's addresses on a separate thread, because the system's resolver blocks.
///
/// Results are not cached: Apple recommends a new lookup before each connection (facts §1.5). A
/// lookup cannot be cancelled; an abandoned one ends by itself, at the latest with the resolver's
/// own timeouts, and uses nothing of the loop.
final class NameLookup: Sendable {
    /// What came of it.
    enum Outcome: Sendable {
        /// At least one address, in the resolver's order of preference (RFC 6724).
        case addresses([SocketAddress])
        /// The resolver's message.
        case failure(String)
    }

    /// Returns a host's addresses; blocks. Called on a separate thread.
    typealias Resolver = @Sendable (_ host: String, _ port: Int) -> Outcome

    private let outcome = StateLock<Outcome?>(nil)

    /// Starts a lookup with `resolve`, which wakes `mailbox` at its end. `nil` if the system cannot
    /// start a thread.
    static func start(
        host: String, port: Int, with resolve: @escaping Resolver, ringing mailbox: Mailbox
    ) -> NameLookup? {
        let lookup = NameLookup()
        let isStarted = LoopThread.start {
            CHTTP2_name_this_thread("rouse-resolve")
            let found = resolve(host, port)
            lookup.outcome.withLock { $0 = found }
            mailbox.ring()
        }
        return isStarted ? lookup : nil
    }

    /// The result; `nil` before its end.
    var result: Outcome? { outcome.withLock { $0 } }

    /// Calls the system's resolver, and waits for it. A literal IP address causes no query.
    @Sendable static func resolve(host: String, port: Int) -> Outcome {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_protocol = Int32(IPPROTO_TCP)
        hints.ai_flags = AI_NUMERICSERV
        if SocketAddress.parse(host) != nil { hints.ai_flags |= AI_NUMERICHOST }
        var first: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, String(port), &hints, &first)
        guard code == 0 else {
            return .failure(code == EAI_SYSTEM ? words(errno) : String(cString: gai_strerror(code)))
        }
        defer { freeaddrinfo(first) }
        var addresses: [SocketAddress] = []
        var next = first
        // SAFETY: the resolver's list is walked before it is freed; each of its addresses has as
        // many bytes as it says.
        while let entry = next?.pointee {
            if let address = entry.ai_addr,
                let found = SocketAddress(address, length: Int(entry.ai_addrlen))
            {
                addresses.append(found)
            }
            next = entry.ai_next
        }
        return addresses.isEmpty ? .failure("the name has no address") : .addresses(addresses)
    }

    /// The system's message for an error number.
    static func words(_ number: Int32) -> String { String(cString: strerror(number)) }
}
