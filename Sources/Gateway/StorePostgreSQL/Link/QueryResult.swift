// SPDX-License-Identifier: Apache-2.0

internal import CLibpq

/// The rows that a query returned, in PostgreSQL's binary form.
///
/// `@unchecked`: libpq's result is never changed once it is here, and may then be read by several
/// threads concurrently, as libpq's manual documents; the last owner frees it.
package final class QueryResult: @unchecked Sendable {
    private let result: OpaquePointer
    /// The number of rows returned.
    package let rowCount: Int
    /// The number of columns of each.
    package let columnCount: Int

    /// Takes a result over, which is freed at the end.
    init(_ result: OpaquePointer) {
        self.result = result
        rowCount = Int(PQntuples(result))
        columnCount = Int(PQnfields(result))
    }

    deinit { PQclear(result) }

    /// The number of rows that the statement inserted, changed, deleted or returned.
    package var affectedRowCount: Int { Int(String(cString: PQcmdTuples(result))) ?? 0 }

    /// Whether the value is NULL.
    package func isNull(_ row: Int, _ column: Int) -> Bool {
        PQgetisnull(result, place(row, rowCount), place(column, columnCount)) == 1
    }

    /// An integer, a boolean as 0 or 1, or a time in microseconds since the year 2000; `nil` for
    /// NULL, and for a value of any other size.
    package func int64(_ row: Int, _ column: Int) -> Int64? {
        withValue(row, column) { value in
            guard let first = value.first, value.count <= 8 else { return nil }
            // A boolean's one byte has no sign.
            let start: Int64 = value.count > 1 && first >= 0x80 ? -1 : 0
            return value.reduce(start) { $0 << 8 | Int64($1) }
        } ?? nil
    }

    /// A boolean; `nil` for NULL.
    package func bool(_ row: Int, _ column: Int) -> Bool? { int64(row, column).map { $0 != 0 } }

    /// The bytes of a value; `nil` for NULL.
    package func bytes(_ row: Int, _ column: Int) -> [UInt8]? {
        withValue(row, column) { Array($0) }
    }

    /// A text; `nil` for NULL.
    package func string(_ row: Int, _ column: Int) -> String? {
        withValue(row, column) { String(decoding: $0, as: UTF8.self) }
    }

    /// Reads a value where it is; `nil` for NULL.
    package func withValue<Value>(
        _ row: Int, _ column: Int, _ body: (UnsafeRawBufferPointer) -> Value
    ) -> Value? {
        guard !isNull(row, column) else { return nil }
        let (row, column) = (Int32(row), Int32(column))
        // SAFETY: libpq's value has this length, and lives as long as the result.
        return body(
            UnsafeRawBufferPointer(
                start: PQgetvalue(result, row, column),
                count: Int(PQgetlength(result, row, column))))
    }

    /// The place of a row or column. One that is not there is a mistake of the caller, at which
    /// libpq would only print a warning.
    private func place(_ index: Int, _ count: Int) -> Int32 {
        precondition(index >= 0 && index < count, "there is no such row or column")
        return Int32(truncatingIfNeeded: index)
    }
}
