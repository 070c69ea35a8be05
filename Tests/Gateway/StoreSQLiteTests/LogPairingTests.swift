// SPDX-License-Identifier: Apache-2.0

import CLibsqlite3
import Foundation
import Gateway
import GatewayTestKit
import StoreTestKit
import Testing

@testable import StoreSQLite

@Suite("A log beside a database that is not its own")
struct LogPairingTests {
    private func bytes(_ path: String) throws -> Data { try Data(contentsOf: URL(filePath: path)) }

    private func admit(_ devices: Range<UInt64>, to store: SQLiteWakeStore) async throws {
        _ = try await store.perform(
            AdmitWakes(
                devices.map { Samples.wake(device: $0) }, grant: nil,
                under: Samples.rules))
    }

    /// Copies a store's files as a kill leaves them; the log first, as copying goes on.
    private func copy(_ path: String, to other: String) throws {
        for end in ["-wal", ""] {
            try FileManager.default.copyItem(atPath: path + end, toPath: other + end)
        }
    }

    @Test("A backup that is restored beside the log of the store before it is refused, unchanged")
    func restored() async throws {
        try await withTemporaryFolder { folder in
            let (live, path) = (folder + "/live.sqlite", folder + "/store.sqlite")
            let backup = folder + "/backup.sqlite"
            let store = try SQLiteWakeStore(path: live)
            try await admit(0..<100, to: store)
            let source = try Connection(live)
            let copied = try Connection(backup)
            let copying = sqlite3_backup_init(copied.handle, "main", source.handle, "main")
            #expect(sqlite3_backup_step(copying, -1) == SQLITE_DONE)
            #expect(sqlite3_backup_finish(copying) == SQLITE_OK)
            try copied.close()
            try source.close()
            try await admit(100..<400, to: store)
            try copy(live, to: path)
            try store.close()
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.copyItem(atPath: backup, toPath: path)
            let log = try bytes(path + "-wal")
            let failure = #expect(throws: StoreFailure.self) { try SQLiteWakeStore(path: path) }
            #expect(failure?.kind == .corrupt)
            #expect(failure?.message.contains("written for another database") == true)
            #expect(try SQLiteWakeStore.refusal(path: path) == failure?.message)
            #expect(try bytes(path) == bytes(backup))
            #expect(try bytes(path + "-wal") == log)
            // As it says.
            try FileManager.default.removeItem(atPath: path + "-wal")
            let again = try SQLiteWakeStore(path: path)
            #expect(try await again.perform(CountWakes()).accepted == 100)
            try again.close()
        }
    }

    @Test("The log of a store that was killed is its own, however often that began anew")
    func own() async throws {
        try await withTemporaryFolder { folder in
            let live = folder + "/live.sqlite"
            var bounds = CheckpointPlan.Bounds()
            bounds.start = 50
            bounds.rest = 10
            var devices: UInt64 = 0
            for life in 0..<4 {
                let store = try SQLiteWakeStore(
                    path: live, durability: .system, cachedDevices: 0, bounds: bounds,
                    sync: LogFlusher.sync)
                for step in 0..<12 {
                    try await admit(devices..<devices + 40, to: store)
                    devices += 40
                    let path = folder + "/copy-\(life)-\(step).sqlite"
                    try copy(live, to: path)
                    let file = open(path, O_RDONLY)
                    #expect(LogPairing.failure(besides: path, file) == nil)
                    close(file)
                }
                try store.close()
            }
        }
    }

    @Test("A log that was torn, or is none, says nothing")
    func torn() async throws {
        try await withTemporaryFolder { folder in
            let (live, path) = (folder + "/live.sqlite", folder + "/torn.sqlite-wal")
            let store = try SQLiteWakeStore(path: live)
            try await admit(0..<40, to: store)
            let log = try bytes(live + "-wal")
            #expect(LogPairing.firstCounter(inLog: live + "-wal") != nil)
            try store.close()
            for place in [0, 9, 17, 25, 33, 41, 49, 60] {
                var torn = log
                torn[place] ^= 0x10
                try torn.write(to: URL(filePath: path))
                #expect(LogPairing.firstCounter(inLog: path) == nil, "\(place)")
            }
            for length in [0, 31, 32, 55, 100] {
                try log.prefix(length).write(to: URL(filePath: path))
                #expect(LogPairing.firstCounter(inLog: path) == nil, "\(length)")
            }
        }
    }
}
