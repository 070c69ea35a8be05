// SPDX-License-Identifier: Apache-2.0

import Gateway

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The right to be the one process that uses a store file: an advisory lock on a file beside it.
///
/// The kernel gives the lock back when the process dies, however it dies. The lock is not taken on
/// the database itself, because closing any descriptor of that would drop SQLite's own locks.
final class StoreLock: Sendable {
    let descriptor: CInt

    /// Takes the lock beside `path`, or throws a failure of kind `inUse` when another has it.
    init(besides path: String) throws(StoreFailure) {
        descriptor = open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            let code = errno
            throw StoreFailure(
                kind: .readOnly,
                message: code == ENOENT
                    ? "The store \(path) has no folder. Make it, for the gateway's user alone."
                    : "The lock file \(path).lock cannot be opened: \(Self.reason(code)).")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            // Not closed here: `deinit` does it, also for an object whose initializer throws, and a
            // second time might hit a descriptor that somebody else was given meanwhile.
            let code = errno
            throw StoreFailure(
                kind: .inUse,
                message: code == EWOULDBLOCK
                    ? "The store \(path) is in use by another gateway; only one may own it."
                    : "The lock file \(path).lock cannot be locked: \(Self.reason(code)).")
        }
    }

    /// Gives the lock back before the object is gone. Safe to call again.
    ///
    /// Said to the kernel rather than left to the descriptor's end: a child process that is just
    /// being started has a copy of the descriptor until it executes its program, and that copy
    /// would hold the lock a moment longer.
    func release() { flock(descriptor, LOCK_UN) }

    deinit {
        guard descriptor >= 0 else { return }
        release()
        close(descriptor)
    }

    /// The system's words for an error number.
    static func reason(_ code: CInt) -> String {
        // strerror returns a static or thread-local C string, copied at once.
        strerror(code).map { String(cString: $0) } ?? "error \(code)"
    }
}
