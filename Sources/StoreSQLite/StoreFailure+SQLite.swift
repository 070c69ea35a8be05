// SPDX-License-Identifier: Apache-2.0

import GRDB
import Gateway

extension StoreFailure {
    /// What an error of GRDB means. Its message names neither values nor statements.
    init(_ error: any Error) {
        guard let error = error as? DatabaseError else {
            self.init(kind: .unavailable, message: "The store failed: \(type(of: error)).")
            return
        }
        let kind: Kind =
            switch error.resultCode {
            case .SQLITE_FULL: .full
            case .SQLITE_READONLY, .SQLITE_CANTOPEN, .SQLITE_PERM: .readOnly
            case .SQLITE_CORRUPT, .SQLITE_NOTADB: .corrupt
            case .SQLITE_BUSY, .SQLITE_LOCKED: .inUse
            default: .unavailable
            }
        let words = error.message ?? "error \(error.extendedResultCode.rawValue)"
        self.init(kind: kind, message: "SQLite says: \(words).")
    }
}
