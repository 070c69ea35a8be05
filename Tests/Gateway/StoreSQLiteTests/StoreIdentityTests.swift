// SPDX-License-Identifier: Apache-2.0

import Foundation
import Gateway
import GatewayTestKit
import StoreTestKit
import Testing

@testable import StoreSQLite

@Suite("A file that is no store")
struct StoreIdentityTests {
    private func bytes(_ path: String) throws -> Data { try Data(contentsOf: URL(filePath: path)) }

    private func mode(_ path: String) throws -> Int? {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return (attributes[.posixPermissions] as? NSNumber)?.intValue
    }

    @Test("What is no file at all is refused in words, and not opened", arguments: [true, false])
    func noFile(isFolder: Bool) async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store"
            // Opening a pipe without a writer would wait for one.
            #expect((isFolder ? mkdir(path, 0o700) : mkfifo(path, 0o600)) == 0)
            let failure = #expect(throws: StoreFailure.self) { try SQLiteWakeStore(path: path) }
            #expect(failure?.message.contains("is no file") == true, "\(failure?.message ?? "")")
            let audit = #expect(throws: StoreFailure.self) {
                try SQLiteWakeStore.audit(path: path)
            }
            #expect(audit?.message.contains("is no file") == true, "\(audit?.message ?? "")")
        }
    }

    @Test(
        "Another program's database is refused in words, and not changed",
        arguments: [
            (
                "CREATE TABLE photo (number INTEGER PRIMARY KEY)",
                "0x0, and it has the tables photo."
            ),
            (
                "CREATE TABLE grdb_migrations (identifier TEXT); "
                    + "INSERT INTO grdb_migrations VALUES ('v1')",
                "0x0, and it has the tables grdb_migrations."
            ),
            ("PRAGMA application_id = 42", "0x2a, and it has no tables."),
            (
                "PRAGMA journal_mode = WAL; CREATE TABLE a (b); CREATE TABLE c (b); "
                    + "CREATE TABLE d (b); CREATE TABLE e (b); CREATE TABLE f (b); "
                    + "CREATE TABLE g (b); CREATE TABLE h (b)",
                "the tables a, c, d, e, f and 2 more."
            ),
        ])
    func stray(sql: String, words: String) async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/other.sqlite"
            try Connection.run(sql, on: path)
            let rights = [FileAttributeKey.posixPermissions: 0o644]
            try FileManager.default.setAttributes(rights, ofItemAtPath: path)
            let before = try bytes(path)
            let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            let failure = #expect(throws: StoreFailure.self) { try SQLiteWakeStore(path: path) }
            #expect(failure?.kind == .corrupt)
            #expect(failure?.message.contains(words) == true, "\(failure?.message ?? "")")
            #expect(failure?.message.contains("other.sqlite") == true)
            #expect(try SQLiteWakeStore.refusal(path: path) == failure?.message)
            let audit = #expect(throws: StoreFailure.self) {
                try SQLiteWakeStore.audit(path: path)
            }
            #expect(audit == failure)
            #expect(try bytes(path) == before)
            #expect(try mode(path) == 0o644)
            let after = try FileManager.default.contentsOfDirectory(atPath: folder)
            #expect(Set(after) == Set(names + ["other.sqlite.lock"]))
        }
    }

    @Test("A file that is no database is refused in words, and not changed")
    func text() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/notes.txt"
            try Data("Buy milk.\n".utf8).write(to: URL(filePath: path))
            let failure = #expect(throws: StoreFailure.self) { try SQLiteWakeStore(path: path) }
            #expect(failure?.kind == .corrupt)
            #expect(failure?.message.contains("no database of SQLite") == true)
            #expect(try bytes(path) == Data("Buy milk.\n".utf8))
        }
    }

    @Test("No store is made over the log of one that was moved away", arguments: [false, true])
    func orphanedLog(isEmptyFileLeft: Bool) async throws {
        try await withTemporaryFolder { folder in
            let (path, moved) = (folder + "/store.sqlite", folder + "/moved.sqlite")
            let store = try SQLiteWakeStore(path: folder + "/live.sqlite")
            _ = try await store.perform(
                AdmitWakes([Samples.wake()], grant: nil, under: Samples.rules))
            // As after a kill: what was accepted is in the log.
            for end in ["", "-wal"] {
                try FileManager.default.copyItem(
                    atPath: folder + "/live.sqlite" + end, toPath: path + end)
            }
            try store.close()
            try FileManager.default.moveItem(atPath: path, toPath: moved)
            if isEmptyFileLeft { try Data().write(to: URL(filePath: path)) }
            let log = try bytes(path + "-wal")
            let failure = #expect(throws: StoreFailure.self) { try SQLiteWakeStore(path: path) }
            #expect(failure?.kind == .corrupt)
            #expect(failure?.message.contains("store.sqlite-wal is there") == true)
            #expect(SQLiteWakeStore.refusalToMake(path: path) == failure?.message)
            #expect(try bytes(path + "-wal") == log)
            #expect(FileManager.default.fileExists(atPath: path) == isEmptyFileLeft)
            // SQLite would delete the log of an empty file.
            if !isEmptyFileLeft { try Data().write(to: URL(filePath: path)) }
            let audit = #expect(throws: StoreFailure.self) {
                try SQLiteWakeStore.audit(path: path)
            }
            #expect(audit?.message == failure?.message)
            #expect(throws: StoreFailure.self) { try SQLiteWakeStore.refusal(path: path) }
            #expect(try bytes(path + "-wal") == log)
            // Once the database is back, nothing is lost.
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.moveItem(atPath: moved, toPath: path)
            let again = try SQLiteWakeStore(path: path)
            #expect(try await again.perform(CountWakes()).accepted == 1)
            try again.close()
        }
    }

    @Test("A store of an earlier version is taken over, and has the application id then")
    func earlier() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            try EarlierStore.make(path, lastStep: "1 wakes")
            #expect(try SQLiteWakeStore.refusal(path: path) == nil)
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o644], ofItemAtPath: path)
            try SQLiteWakeStore(path: path).close()
            #expect(try mode(path) == 0o600)
            let id = try Connection(path).number("PRAGMA application_id")
            #expect(id == StoreIdentity.applicationID)
        }
    }

    @Test("What the making of a store left when it was cut short becomes one")
    func cutShort() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            for sql in [
                "PRAGMA journal_mode = WAL", "CREATE TABLE grdb_migrations (identifier TEXT)",
            ] {
                try? FileManager.default.removeItem(atPath: path)
                try Connection.run(sql, on: path)
                #expect(try SQLiteWakeStore.refusal(path: path) == nil)
            }
            try FileManager.default.removeItem(atPath: path)
            try Connection.run("PRAGMA journal_mode = WAL", on: path)
            try SQLiteWakeStore(path: path).close()
            #expect(try SQLiteWakeStore.audit(path: path).isSound)
        }
    }
}
