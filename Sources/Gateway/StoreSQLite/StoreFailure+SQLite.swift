// SPDX-License-Identifier: Apache-2.0

import CLibsqlite3
import Gateway

extension StoreFailure {
    /// SQLITE_IOERR_READ, _SHORT_READ, _DATA and _CORRUPTFS, macros that Swift cannot read.
    private static let readFailures: Set<CInt> = Set([1, 2, 32, 33].map { SQLITE_IOERR | $0 << 8 })

    /// The failure for a result code of SQLite. Its message contains no values and no statements.
    init(code: CInt, message: String) {
        let kind: Kind =
            switch code & 0xff {
            case SQLITE_FULL: .full
            case SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_PERM: .readOnly
            case SQLITE_CORRUPT, SQLITE_NOTADB: .corrupt
            // A part of the file may be unreadable and the rest intact; see `Halving`.
            case SQLITE_IOERR where Self.readFailures.contains(code): .corrupt
            case SQLITE_BUSY, SQLITE_LOCKED: .inUse
            case SQLITE_INTERRUPT: .overloaded
            default: .unavailable
            }
        let remedy =
            switch code & 0xff {
            case SQLITE_CORRUPT, SQLITE_NOTADB:
                " The store is damaged: restore a backup, or move its files away and begin empty."
            case SQLITE_IOERR where Self.readFailures.contains(code):
                " The system cannot read a part of the store's file: look into its log for "
                    + "faults of the disk. If they stay, restore a backup on another disk."
            case SQLITE_IOERR:
                " The system refused to read or write a file of the store: look at the rights and "
                    + "attributes of its files, and into the system's log."
            case SQLITE_INTERRUPT: " Reading took too long; ask for less at a time."
            default: ""
            }
        self.init(kind: kind, message: "SQLite says: \(message) (code \(code)).\(remedy)")
    }
}
