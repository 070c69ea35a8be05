// SPDX-License-Identifier: Apache-2.0

import CGatheredLog
import CLibsqlite3
import Gateway

/// An open database, with its statements, each prepared once. It must not be used by two threads at
/// a time; see ``ConnectionQueue``.
final class Connection {
    /// Not valid once it is closed.
    let handle: OpaquePointer
    private var statements: [UnsafePointer<UInt8>: OpaquePointer] = [:]
    private var deadline: ContinuousClock.Instant?
    private var isWatched = false
    private(set) var isOpen = true

    private static let firstRead = "SELECT 1 FROM sqlite_master LIMIT 1"
    /// The time that a statement waits for another program that has the file open.
    private static let busyMilliseconds: CInt = 5_000

    /// Opens a file with SQLite's `flags`. `prepare` is called before anything is read of it; then
    /// it is checked that the file is a database.
    init(
        path: String, flags: CInt, prepare: (Connection) throws(StoreFailure) -> Void = { _ in }
    ) throws(StoreFailure) {
        var opened: OpaquePointer?
        // Without SQLite's own locks: see the type.
        let code = sqlite3_open_v2(path, &opened, flags | SQLITE_OPEN_NOMUTEX, nil)
        guard code == SQLITE_OK, let opened else {
            // SAFETY: SQLite returns a terminated string, also of a handle that it could not
            // allocate; it is copied before the next call.
            let message = String(cString: sqlite3_errmsg(opened))
            sqlite3_close(opened)
            throw StoreFailure(code: code, message: message)
        }
        handle = opened
        sqlite3_extended_result_codes(handle, 1)
        sqlite3_busy_timeout(handle, Self.busyMilliseconds)
        try prepare(self)
        try run(script: Self.firstRead)
    }

    deinit {
        guard isOpen else { return }
        finalize()
        sqlite3_close_v2(handle)
    }

    /// Closes the database. What is used afterwards fails.
    func close() throws(StoreFailure) {
        guard isOpen else { return }
        finalize()
        guard sqlite3_close(handle) == SQLITE_OK else { throw failure() }
        isOpen = false
    }

    /// Finalizes all statements, which is required before the database is closed.
    private func finalize() {
        if isWatched { sqlite3_progress_handler(handle, 0, nil, nil) }
        isWatched = false
        for statement in statements.values { sqlite3_finalize(statement) }
        statements = [:]
    }

    /// Throws a ``Gateway/StoreFailure`` once it is closed.
    func checkIsOpen() throws(StoreFailure) {
        guard !isOpen else { return }
        throw StoreFailure(kind: .unavailable, message: "The store is closed.")
    }

    /// The statement of this text, a literal of the program, which is its own key.
    func prepare(_ sql: StaticString) throws(StoreFailure) -> Statement {
        try checkIsOpen()
        if let known = statements[sql.utf8Start] { return Statement(known, of: self) }
        var prepared: OpaquePointer?
        // SAFETY: a static string is valid for the whole run; its length is given in bytes, and
        // SQLite only reads it.
        let code = sql.withUTF8Buffer { text in
            text.withMemoryRebound(to: CChar.self) { text in
                sqlite3_prepare_v3(
                    handle, text.baseAddress, CInt(text.count), UInt32(SQLITE_PREPARE_PERSISTENT),
                    &prepared, nil)
            }
        }
        guard code == SQLITE_OK, let prepared else { throw failure() }
        statements[sql.utf8Start] = prepared
        return Statement(prepared, of: self)
    }

    /// Runs a statement without rows and values.
    func execute(_ sql: StaticString) throws(StoreFailure) {
        let statement = try prepare(sql)
        defer { statement.reset() }
        while try statement.step() {}
    }

    /// Runs statements without values, whose rows are not needed.
    func run(script: String) throws(StoreFailure) {
        try checkIsOpen()
        guard sqlite3_exec(handle, script, nil, nil, nil) == SQLITE_OK else { throw failure() }
    }

    /// Runs `body` in a transaction, which `begin` opens.
    func transaction<Answer>(
        _ begin: StaticString, _ body: () throws(StoreFailure) -> Answer
    ) throws(StoreFailure) -> Answer {
        try execute(begin)
        do throws(StoreFailure) {
            let answer = try body()
            try execute("COMMIT")
            return answer
        } catch {
            // SQLite rolls some failures back by itself; a second failure here changes nothing.
            if isInTransaction { try? execute("ROLLBACK") }
            throw error
        }
    }

    /// The number that a statement returns; 0 when it returns none.
    func number(_ sql: StaticString) throws(StoreFailure) -> Int64 {
        let statement = try prepare(sql)
        defer { statement.reset() }
        return try statement.step() ? statement.int64(0) : 0
    }

    /// The texts of the first column of all rows of a statement that is not kept.
    func texts(_ sql: String) throws(StoreFailure) -> [String] {
        try checkIsOpen()
        var prepared: OpaquePointer?
        guard sqlite3_prepare_v2(handle, sql, -1, &prepared, nil) == SQLITE_OK, let prepared else {
            throw failure()
        }
        defer { sqlite3_finalize(prepared) }
        let statement = Statement(prepared, of: self)
        var texts: [String] = []
        while try statement.step() { texts.append(statement.text(0) ?? "") }
        return texts
    }

    /// The names of a table's columns; none when there is no such table.
    func columns(of table: String) throws(StoreFailure) -> [String] {
        let look = try prepare("SELECT name FROM pragma_table_info(?)")
        defer { look.reset() }
        look.bind(1, table)
        var names: [String] = []
        while try look.step() { names.append(look.text(0) ?? "") }
        return names
    }

    /// Whether an earlier version wrote the file and it was not migrated, as an audit, which only
    /// reads, may find it.
    var isOfEarlierVersion = false

    /// The number of rows that the last statement changed.
    var changeCount: Int { Int(sqlite3_changes(handle)) }

    /// Whether a transaction is open.
    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// The last failure.
    func failure() -> StoreFailure {
        let code = sqlite3_extended_errcode(handle)
        // SAFETY: SQLite returns a terminated string, which is copied before its next call.
        let message = String(cString: sqlite3_errmsg(handle))
        if code == Self.flushFailureCode {
            flushFailure = .lost("brought to the disk", "\(message) (code \(code))")
        }
        return StoreFailure(code: code, message: message)
    }

    /// SQLITE_IOERR_FSYNC, a macro that Swift cannot read.
    private static let flushFailureCode: CInt = SQLITE_IOERR | (4 << 8)

    /// The reason why SQLite itself could not flush a file, which it does when it restarts the log;
    /// `nil` if it has not failed.
    private(set) var flushFailure: StoreFailure?

    /// Makes statements fail that still run after this time from now on; without a duration, none.
    /// The failure is of the kind `overloaded`.
    func interrupt(after duration: Duration?) {
        guard let duration else {
            deadline = nil
            return
        }
        deadline = .now + duration
        guard !isWatched else { return }
        isWatched = true
        // SAFETY: the pointer is passed only to the handler, which runs within statements of this
        // connection. They are run by this object, and `deinit` removes the handler.
        sqlite3_progress_handler(
            handle, Self.stepsBetweenLooks,
            { context in
                guard let context else { return 0 }
                let connection = Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue()
                return connection.isLate ? 1 : 0
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    private var isLate: Bool { deadline.map { $0 < .now } ?? false }

    /// The number of SQLite's virtual machine instructions between two checks of the clock: some
    /// 0.1 ms.
    private static let stepsBetweenLooks: CInt = 10_000

    /// Whether the file is no database at all.
    var isNoDatabase: Bool {
        // A locked file is waited for once, by the next read.
        sqlite3_busy_timeout(handle, 0)
        defer { sqlite3_busy_timeout(handle, Self.busyMilliseconds) }
        return sqlite3_exec(handle, Self.firstRead, nil, nil, nil) & 0xff == SQLITE_NOTADB
    }

    /// Makes the log stay when the last connection, this one, is closed.
    func keepLogOnClose() throws(StoreFailure) {
        guard CGatheredLog_keepOnClose(handle, 1) == SQLITE_OK else { throw failure() }
    }

    /// Drops the cached pages, so that the next transaction reads them again. To be called outside
    /// of a transaction.
    ///
    /// A page that was read wrongly stays in SQLite's cache, and the only writing connection has no
    /// other reason to read the file again.
    func forgetPages() { sqlite3_db_release_memory(handle) }
}

/// One prepared statement. Places of values are counted from 1, those of columns from 0, as in C.
struct Statement {
    private let handle: OpaquePointer
    private let connection: Connection

    init(_ handle: OpaquePointer, of connection: Connection) {
        self.handle = handle
        self.connection = connection
    }

    /// To be called after the last step, so that values and locks are released.
    func reset() { sqlite3_reset(handle) }

    /// Goes to the next row; `false` when there is none.
    func step() throws(StoreFailure) -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default:
            let failure = connection.failure()
            sqlite3_reset(handle)
            throw failure
        }
    }

    /// Runs a statement without rows, and resets it.
    func run() throws(StoreFailure) {
        _ = try step()
        sqlite3_reset(handle)
    }

    /// Runs a statement without rows with one value that is not copied.
    func run(with value: [UInt8], at place: CInt) throws(StoreFailure) {
        // SAFETY: SQLITE_STATIC makes SQLite read the bytes in place. They are valid until the
        // statement was run; then the value is unbound.
        let failure = value.withUnsafeBytes { bytes -> StoreFailure? in
            sqlite3_bind_blob(
                handle, place, bytes.baseAddress ?? Self.nothing, CInt(bytes.count), nil)
            let isDone = sqlite3_step(handle) == SQLITE_DONE
            let failure = isDone ? nil : connection.failure()
            sqlite3_reset(handle)
            sqlite3_bind_null(handle, place)
            return failure
        }
        if let failure { throw failure }
    }

    // MARK: Values

    func bindNull(_ place: CInt) { sqlite3_bind_null(handle, place) }

    func bind(_ place: CInt, _ value: Int64) { sqlite3_bind_int64(handle, place, value) }

    func bind(_ place: CInt, _ value: Int) { sqlite3_bind_int64(handle, place, Int64(value)) }

    func bind(_ place: CInt, _ value: Int64?) {
        if let value { bind(place, value) } else { sqlite3_bind_null(handle, place) }
    }

    func bind(_ place: CInt, _ value: [UInt8]) {
        // SAFETY: SQLITE_TRANSIENT makes SQLite copy the bytes before the call returns. An empty
        // array may have no address, and a null pointer would mean NULL.
        value.withUnsafeBytes { bytes in
            _ = sqlite3_bind_blob(
                handle, place, bytes.baseAddress ?? Self.nothing, CInt(bytes.count),
                Self.transient)
        }
    }

    func bind(_ place: CInt, _ value: String?) {
        guard var value else {
            sqlite3_bind_null(handle, place)
            return
        }
        // SAFETY: SQLITE_TRANSIENT has SQLite copy the bytes before the call returns.
        value.withUTF8 { text in
            _ = text.withMemoryRebound(to: CChar.self) { text in
                sqlite3_bind_text(
                    handle, place, text.baseAddress, CInt(text.count), Self.transient)
            }
        }
    }

    // SAFETY: SQLite's own definition of SQLITE_TRANSIENT, a macro that Swift cannot read: the
    // function pointer -1, which is compared and never called. `sqlite3_destructor_type` is a
    // function pointer of that size.
    private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    // SAFETY: `nonisolated(unsafe)`, because a raw pointer is not Sendable; this one is a constant,
    // and never read, because it is only given with a length of 0.
    private static nonisolated(unsafe) let nothing = UnsafeRawPointer(bitPattern: 1)

    // MARK: Columns

    func int64(_ column: CInt) -> Int64 { sqlite3_column_int64(handle, column) }

    func optional(_ column: CInt) -> Int64? {
        sqlite3_column_type(handle, column) == SQLITE_NULL ? nil : int64(column)
    }

    func isNull(_ column: CInt) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

    func text(_ column: CInt) -> String? {
        // SAFETY: SQLite returns a terminated string that is valid until the next step; it is
        // copied.
        sqlite3_column_text(handle, column).map { String(cString: $0) }
    }

    func bytes(_ column: CInt) -> [UInt8] {
        guard let start = sqlite3_column_blob(handle, column) else { return [] }
        let count = Int(sqlite3_column_bytes(handle, column))
        // SAFETY: SQLite guarantees this number of bytes until the next step; they are copied.
        return Array(UnsafeRawBufferPointer(start: start, count: count))
    }
}
