// SPDX-License-Identifier: Apache-2.0

import CLibsqlite3
import StoreRows

@testable import StoreSQLite

/// What another program does with a store's file.
extension Connection {
    /// Opens a file, or makes it.
    convenience init(_ path: String) throws {
        try self.init(path: path, flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
    }

    /// Runs statements on a file.
    static func run(_ script: String, on path: String) throws {
        let connection = try Connection(path)
        try connection.run(script: script)
        try connection.close()
    }

    /// The rows of a statement with these values in the places of its parameters.
    @discardableResult
    func rows(_ sql: String, _ values: [CopiedValue] = []) throws -> [[CopiedValue]] {
        var prepared: OpaquePointer?
        guard sqlite3_prepare_v2(handle, sql, -1, &prepared, nil) == SQLITE_OK, let prepared else {
            throw failure()
        }
        defer { sqlite3_finalize(prepared) }
        let statement = Statement(prepared, of: self)
        for (place, value) in zip((1 as CInt)..., values) {
            switch value {
            case .null: statement.bindNull(place)
            case .integer(let number): statement.bind(place, number)
            case .text(let text): statement.bind(place, text)
            case .bytes(let bytes): statement.bind(place, bytes)
            }
        }
        var rows: [[CopiedValue]] = []
        while try statement.step() {
            rows.append(
                (0..<sqlite3_column_count(prepared)).map { column in
                    switch sqlite3_column_type(prepared, column) {
                    case SQLITE_INTEGER: .integer(statement.int64(column))
                    case SQLITE_TEXT: .text(statement.text(column) ?? "")
                    case SQLITE_BLOB: .bytes(statement.bytes(column))
                    default: .null
                    }
                })
        }
        return rows
    }
}
