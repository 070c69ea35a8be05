// SPDX-License-Identifier: Apache-2.0

import Glibc
import NIOCore
import Synchronization

/// Who may connect to a Unix domain socket: its permissions and its group.
public struct SocketAccess: Hashable, Sendable {
    /// The permissions; connecting takes the right to write.
    public var mode: UInt32
    /// The id of the group; `nil` for that of the process.
    public var groupID: UInt32?

    /// Its owner alone, unless these say otherwise.
    public init(mode: UInt32 = 0o600, groupID: UInt32? = nil) {
        self.mode = mode
        self.groupID = groupID
    }

    /// The id of a group by its name, or by its number in decimal; `nil` for an unknown one. Not to
    /// be called by two threads at once.
    public static func groupID(named name: String) -> UInt32? {
        if let number = UInt32(name) { return number }
        return getgrnam(name)?.pointee.gr_gid
    }

    /// Gives the socket at this path its group and permissions. Throws ``ListenerFailure``.
    func apply(to path: String) throws(ListenerFailure) {
        // The group first: a change of it may take permissions away.
        if let groupID, chown(path, .max, groupID) != 0 { throw ListenerFailure(code: errno) }
        guard chmod(path, mode_t(mode)) == 0 else { throw ListenerFailure(code: errno) }
    }

    /// Keeps everybody but the owner from what is made until ``restore(_:)``, so that nobody else
    /// connects before the socket has its permissions. Returns what was so before.
    static func restrict() -> UInt32 { UInt32(umask(0o077)) }

    /// Ends ``restrict()``.
    static func restore(_ mask: UInt32) { umask(mode_t(mask)) }
}

/// A Unix domain socket of the listener, from before it is there until it has its permissions.
final class ListeningSocket: Sendable {
    private struct State {
        /// What newly made files lacked before.
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

    /// Why the socket could not get its permissions; `nil` if it could.
    var failure: ListenerFailure? { state.withLock { $0.failure } }

    /// The socket is about to be made, in place of what a listener that was killed left there.
    /// Throws ``ListenerFailure`` where something else is.
    func begin() throws(ListenerFailure) {
        try checkPath()
        state.withLock { $0.mask = SocketAccess.restrict() }
    }

    /// Refuses the socket of a listener that lives: it would go on, and nobody could reach it.
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
        // Nobody listens; or the file went meanwhile.
        case ECONNREFUSED, ENOENT: break
        // EAGAIN: too many wait already to be accepted (unix(7)).
        case 0, EAGAIN, EPROTOTYPE: throw ListenerFailure(code: EADDRINUSE)
        default: throw ListenerFailure(code: code)
        }
    }

    /// The socket is there. Whether it has its permissions now.
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

    /// Lets others have what is made from now on.
    func end() {
        let mask = state.withLock { state in
            defer { state.mask = nil }
            return state.mask
        }
        if let mask { SocketAccess.restore(mask) }
    }
}
