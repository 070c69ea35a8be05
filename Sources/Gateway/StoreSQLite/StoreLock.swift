// SPDX-License-Identifier: Apache-2.0

import Gateway
import Glibc
import Synchronization

/// The exclusive ownership of a store file by one process: an advisory lock on a separate lock
/// file, and where the system has locks that belong to an open file (Linux), another on the file
/// itself.
///
/// The kernel releases both when the process ends in any way. The lock file can be deleted, by a
/// clean-up for example, and then another one locked; the lock on the database still holds. Before
/// each transaction the locked files are compared with those at the paths: ``loss()``.
final class StoreLock: Sendable {
    private struct State {
        /// The lock file.
        var descriptor: CInt
        /// The database; negative before ``claimFile()``.
        var file: CInt = -1
        /// Whether the lock on the database itself is held.
        var holdsFile = false
        /// The database and its log, as they were opened.
        var files: [(path: String, identity: FileIdentity)] = []
        var isReleased = false
    }

    private let path: String
    private let state: Mutex<State>

    private var lockPath: String { path + ".lock" }

    /// Takes the lock on the lock file of `path`. Throws a failure of kind `inUse` when another
    /// process has it.
    init(besides path: String) throws(StoreFailure) {
        self.path = path
        state = Mutex(State(descriptor: try Self.lock(path + ".lock", of: path)))
    }

    deinit { release() }

    /// Releases the locks. May be called again. No connection of this object's owner may be open
    /// any more: closing a descriptor of the database drops SQLite's own locks on it.
    ///
    /// Unlocked explicitly, because closing the descriptors is not enough: a child process that is
    /// being started has copies of them until it executes its program, which would keep the locks
    /// for a moment.
    func release() {
        state.withLock { state in
            guard !state.isReleased else { return }
            state.isReleased = true
            if state.file >= 0 {
                if state.holdsFile { _ = Self.setLock(state.file, F_UNLCK) }
                closeDescriptor(state.file)
            }
            flock(state.descriptor, LOCK_UN)
            closeDescriptor(state.descriptor)
        }
    }

    /// The descriptors whose files are locked.
    var descriptors: [CInt] {
        state.withLock { [$0.descriptor, $0.file].filter { $0 >= 0 } }
    }

    // MARK: The lock file

    /// The number of attempts to open a lock file that was replaced before it was locked.
    private static let maximumTries = 10

    private static func lock(_ lockPath: String, of path: String) throws(StoreFailure) -> CInt {
        for _ in 0..<maximumTries {
            let descriptor = openDescriptor(lockPath, O_RDWR | O_CREAT)
            guard descriptor >= 0 else {
                let code = errno
                throw StoreFailure(
                    kind: .readOnly,
                    message: code == ENOENT
                        ? "The store \(path) has no folder. Make it, for the gateway's user alone."
                        : "The lock file \(lockPath) cannot be opened: \(reason(code)).")
            }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                let code = errno
                closeDescriptor(descriptor)
                throw code == EWOULDBLOCK
                    ? inUse(path)
                    : StoreFailure(
                        kind: .inUse,
                        message: "The lock file \(lockPath) cannot be locked: \(reason(code)).")
            }
            // Another process may have deleted the file between the two calls.
            if FileIdentity(descriptor) == FileIdentity(at: lockPath) { return descriptor }
            closeDescriptor(descriptor)
        }
        throw StoreFailure(
            kind: .inUse, message: "The lock file \(lockPath) is deleted as soon as it is made.")
    }

    private static func inUse(_ path: String) -> StoreFailure {
        StoreFailure(
            kind: .inUse,
            message: "The store \(path) is in use by another gateway; only one may own it. Stop "
                + "that one, or name another store.")
    }

    // MARK: The database

    /// Creates the file if there is none, before SQLite would, and locks it. Calls `check` with its
    /// descriptor, which must not be closed; a file that this does not refuse is readable by its
    /// owner only from then on.
    func claimFile(_ check: (CInt) throws(StoreFailure) -> Void) throws(StoreFailure) {
        let descriptor = openDescriptor(path, O_RDWR | O_CREAT)
        guard descriptor >= 0 else { throw cannotOpen(errno) }
        let code = Self.setLock(descriptor, F_WRLCK)
        // The descriptor stays open: if this process owns the store, closing it would drop SQLite's
        // locks.
        guard code != EAGAIN, code != EACCES else { throw Self.inUse(path) }
        state.withLock { state in
            state.file = descriptor
            // A system without such locks has only the lock file.
            state.holdsFile = code == 0
        }
        try check(descriptor)
        // Not before: another program's file is not changed.
        guard fchmod(descriptor, 0o600) == 0 else { throw cannotOpen(errno) }
    }

    private func cannotOpen(_ code: CInt) -> StoreFailure {
        StoreFailure(
            kind: code == ENOSPC ? .full : .readOnly,
            message: "The store \(path) cannot be opened: \(Self.reason(code)).")
    }

    /// The position of the lock: after everything that SQLite locks, which ends 512 bytes after the
    /// first gibibyte (sqlite.org/fileformat2.html#the_lock_byte_page).
    private static let lockedByte: off_t = 1 << 40

    /// Locks or unlocks one byte of a file. Returns 0, or an `errno`.
    private static func setLock(_ descriptor: CInt, _ type: CInt) -> CInt {
        var lock = flock()
        lock.l_type = Int16(type)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = lockedByte
        lock.l_len = 1
        // F_OFD_SETLK, which only GNU's headers name: the lock belongs to the open file, so that
        // closing another descriptor does not drop it.
        return fcntl(descriptor, 37, &lock) == 0 ? 0 : errno
    }

    /// Records the identity of the store's files, when they are open. A missing file is not checked
    /// later.
    func rememberFiles() {
        let files = [path, path + "-wal"].compactMap { path in
            FileIdentity(at: path).map { (path, $0) }
        }
        state.withLock { $0.files = files }
    }

    // MARK: While it runs

    /// The reason why this process may not be the only one that uses the store any more; `nil`
    /// while it is. It costs three system calls on paths. A deleted lock file is created again,
    /// unless another process has created and locked one.
    func loss() -> StoreFailure? {
        state.withLock { state in
            for (path, identity) in state.files where !identity.isWhole(at: path) {
                return StoreFailure(
                    kind: .inUse,
                    message: "The file \(path) was moved, deleted, replaced or cut while the "
                        + "gateway used it, so that what is written would be lost. Nothing more is "
                        + "written until the store is opened again.")
            }
            guard FileIdentity(at: lockPath) != FileIdentity(state.descriptor) else { return nil }
            // Without the lock on the database another process may have written meanwhile.
            guard state.holdsFile, let new = try? Self.lock(lockPath, of: path) else {
                return StoreFailure(
                    kind: .inUse,
                    message: "The lock file \(lockPath) was deleted or replaced while the gateway "
                        + "ran, so that another gateway may own the store now. Nothing more is "
                        + "written until the store is opened again.")
            }
            closeDescriptor(state.descriptor)
            state.descriptor = new
            return nil
        }
    }

    /// The system's message for an error number.
    static func reason(_ code: CInt) -> String {
        // strerror returns a static or thread-local C string, copied immediately.
        strerror(code).map { String(cString: $0) } ?? "error \(code)"
    }
}

/// The identity of a file, independent of its name.
private struct FileIdentity: Equatable {
    private let device: UInt64
    private let number: UInt64

    init?(at path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    init?(_ descriptor: CInt) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    /// Whether this file is at the path, and was not emptied if it is a database: one that is open
    /// has a page at least.
    func isWhole(at path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0 else { return false }
        return FileIdentity(status) == self && (status.st_size > 0 || path.hasSuffix("-wal"))
    }

    private init(_ status: stat) {
        device = UInt64(truncatingIfNeeded: status.st_dev)
        number = UInt64(status.st_ino)
    }
}

private func openDescriptor(_ path: String, _ flags: CInt) -> CInt {
    open(path, flags | O_CLOEXEC, 0o600)
}

private func closeDescriptor(_ descriptor: CInt) { close(descriptor) }
