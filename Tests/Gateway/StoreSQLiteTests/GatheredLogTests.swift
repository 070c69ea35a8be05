// SPDX-License-Identifier: Apache-2.0

import CGatheredLog
import Foundation
import GRDB
import GRDBSQLite
import GatewayTestKit
import SeedKit
import StoreTestKit
import Testing

@Suite("The log in large pieces")
struct GatheredLogTests {
    /// A writer whose log is gathered, and a reader beside it.
    private struct Bench {
        let path: String
        let writer: DatabaseQueue
        let reader: DatabaseQueue

        /// A cache of so few pages has transactions write to the log before they end.
        init(in folder: String, cachedPages: Int) throws {
            path = folder + "/file.sqlite"
            var configuration = Configuration()
            configuration.journalMode = .wal
            configuration.prepareDatabase { database in
                try database.execute(
                    sql: """
                        PRAGMA page_size = 512;
                        PRAGMA cache_size = \(cachedPages);
                        PRAGMA wal_autocheckpoint = 0;
                        """)
            }
            writer = try DatabaseQueue(path: path, configuration: configuration)
            try writer.write { database in
                try database.execute(
                    sql: "CREATE TABLE item (number INTEGER PRIMARY KEY, bytes BLOB NOT NULL)")
            }
            reader = try DatabaseQueue(path: path, configuration: configuration)
            try writer.writeWithoutTransaction { database in
                let connection = try #require(database.sqliteConnection)
                #expect(CGatheredLog_begin(connection) == 1)
            }
        }

        /// As the store does after each transaction that was undone.
        func forget() throws {
            try writer.writeWithoutTransaction { database in
                CGatheredLog_forget(try #require(database.sqliteConnection))
            }
        }

        var writeCount: UInt64 {
            get throws {
                try writer.writeWithoutTransaction { database in
                    CGatheredLog_writeCount(try #require(database.sqliteConnection))
                }
            }
        }

        /// What a new process would find if this one died now.
        func afterDeath(in folder: String) throws -> [Int64: Data] {
            let copy = folder + "/copy.sqlite"
            for suffix in ["", "-wal", "-shm"] {
                try? FileManager.default.removeItem(atPath: copy + suffix)
            }
            for suffix in ["", "-wal"] {
                try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
            }
            let queue = try DatabaseQueue(path: copy)
            defer { try? queue.close() }
            return try queue.read { database in
                let verdict = try String.fetchOne(database, sql: "PRAGMA integrity_check")
                #expect(verdict == "ok")
                return try Self.items(database)
            }
        }

        static func items(_ database: Database) throws -> [Int64: Data] {
            var items: [Int64: Data] = [:]
            for row in try Row.fetchAll(database, sql: "SELECT number, bytes FROM item") {
                items[row[0]] = row[1]
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
            var kept: [Int64: Data] = [:]
            for _ in 0..<40 {
                kept = try Self.transact(bench, kept, &random)
                #expect(try await bench.reader.read { try Bench.items($0) } == kept)
                #expect(try bench.afterDeath(in: folder) == kept)
                if random.chance(oneIn: 6) {
                    let mode: Database.CheckpointMode = random.pick([.passive, .restart, .truncate])
                    try await bench.writer.writeWithoutTransaction { database in
                        _ = try database.checkpoint(mode)
                    }
                }
            }
            try bench.reader.close()
            try bench.writer.close()
        }
    }

    private struct GivenUp: Error {}

    /// Changes items; what is there then. Some transactions are given up.
    private static func transact(
        _ bench: Bench, _ kept: [Int64: Data], _ random: inout SeededGenerator
    ) throws -> [Int64: Data] {
        var chance = random
        defer { random = chance }
        var items = kept
        do {
            try bench.writer.write { database in
                for _ in 0..<chance.pick([1, 8, 400]) { try change(&items, database, &chance) }
                if chance.chance(oneIn: 5) { throw GivenUp() }
            }
            return items
        } catch is GivenUp {
            try bench.forget()
            return kept
        }
    }

    private static func change(
        _ items: inout [Int64: Data], _ database: Database, _ random: inout SeededGenerator
    ) throws {
        let number = Int64(random.below(200))
        if random.chance(oneIn: 5) {
            items[number] = nil
            try database.execute(sql: "DELETE FROM item WHERE number = ?", arguments: [number])
        } else {
            let byte = UInt8(truncatingIfNeeded: random.next())
            let bytes = Data(repeating: byte, count: random.pick([1, 100, 400, 3000]))
            items[number] = bytes
            try database.execute(
                sql: "INSERT OR REPLACE INTO item VALUES (?, ?)", arguments: [number, bytes])
        }
    }

    @Test("What an undone transaction left does not come over what another connection wrote since")
    func undone() async throws {
        try await withTemporaryFolder { folder in
            let bench = try Bench(in: folder, cachedPages: 5)
            // Then nothing has to be read from the log to undo a transaction.
            try await bench.writer.writeWithoutTransaction { database in
                _ = try database.checkpoint(.truncate)
            }
            try? await bench.writer.write { database in
                for number in 0..<60 {
                    try database.execute(
                        sql: "INSERT INTO item VALUES (?, zeroblob(400))", arguments: [number])
                }
                throw GivenUp()
            }
            try bench.forget()
            let text = Data("another's".utf8)
            try await bench.reader.write { database in
                for number in 100..<200 {
                    try database.execute(
                        sql: "INSERT INTO item VALUES (?, ?)", arguments: [number, text])
                }
            }
            try await bench.writer.write { database in
                try database.execute(sql: "INSERT INTO item VALUES (500, ?)", arguments: [text])
            }
            let expected = Dictionary(
                uniqueKeysWithValues: (Array(100..<200) + [500]).map { (Int64($0), text) })
            #expect(try await bench.reader.read { try Bench.items($0) } == expected)
            #expect(try bench.afterDeath(in: folder) == expected)
            try bench.reader.close()
            try bench.writer.close()
        }
    }

    @Test("A transaction of a thousand pages takes a few calls, and not two for each")
    func fewCalls() async throws {
        try await withTemporaryFolder { folder in
            let bench = try Bench(in: folder, cachedPages: 4000)
            let before = try bench.writeCount
            try await bench.writer.write { database in
                for number in 0..<1000 {
                    try database.execute(
                        sql: "INSERT INTO item VALUES (?, zeroblob(400))", arguments: [number])
                }
            }
            let calls = try bench.writeCount - before
            let log = try FileManager.default.attributesOfItem(atPath: bench.path + "-wal")
            let size = try #require(log[.size] as? Int)
            #expect(size > 1000 * 512)
            // One for each 120 KiB, what does not fill one, and the beginning of the log.
            #expect(calls <= UInt64(size / 122_880 + 4), "\(calls) calls for \(size) bytes")
            try bench.reader.close()
            try bench.writer.close()
        }
    }

    @Test("A connection without a log stays as it is")
    func noLog() async throws {
        try await withTemporaryFolder { folder in
            let queue = try DatabaseQueue(path: folder + "/file.sqlite")
            try await queue.writeWithoutTransaction { database in
                let connection = try #require(database.sqliteConnection)
                #expect(CGatheredLog_begin(connection) == 0)
                #expect(CGatheredLog_writeCount(connection) == 0)
            }
            try queue.close()
        }
    }

    @Test("Of the methods of a newer SQLite it has those that it knows, under their number")
    func newerMethods() async throws {
        try await withTemporaryFolder { folder in
            let bench = try Bench(in: folder, cachedPages: 10)
            try bench.reader.writeWithoutTransaction { database in
                let connection = try #require(database.sqliteConnection)
                try database.execute(sql: "INSERT INTO item VALUES (1, zeroblob(10))")
                var file: UnsafeMutablePointer<sqlite3_file>?
                sqlite3_file_control(connection, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file)
                let log = try #require(file)
                // SAFETY: the file is the connection's own and open; the table is never freed.
                let under: UnsafePointer<sqlite3_io_methods> = try #require(log.pointee.pMethods)
                let newer = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
                newer.initialize(to: under.pointee)
                newer.pointee.iVersion = 99
                log.pointee.pMethods = UnsafePointer(newer)
                #expect(CGatheredLog_begin(connection) == 1)
                #expect(log.pointee.pMethods.pointee.iVersion == 3)
                try database.execute(sql: "INSERT INTO item VALUES (2, zeroblob(10))")
                #expect(CGatheredLog_writeCount(connection) > 0)
            }
            try bench.reader.close()
            try bench.writer.close()
        }
    }
}
