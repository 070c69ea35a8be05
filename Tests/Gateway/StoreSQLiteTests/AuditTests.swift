// SPDX-License-Identifier: Apache-2.0

import Foundation
import Gateway
import GatewayTestKit
import StoreTestKit
import Testing

@testable import StoreSQLite

@Suite("The audit of a file")
struct AuditTests {
    /// Five wakes for as many devices.
    private static func admitFive(_ connection: Counter) async throws {
        try await connection.admit((1...5 as ClosedRange<UInt64>).map { Samples.wake(device: $0) })
    }

    /// Makes a store with something in it, and closes it.
    private func makeStore(
        at path: String, with fill: (Counter) async throws -> Void = Self.admitFive
    ) async throws {
        let store = try SQLiteWakeStore(path: path)
        try await fill(Counter(store: store))
        try store.close()
    }

    @Test("It reads beside a gateway, and counts what is there")
    func beside() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            let store = try SQLiteWakeStore(path: path)
            let connection = Counter(store: store)
            try await Self.admitFive(connection)
            try await connection.settleSent(try #require(try await connection.claim().claims.first))
            let audit = try SQLiteWakeStore.audit(path: path)
            #expect(audit.isSound && audit.faults.isEmpty)
            #expect(audit.count == (try await store.perform(RecountWakes())))
            #expect(audit.count.byState == [.sent: 1, .claimed: 4])
            try store.close()
        }
    }

    @Test("A lost row is noticed")
    func lost() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            try await makeStore(at: path)
            try execute(
                "DELETE FROM wake WHERE number IN (SELECT min(number) FROM wake)", on: path)
            let audit = try SQLiteWakeStore.audit(path: path)
            #expect(!audit.isSound && audit.count.accepted == 5 && audit.count.unended == 4)
            #expect(throws: StoreFailure.self) {
                try SQLiteWakeStore.audit(path: folder + "/none.sqlite")
            }
        }
    }

    @Test("A webhook that the counter does not know of is noticed")
    func miscountedWebhook() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            try await makeStore(at: path) { connection in
                try await connection.settleSent(
                    try await connection.claimOne(Samples.wake(device: 1)))
                try await connection.settleSent(
                    try await connection.claimOne(Samples.wake(device: 2)))
            }
            #expect(try SQLiteWakeStore.audit(path: path).isSound)
            try execute(
                "DELETE FROM webhook WHERE number IN (SELECT min(number) FROM webhook)", on: path)
            let audit = try SQLiteWakeStore.audit(path: path)
            #expect(!audit.isSound && audit.count.isConserved)
            #expect(audit.faults == [#"The counter "webhooks 7" is 2, and 1 are kept."#])
        }
    }

    @Test("An entry of the feed of outcomes that has cursors of another is named")
    func outcomes() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            try await makeStore(at: path) { connection in
                for device in 1...2 as ClosedRange<UInt64> {
                    try await connection.settleSent(
                        try await connection.claimOne(Samples.wake(device: device)))
                }
            }
            try execute(
                """
                UPDATE outcome SET wakes = zeroblob(24), number = 1 + (
                    SELECT min(number) FROM outcome)
                WHERE number = (SELECT max(number) FROM outcome)
                """, on: path)
            let audit = try SQLiteWakeStore.audit(path: path)
            #expect(!audit.isSound && audit.damaged.map(\.table) == [.outcome], "\(audit)")
        }
    }

    /// The files of a folder: bytes, time and rights. Of an index only that it is there: it says
    /// who reads the log.
    private func files(in folder: String) throws -> [String: [String]] {
        let manager = FileManager.default
        var files: [String: [String]] = [:]
        for name in try manager.contentsOfDirectory(atPath: folder) {
            let path = folder + "/" + name
            let attributes = try manager.attributesOfItem(atPath: path)
            files[name] =
                name.hasSuffix("-shm")
                ? []
                : [
                    try Data(contentsOf: URL(filePath: path)).base64EncodedString(),
                    "\(attributes[.modificationDate] ?? "")",
                    "\(attributes[.posixPermissions] ?? "")",
                ]
        }
        return files
    }

    /// Copies of these files of a store with five wakes, made while it is open.
    private func withCopies(
        _ suffixes: [String], _ body: (_ folder: String, _ path: String) throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            // What a URI would take for something else.
            let copies = folder + "/50% of #1?"
            try FileManager.default.createDirectory(
                atPath: copies, withIntermediateDirectories: false)
            let store = try SQLiteWakeStore(path: path)
            try await Self.admitFive(Counter(store: store))
            for suffix in suffixes {
                try FileManager.default.copyItem(
                    atPath: path + suffix, toPath: copies + "/store.sqlite" + suffix)
            }
            try body(copies, copies + "/store.sqlite")
            try store.close()
        }
    }

    @Test(
        "It leaves a copy as it found it, and counts what only the copy's log holds",
        arguments: [["", "-wal"], ["", "-wal", "-shm"]])
    func copies(_ suffixes: [String]) async throws {
        try await withCopies(suffixes) { folder, path in
            let before = try files(in: folder)
            for _ in 1...2 {
                let audit = try SQLiteWakeStore.audit(path: path)
                #expect(audit.isSound && audit.count.accepted == 5)
                #expect(try files(in: folder) == before)
            }
        }
    }

    @Test("It makes nothing beside a closed store, with or without a log of nothing, or by a link")
    func closed() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            try await makeStore(at: path)
            let manager = FileManager.default
            try manager.createDirectory(
                atPath: folder + "/links", withIntermediateDirectories: false)
            try manager.createSymbolicLink(
                atPath: folder + "/links/link", withDestinationPath: path)
            for log in [nil, Data(), Data(repeating: 7, count: 5_000)] {
                try log?.write(to: URL(filePath: path + "-wal"))
                let before = try manager.contentsOfDirectory(atPath: folder).sorted()
                for name in [path, folder + "/links/link"] {
                    #expect(try SQLiteWakeStore.audit(path: name).count.accepted == 5)
                }
                #expect(try manager.contentsOfDirectory(atPath: folder).sorted() == before)
                #expect(try manager.contentsOfDirectory(atPath: folder + "/links") == ["link"])
            }
        }
    }

    @Test("When somebody opens the file meanwhile, it is read again beside them")
    func openedMeanwhile() async throws {
        try await withCopies([""]) { folder, path in
            let file = try AuditedFile(path: path)
            #expect(file.reading == .alone)
            var readings = 0
            var other: SQLiteWakeStore?
            let columns = try file.read { connection throws(StoreFailure) in
                readings += 1
                if other == nil { other = try SQLiteWakeStore(path: path) }
                return try connection.columns(of: "wake")
            }
            #expect(columns.contains("number") && readings == 2 && file.reading == .beside)
            try other?.close()
        }
    }

    /// Changes a file behind the back of its store.
    private func execute(_ statement: String, on path: String) throws {
        let shell = Process()
        shell.executableURL = URL(filePath: "/usr/bin/env")
        shell.arguments = ["sqlite3", path, statement]
        try shell.run()
        shell.waitUntilExit()
        try #require(shell.terminationStatus == 0, "Debian's sqlite3 is needed.")
    }
}
