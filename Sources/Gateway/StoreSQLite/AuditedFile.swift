// SPDX-License-Identifier: Apache-2.0

import CLibsqlite3
import Gateway
import Glibc

/// A store's file that is read without changes.
///
/// A reader of a file in WAL mode usually creates a `-wal` file and a `-shm` file, the index of the
/// log, and cannot remove them again: only a writer can determine that they are unused. So the file
/// is read without them where no other process can be using it, as the presence of these files
/// shows.
struct AuditedFile {
    /// How the file is read.
    enum Reading: Hashable {
        /// There is no log: a copy by SQLite's backup, or a store that was closed. No process has
        /// it open, since that would have created a log. It is read as immutable.
        case alone
        /// There is a log with transactions and no index of it: a copy of both files. The index is
        /// made in memory.
        case withLog
        /// There is an index: a gateway runs, or was killed. It is read by the ordinary means,
        /// which create no new file.
        case beside
    }

    /// The file itself, all links resolved: its companion files are in the same folder under its
    /// name.
    private let path: String

    /// Throws a ``Gateway/StoreFailure``: `readOnly` when there is no such file, `unavailable` when
    /// it is no file or has several names (hard links), `corrupt` when it is empty and there is the
    /// log of a former database. SQLite deletes the log of an empty file when it is opened.
    init(path: String) throws(StoreFailure) {
        guard let real = StorePath.existing(path) else {
            let code = errno
            throw StoreFailure(
                kind: .readOnly,
                message: "The store \(path) cannot be opened: \(StoreLock.reason(code)).")
        }
        // A gateway's log may be under another name, and the file is incomplete without it.
        try StorePath.checkFile(real)
        if StorePath.byteCount(of: real) == 0,
            let failure = StoreIdentity.orphanedLog(besides: real)
        {
            throw failure
        }
        self.path = real
    }

    /// The way to read it in its present state.
    var reading: Reading {
        let (journal, log, index) = (stamp("-journal"), stamp("-wal"), stamp("-shm"))
        // A file in another mode, whose journal SQLite handles itself.
        guard journal == nil else { return .beside }
        switch (log?.length, index) {
        case (nil, _), (0, nil): return .alone
        case (_, nil): return .withLog
        case (_, _): return .beside
        }
    }

    /// Calls `body` with the file, and once more if another process opened it meanwhile.
    func read<Answer>(
        _ body: (Connection) throws(StoreFailure) -> Answer
    ) throws(StoreFailure) -> Answer {
        // The stamps first, so that a change between the two is detected as well.
        let before = stamps
        let reading = reading
        guard reading != .beside else { return try read(reading, body) }
        let answer = Result { () throws(StoreFailure) in try read(reading, body) }
        return before == stamps ? try answer.get() : try read(.beside, body)
    }

    private func read<Answer>(
        _ reading: Reading, _ body: (Connection) throws(StoreFailure) -> Answer
    ) throws(StoreFailure) -> Answer {
        let connection = try Connection(
            path: name(for: reading), flags: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
        ) { connection throws(StoreFailure) in
            if reading == .withLog { try Self.keepIndexInMemory(connection) }
            guard !connection.isNoDatabase else { throw StoreIdentity.noDatabase(at: path) }
        }
        let answer = try connection.transaction("BEGIN") { () throws(StoreFailure) in
            try body(connection)
        }
        try connection.close()
        return answer
    }

    /// The name by which SQLite opens the file (sqlite.org/uri.html).
    private func name(for reading: Reading) -> String {
        let parameters: String
        switch reading {
        case .alone: parameters = "immutable=1"
        // No locks, because SQLite would need locks here that a file opened for reading only cannot
        // have. No other process has a log without an index, and `read(_:)` checks whether that
        // changed.
        case .withLog: parameters = "vfs=unix-none"
        case .beside: return path
        }
        let escaped = path.utf8.reduce(into: "") { text, byte in
            let isPlain = byte > 0x20 && byte < 0x7f && !"%?#".utf8.contains(byte)
            text +=
                isPlain
                ? String(UnicodeScalar(byte))
                : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        return "file:\(escaped)?\(parameters)"
    }

    /// An index in memory (sqlite.org/wal.html, "Use of WAL Without Shared-Memory"), and a log that
    /// stays when the connection is closed. The last connection to close would copy the log into
    /// the file first, which fails because the descriptor is open for reading only.
    private static func keepIndexInMemory(_ connection: Connection) throws(StoreFailure) {
        try connection.run(script: "PRAGMA locking_mode = EXCLUSIVE")
        try connection.keepLogOnClose()
    }

    // MARK: What others do

    /// The attributes of a file that change when it is replaced or written to.
    private struct Stamp: Equatable {
        let device: UInt64
        let number: UInt64
        let length: Int64
        let seconds: Int
        let nanoseconds: Int
    }

    private var stamps: [Stamp?] { ["", "-journal", "-wal", "-shm"].map(stamp) }

    private func stamp(_ suffix: String) -> Stamp? {
        var status = stat()
        guard stat(path + suffix, &status) == 0 else { return nil }
        let changed = status.st_mtim
        return Stamp(
            device: UInt64(truncatingIfNeeded: status.st_dev), number: UInt64(status.st_ino),
            length: Int64(status.st_size), seconds: changed.tv_sec,
            nanoseconds: changed.tv_nsec)
    }
}
