// SPDX-License-Identifier: Apache-2.0

import CGatheredLog
import CLibsqlite3
import Foundation
import GatewayTestKit
import SeedKit
import StoreRows
import StoreTestKit
import Testing

@testable import StoreSQLite

@Suite("The log in large pieces")
struct GatheredLogTests {
    /// A writer whose log is gathered, and a reader beside it.
    private struct Bench {
        let path: String
        let writer: Connection
        let reader: Connection

        /// A cache of so few pages has transactions write to the log before they end.
        init(in folder: String, cachedPages: Int) throws {
            path = folder + "/file.sqlite"
            writer = try Self.open(path, cachedPages)
            try writer.run(
                script: "CREATE TABLE item (number INTEGER PRIMARY KEY, bytes BLOB NOT NULL)")
            reader = try Self.open(path, cachedPages)
            #expect(CGatheredLog_begin(writer.handle) == 1)
        }

        private static func open(_ path: String, _ cachedPages: Int) throws -> Connection {
            let connection = try Connection(path)
            try connection.run(
                script: """
                    PRAGMA page_size = 512;
                    PRAGMA cache_size = \(cachedPages);
                    PRAGMA wal_autocheckpoint = 0;
                    PRAGMA journal_mode = WAL;
                    """)
            return connection
        }

        func close() throws {
            try reader.close()
            try writer.close()
        }

        /// As the store does after each transaction that was undone.
        func forget() { CGatheredLog_forget(writer.handle) }

        var writeCount: UInt64 { CGatheredLog_writeCount(writer.handle) }

        /// What a new process would find if this one died now.
        func afterDeath(in folder: String) throws -> [Int64: [UInt8]] {
            let copy = folder + "/copy.sqlite"
            for suffix in ["", "-wal", "-shm"] {
                try? FileManager.default.removeItem(atPath: copy + suffix)
            }
            for suffix in ["", "-wal"] {
                try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
            }
            let connection = try Connection(copy)
            #expect(try connection.texts("PRAGMA integrity_check") == ["ok"])
            return try Self.items(connection)
        }

        static func items(_ connection: Connection) throws -> [Int64: [UInt8]] {
            var items: [Int64: [UInt8]] = [:]
            for row in try connection.rows("SELECT number, bytes FROM item") {
                guard case .integer(let number) = row[0], case .bytes(let bytes) = row[1] else {
                    continue
                }
                items[number] = bytes
            }
            return items
        }
    }

    @Test(
        "Whatever a transaction does, others and the next process see it whole or not at all",
        arguments: 1...12 as ClosedRange<UInt64>)
    func transactions(seed: UInt64) async throws {
        try await withTemporaryFolder { folder in
            var random = SeededGenerator(seed: seed)
            let bench = try Bench(in: folder, cachedPages: random.pick([5, 20, 2000]))
            var kept: [Int64: [UInt8]] = [:]
            for _ in 0..<40 {
                kept = try Self.transact(bench, kept, &random)
                #expect(try Bench.items(bench.reader) == kept)
                #expect(try bench.afterDeath(in: folder) == kept)
                if random.chance(oneIn: 6) {
                    let mode = random.pick(["PASSIVE", "RESTART", "TRUNCATE"])
                    try bench.writer.run(script: "PRAGMA wal_checkpoint(\(mode))")
                }
            }
            try bench.close()
        }
    }

    /// Changes items; what is there then. Some transactions are given up.
    private static func transact(
        _ bench: Bench, _ kept: [Int64: [UInt8]], _ random: inout SeededGenerator
    ) throws -> [Int64: [UInt8]] {
        var items = kept
        try bench.writer.run(script: "BEGIN IMMEDIATE")
        for _ in 0..<random.pick([1, 8, 400]) { try change(&items, bench.writer, &random) }
        guard random.chance(oneIn: 5) else {
            try bench.writer.run(script: "COMMIT")
            return items
        }
        try bench.writer.run(script: "ROLLBACK")
        bench.forget()
        return kept
    }

    private static func change(
        _ items: inout [Int64: [UInt8]], _ writer: Connection, _ random: inout SeededGenerator
    ) throws {
        let number = Int64(random.below(200))
        if random.chance(oneIn: 5) {
            items[number] = nil
            try writer.rows("DELETE FROM item WHERE number = ?", [.integer(number)])
        } else {
            let byte = UInt8(truncatingIfNeeded: random.next())
            let bytes = [UInt8](repeating: byte, count: random.pick([1, 100, 400, 3000]))
            items[number] = bytes
            try writer.rows(
                "INSERT OR REPLACE INTO item VALUES (?, ?)", [.integer(number), .bytes(bytes)])
        }
    }

    @Test("What an undone transaction left does not come over what another connection wrote since")
    func undone() async throws {
        try await withTemporaryFolder { folder in
            let bench = try Bench(in: folder, cachedPages: 5)
            // Then nothing has to be read from the log to undo a transaction.
            try bench.writer.run(script: "PRAGMA wal_checkpoint(TRUNCATE); BEGIN IMMEDIATE")
            for number in 0..<60 {
                try bench.writer.run(script: "INSERT INTO item VALUES (\(number), zeroblob(400))")
            }
            try bench.writer.run(script: "ROLLBACK")
            bench.forget()
            let text = Array("another's".utf8)
            try bench.reader.run(script: "BEGIN IMMEDIATE")
            for number in 100..<200 as Range<Int64> {
                try bench.reader.rows(
                    "INSERT INTO item VALUES (?, ?)", [.integer(number), .bytes(text)])
            }
            try bench.reader.run(script: "COMMIT")
            try bench.writer.rows("INSERT INTO item VALUES (500, ?)", [.bytes(text)])
            let expected = Dictionary(
                uniqueKeysWithValues: (Array(100..<200) + [500]).map { (Int64($0), text) })
            #expect(try Bench.items(bench.reader) == expected)
            #expect(try bench.afterDeath(in: folder) == expected)
            try bench.close()
        }
    }

    @Test("A transaction of a thousand pages takes a few calls, and not two for each")
    func fewCalls() async throws {
        try await withTemporaryFolder { folder in
            let bench = try Bench(in: folder, cachedPages: 4000)
            let before = bench.writeCount
            try bench.writer.run(script: "BEGIN IMMEDIATE")
            for number in 0..<1000 {
                try bench.writer.run(script: "INSERT INTO item VALUES (\(number), zeroblob(400))")
            }
            try bench.writer.run(script: "COMMIT")
            let calls = bench.writeCount - before
            let log = try FileManager.default.attributesOfItem(atPath: bench.path + "-wal")
            let size = try #require(log[.size] as? Int)
            #expect(size > 1000 * 512)
            // One for each 120 KiB, what does not fill one, and the beginning of the log.
            #expect(calls <= UInt64(size / 122_880 + 4), "\(calls) calls for \(size) bytes")
            try bench.close()
        }
    }

    @Test("A connection without a log stays as it is")
    func noLog() async throws {
        try await withTemporaryFolder { folder in
            let connection = try Connection(folder + "/file.sqlite")
            #expect(CGatheredLog_begin(connection.handle) == 0)
            #expect(CGatheredLog_writeCount(connection.handle) == 0)
            try connection.close()
        }
    }

    @Test("Of the methods of a newer SQLite it has those that it knows, under their number")
    func newerMethods() async throws {
        try await withTemporaryFolder { folder in
            let bench = try Bench(in: folder, cachedPages: 10)
            let connection = bench.reader
            try connection.run(script: "INSERT INTO item VALUES (1, zeroblob(10))")
            var file: UnsafeMutablePointer<sqlite3_file>?
            sqlite3_file_control(connection.handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file)
            let log = try #require(file)
            // SAFETY: the file is the connection's own and open; the table is never freed.
            let under: UnsafePointer<sqlite3_io_methods> = try #require(log.pointee.pMethods)
            let newer = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
            newer.initialize(to: under.pointee)
            newer.pointee.iVersion = 99
            log.pointee.pMethods = UnsafePointer(newer)
            #expect(CGatheredLog_begin(connection.handle) == 1)
            #expect(log.pointee.pMethods.pointee.iVersion == 3)
            try connection.run(script: "INSERT INTO item VALUES (2, zeroblob(10))")
            #expect(CGatheredLog_writeCount(connection.handle) > 0)
            try bench.close()
        }
    }
}
