// SPDX-License-Identifier: Apache-2.0

import Foundation
import Gateway
import GatewayTestKit
import StoreTestKit
import Testing
import WakeModel

@testable import StoreSQLite

@Suite("A disk that fails", .enabled(if: SmallDisk.canMount), .timeLimit(.minutes(10)))
struct DiskTests {
    @Test("A full disk refuses, keeps what it has, and takes wakes again when there is room")
    func full() async throws {
        let disk = try SmallDisk(kibibytes: 1_536)
        defer { disk.remove() }
        let store = try SQLiteWakeStore(path: disk.folder + "/store.sqlite")
        let gateway = sampleGateway(store: store, sender: ScriptedSender())
        try await withRunning(gateway) { () async throws in
            let first = try #require(
                await gateway.accept(Samples.request(device: 1)).admittedID)
            let ballast = disk.folder + "/ballast"
            try fill(ballast)

            var accepted = [first]
            var refusals: [AdmissionResult] = []
            for device in 2...2_000 as ClosedRange<UInt64> {
                let answer = await gateway.accept(Samples.request(device: device))
                if let id = answer.admittedID {
                    accepted.append(id)
                } else {
                    refusals.append(answer)
                    if refusals.count == 3 { break }
                }
            }
            #expect(refusals.count == 3)
            guard case .unavailable(let reason) = refusals.first else {
                Issue.record("It was not refused for the disk: \(refusals).")
                return
            }
            #expect(reason.contains("full"))
            // A smaller transaction may still have found room, and have turned it green again.
            try await eventually {
                let answer = await gateway.accept(Samples.request(device: 30_000))
                if let id = answer.admittedID { accepted.append(id) }
                return !gateway.readiness.isReady
            }

            try FileManager.default.removeItem(atPath: ballast)
            var device: UInt64 = 10_000
            try await eventually {
                device += 1
                let answer = await gateway.accept(Samples.request(device: device))
                if let id = answer.admittedID { accepted.append(id) }
                return answer.admittedID != nil
            }
            try await eventually { gateway.readiness.isReady }
            // All that was accepted is there, and nothing more.
            for id in accepted { #expect(try await store.perform(FindWake(id)) != nil) }
            #expect(try await store.perform(RecountWakes()).accepted == accepted.count)
        }
        #expect(try await store.perform(RecountWakes()).isConserved)
        try store.close()
    }

    /// Writes zeros until the file system takes no more.
    private func fill(_ path: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT, 0o600)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        let zeros = [UInt8](repeating: 0, count: 4_096)
        while zeros.withUnsafeBytes({ write(descriptor, $0.baseAddress, $0.count) }) > 0 {}
    }

    @Test("A read-only file system is refused with the reason")
    func readOnly() async throws {
        let disk = try SmallDisk(kibibytes: 1_024)
        defer { disk.remove() }
        try await {
            let store = try SQLiteWakeStore(path: disk.folder + "/store.sqlite")
            try await Counter(store: store).admit([Samples.wake()])
            try store.close()
        }()
        try disk.makeReadOnly()
        let failure = #expect(throws: StoreFailure.self) {
            _ = try SQLiteWakeStore(path: disk.folder + "/store.sqlite")
        }
        #expect(failure?.kind == .readOnly)
    }
}

@Suite("A damaged file", .timeLimit(.minutes(10)))
struct DamageTests {
    @Test("A part of a file that cannot be read is damage, and a failed write is not")
    func readFailures() {
        // SQLITE_IOERR_READ, _SHORT_READ, _DATA and _CORRUPTFS; then _WRITE, _FSYNC and _NOMEM.
        for detail in [1, 2, 32, 33] as [CInt] {
            let failure = StoreFailure(code: 10 | detail << 8, message: "disk I/O error")
            #expect(failure.kind == .corrupt)
            #expect(failure.message.contains("cannot read a part"))
        }
        for detail in [0, 3, 4, 12] as [CInt] {
            let failure = StoreFailure(code: 10 | detail << 8, message: "disk I/O error")
            #expect(failure.kind == .unavailable)
        }
    }

    @Test("A file whose pages were overwritten is refused, or fails, with the kind corrupt")
    func overwritten() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            try await {
                let store = try SQLiteWakeStore(path: path)
                let wakes = (0..<500 as Range<UInt64>).map { Samples.wake(device: $0) }
                try await Counter(store: store).admit(wakes)
                try store.close()
            }()
            let file = try #require(FileHandle(forUpdatingAtPath: path))
            let size = try file.seekToEnd()
            for page in 2..<(size / 4_096) where page.isMultiple(of: 2) {
                try file.seek(toOffset: page * 4_096)
                try file.write(contentsOf: Data(repeating: 0xa5, count: 4_096))
            }
            try file.close()
            let failure = await #expect(throws: StoreFailure.self) {
                let store = try SQLiteWakeStore(path: path)
                _ = try await store.perform(RecountWakes())
                let wakes = (0..<500 as Range<UInt64>).map { Samples.wake(device: $0) }
                try await Counter(store: store).admit(wakes)
            }
            #expect(failure?.kind == .corrupt)
            #expect(failure?.message.contains("restore a backup") == true)
        }
    }
}

/// Polls a condition that no event announces, for at most twenty seconds.
private func eventually(_ condition: () async throws -> Bool) async throws {
    for _ in 0..<2_000 {
        if try await condition() { return }
        try await Task.sleep(for: .milliseconds(10))
    }
    Issue.record("The condition did not come true.")
}
