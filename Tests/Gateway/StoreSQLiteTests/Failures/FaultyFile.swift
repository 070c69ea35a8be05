// SPDX-License-Identifier: Apache-2.0

import CLibsqlite3
import Synchronization
import Testing

@testable import StoreSQLite

/// A connection's database file that fails when a test says so.
enum FaultyFile {
    /// What fails.
    enum Fault: Int {
        case none
        /// `xSync` fails with an I/O error.
        case flush
        /// `xWrite` finds no space.
        case space
    }

    /// The fault of every file that ``attach(to:)`` was called for.
    final class Switch: Sendable {
        private let value = Atomic(Fault.none.rawValue)
        fileprivate let flushes = Atomic(0)

        /// What fails from now on.
        var fault: Fault {
            get { Fault(rawValue: value.load(ordering: .sequentiallyConsistent)) ?? .none }
            set { value.store(newValue.rawValue, ordering: .sequentiallyConsistent) }
        }

        /// How often a flush was asked for.
        var flushCount: Int { flushes.load(ordering: .sequentiallyConsistent) }
    }

    /// SQLite's methods and the switch behind them. SQLite gives back the methods' address, which
    /// is that of all of this.
    private struct Methods {
        var table: sqlite3_io_methods
        let under: UnsafePointer<sqlite3_io_methods>
        let faults: Unmanaged<Switch>
    }

    private static func methods(
        _ file: UnsafeMutablePointer<sqlite3_file>?
    ) -> Methods? {
        // SAFETY: called by SQLite with the file whose methods `attach` has replaced.
        file.map { UnsafeRawPointer($0.pointee.pMethods).load(as: Methods.self) }
    }

    /// Puts a switch in front of the database file of each connection. They leak with the process.
    static func attach(to databases: [ConnectionQueue]) throws -> Switch {
        let faults = Switch()
        for database in databases {
            try database.sync { connection in
                var file: UnsafeMutablePointer<sqlite3_file>?
                let code = sqlite3_file_control(
                    connection.handle, "main", SQLITE_FCNTL_FILE_POINTER, &file)
                try #require(code == SQLITE_OK)
                let open = try #require(file)
                let under: UnsafePointer<sqlite3_io_methods> = try #require(open.pointee.pMethods)
                var table = under.pointee
                table.xSync = { file, flags in
                    guard let methods = FaultyFile.methods(file) else { return SQLITE_MISUSE }
                    let faults = methods.faults.takeUnretainedValue()
                    faults.flushes.add(1, ordering: .sequentiallyConsistent)
                    if faults.fault == .flush { return SQLITE_IOERR | (4 << 8) }
                    return methods.under.pointee.xSync(file, flags)
                }
                table.xWrite = { file, bytes, count, offset in
                    guard let methods = FaultyFile.methods(file) else { return SQLITE_MISUSE }
                    if methods.faults.takeUnretainedValue().fault == .space { return SQLITE_FULL }
                    return methods.under.pointee.xWrite(file, bytes, count, offset)
                }
                let methods = UnsafeMutablePointer<Methods>.allocate(capacity: 1)
                methods.initialize(
                    to: Methods(
                        table: table, under: under, faults: Unmanaged.passRetained(faults)))
                // SAFETY: the table is the first member, and lives for ever.
                open.pointee.pMethods = UnsafeRawPointer(methods).assumingMemoryBound(
                    to: sqlite3_io_methods.self)
            }
        }
        return faults
    }
}
