// SPDX-License-Identifier: Apache-2.0

import Glibc
import NIOCore
import Synchronization

/// The permissions and the group of a Unix domain socket.
public struct SocketAccess: Hashable, Sendable {
    /// The permissions; connecting requires write permission.
    public var mode: UInt32
    /// The id of the group; `nil` for that of the process.
    public var groupID: UInt32?

    /// Creates access rights; by default for the owner only.
    public init(mode: UInt32 = 0o600, groupID: UInt32? = nil) {
        self.mode = mode
        self.groupID = groupID
    }

    /// The id of a group by its name, or by its number in decimal; `nil` for an unknown one. Not
    /// thread-safe.
    public static func groupID(named name: String) -> UInt32? {
        if let number = UInt32(name) { return number }
        return getgrnam(name)?.pointee.gr_gid
    }

    /// Sets the group and the permissions of the socket at this path. Throws ``ListenerFailure``.
    func apply(to path: String) throws(ListenerFailure) {
        // The group first, because a change of it may remove permissions.
        if let groupID, chown(path, .max, groupID) != 0 { throw ListenerFailure(code: errno) }
        guard chmod(path, mode_t(mode)) == 0 else { throw ListenerFailure(code: errno) }
    }

    /// Makes new files accessible only to the owner until ``restore(_:)``, so that no one else
    /// connects before the socket has its permissions. Returns the former mask.
    static func restrict() -> UInt32 { UInt32(umask(0o077)) }

    /// Ends ``restrict()``.
    static func restore(_ mask: UInt32) { umask(mode_t(mask)) }
}

/// A Unix domain socket of the listener, from before its creation until it has its permissions.
final class ListeningSocket: Sendable {
    private struct State {
        /// The former file mode creation mask.
        var mask: UInt32?
        var failure: ListenerFailure?
    }

    private let path: String
    private let access: SocketAccess
    private let state = Mutex(State())

    init(path: String, access: SocketAccess) {
        self.path = path
        self.access = access
    }

    /// The reason why the socket could not get its permissions; `nil` if it could.
    var failure: ListenerFailure? { state.withLock { $0.failure } }

    /// Prepares the creation of the socket, and removes one that a killed listener left there.
    /// Throws ``ListenerFailure`` if something else is at the path.
    func begin() throws(ListenerFailure) {
        try checkPath()
        state.withLock { $0.mask = SocketAccess.restrict() }
    }

    /// Refuses to replace the socket of a running listener, which could not be reached any more.
    private func checkPath() throws(ListenerFailure) {
        // The only fault that it finds.
        guard let address = try? SocketAddress(unixDomainSocketPath: path) else {
            throw ListenerFailure(code: ENAMETOOLONG)
        }
        var status = stat()
        guard stat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else { throw ListenerFailure(code: ENOTSOCK) }
        let caller = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue), 0)
        guard caller >= 0 else { throw ListenerFailure(code: errno) }
        defer { close(caller) }
        let code = address.withSockAddr { address, count in
            connect(caller, address, socklen_t(count)) == 0 ? 0 : errno
        }
        switch code {
        // There is no listener, or the file was removed meanwhile.
        case ECONNREFUSED, ENOENT: break
        // EAGAIN: too many wait already to be accepted (unix(7)).
        case 0, EAGAIN, EPROTOTYPE: throw ListenerFailure(code: EADDRINUSE)
        default: throw ListenerFailure(code: code)
        }
    }

    /// Sets the permissions after the creation. Returns whether it could.
    func isThere() -> Bool {
        end()
        do throws(ListenerFailure) {
            try access.apply(to: path)
            return true
        } catch {
            state.withLock { $0.failure = error }
            return false
        }
    }

    /// Restores the former mask.
    func end() {
        let mask = state.withLock { state in
            defer { state.mask = nil }
            return state.mask
        }
        if let mask { SocketAccess.restore(mask) }
    }
}
