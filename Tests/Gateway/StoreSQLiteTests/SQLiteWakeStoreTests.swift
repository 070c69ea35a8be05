// SPDX-License-Identifier: Apache-2.0

import Foundation
import Gateway
import GatewayTestKit
import StoreTestKit
import Testing
import WakeModel

@testable import StoreSQLite

@Suite("The SQLite file")
struct SQLiteWakeStoreTests {
    @Test("It and its companions can be read by their owner only")
    func mode() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            let store = try SQLiteWakeStore(path: path)
            try await Counter(store: store).admit([Samples.wake()])
            for suffix in ["", "-wal", "-shm", ".lock"] {
                let attributes = try FileManager.default.attributesOfItem(atPath: path + suffix)
                #expect(attributes[.posixPermissions] as? Int == 0o600, "\(suffix)")
            }
            try store.close()
        }
    }

    @Test("A refused opening gives its own descriptor back, once, and nobody else's")
    func refusedDescriptor() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            let store = try SQLiteWakeStore(path: path)
            // It takes the lowest number that is free, again and again, and looks for it later.
            let witness = Task.detached {
                var lost = 0
                while !Task.isCancelled {
                    let descriptors = (0..<8).map { _ in open("/dev/null", O_RDONLY) }
                    for descriptor in descriptors {
                        if fcntl(descriptor, F_GETFD) < 0 { lost += 1 }
                        close(descriptor)
                    }
                }
                return lost
            }
            for _ in 0..<20_000 {
                #expect(throws: StoreFailure.self) { try StoreLock(besides: path) }
            }
            witness.cancel()
            #expect(await witness.value == 0, "a descriptor was closed by somebody else")
            try store.close()
        }
    }

    @Test("A second gateway is refused with a sentence, until the first is gone")
    func oneOwner() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            try await {
                let store = try SQLiteWakeStore(path: path)
                let failure = #expect(throws: StoreFailure.self) {
                    _ = try SQLiteWakeStore(path: path)
                }
                #expect(failure?.kind == .inUse)
                #expect(failure?.message.contains("in use by another gateway") == true)
                _ = try await store.perform(RecountWakes())
                try store.close()
            }()
            _ = try SQLiteWakeStore(path: path).close()
        }
    }

    @Test("It has no owner any more once it is closed, however long the object is kept")
    func closedIsFree() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            let first = try SQLiteWakeStore(path: path)
            try first.close()
            withExtendedLifetime(first) {
                _ = #expect(throws: Never.self) { try SQLiteWakeStore(path: path).close() }
            }
        }
    }

    @Test("A copy of the locks' descriptors, as a child process has, does not keep the locks")
    func copiedDescriptor() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            let first = try StoreLock(besides: path)
            try first.claimFile { _ in }
            let copies = first.descriptors.map { dup($0) }
            try #require(copies.count == 2 && copies.allSatisfy { $0 >= 0 })
            defer { for copy in copies { close(copy) } }
            first.release()
            #expect(throws: Never.self) { try StoreLock(besides: path).claimFile { _ in } }
        }
    }

    @Test("A file with a second name is refused by either, for an audit too, and a copy is not")
    func hardLink() async throws {
        try await withTemporaryFolder { folder in
            let (path, other) = (folder + "/store.sqlite", folder + "/other.sqlite")
            let first = try SQLiteWakeStore(path: path)
            try await Counter(store: first).admit([Samples.wake()])
            try FileManager.default.linkItem(atPath: path, toPath: other)
            func expectRefusals(_ names: [String]) {
                for name in names {
                    let opening = #expect(throws: StoreFailure.self) {
                        try SQLiteWakeStore(path: name).close()
                    }
                    let audit = #expect(throws: StoreFailure.self) {
                        try SQLiteWakeStore.audit(path: name)
                    }
                    for failure in [opening, audit] {
                        #expect(failure?.kind == .unavailable)
                        #expect(failure?.message.contains("has 2 names (hard links)") == true)
                    }
                }
            }
            // While the first one has it open, and when nobody does.
            expectRefusals([other])
            try first.close()
            expectRefusals([path, other])
            #expect(!FileManager.default.fileExists(atPath: other + "-wal"))

            let copy = folder + "/copy.sqlite"
            try FileManager.default.copyItem(atPath: other, toPath: copy)
            #expect(try SQLiteWakeStore.audit(path: copy).count.accepted == 1)
            try FileManager.default.removeItem(atPath: other)
            #expect(try SQLiteWakeStore.audit(path: path).isSound)
            try SQLiteWakeStore(path: path).close()
        }
    }

    /// Two names of one file, the first through symbolic links.
    enum Link: String, CaseIterable, CustomTestStringConvertible {
        case file = "a link to the file"
        case dangling = "a link to a file that is not made yet"
        case chain = "a link to such a link"
        case folder = "a link to its folder"

        var testDescription: String { rawValue }

        /// Makes what is needed in a folder; the two names.
        func make(in folder: String) throws -> (linked: String, plain: String) {
            let manager = FileManager.default
            try manager.createDirectory(
                atPath: folder + "/real", withIntermediateDirectories: false)
            let (plain, link) = (folder + "/real/store.sqlite", folder + "/link")
            switch self {
            case .file:
                try SQLiteWakeStore(path: plain).close()
                try manager.createSymbolicLink(atPath: link, withDestinationPath: plain)
            case .dangling:
                try manager.createSymbolicLink(
                    atPath: link, withDestinationPath: "real/store.sqlite")
            case .chain:
                try manager.createSymbolicLink(
                    atPath: folder + "/real/next", withDestinationPath: "store.sqlite")
                try manager.createSymbolicLink(atPath: link, withDestinationPath: "real/next")
            case .folder:
                try manager.createSymbolicLink(atPath: link, withDestinationPath: "real")
                return (link + "/store.sqlite", plain)
            }
            return (link, plain)
        }
    }

    @Test(
        "A file that is opened through a link has one owner too, and opens alone",
        arguments: Link.allCases, [true, false])
    func links(_ link: Link, isLinkFirst: Bool) async throws {
        try await withTemporaryFolder { folder in
            let (linked, plain) = try link.make(in: folder)
            let (first, second) = isLinkFirst ? (linked, plain) : (plain, linked)
            try await {
                let store = try SQLiteWakeStore(path: first)
                try await Counter(store: store).admit([Samples.wake()])
                let failure = #expect(throws: StoreFailure.self) {
                    _ = try SQLiteWakeStore(path: second)
                }
                #expect(failure?.kind == .inUse)
                let names = try FileManager.default.contentsOfDirectory(atPath: folder)
                #expect(names.sorted() == ["link", "real"], "nothing belongs beside the link")
                try store.close()
            }()
            let store = try SQLiteWakeStore(path: second)
            #expect(try await store.perform(RecountWakes()).accepted == 1)
            try store.close()
        }
    }

    @Test("Links that lead in a circle are refused with the reason")
    func circle() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            try FileManager.default.createSymbolicLink(
                atPath: path, withDestinationPath: "store.sqlite")
            let failure = #expect(throws: StoreFailure.self) {
                _ = try SQLiteWakeStore(path: path)
            }
            #expect(failure?.kind == .readOnly)
        }
    }

    @Test("What is not a store, or cannot be made, is refused with the reason")
    func refusals() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/text.sqlite"
            let text = String(repeating: "This is no database. ", count: 500)
            try Data(text.utf8).write(to: URL(filePath: path))
            #expect(throws: StoreFailure.self) { _ = try SQLiteWakeStore(path: path) }
            let missing = #expect(throws: StoreFailure.self) {
                _ = try SQLiteWakeStore(path: folder + "/missing/store.sqlite")
            }
            #expect(missing?.kind == .readOnly)
            #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
        }
    }

    @Test("Leases end when the file is opened again, and everything else is as it was")
    func reopen() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            let now = Samples.start
            let wakes = [
                Samples.wake(.voip), Samples.wake(device: 1), Samples.wake(dueIn: 600, device: 2),
            ]
            var ids: [WakeID] = []
            try await {
                let store = try SQLiteWakeStore(path: path)
                let connection = Counter(store: store)
                for wake in wakes { ids.append(try await connection.admitOne(wake).id) }
                #expect(try await connection.claim(leaseSeconds: 3_000).claims.count == 2)
                try store.close()
            }()
            let store = try SQLiteWakeStore(path: path)
            let reclaimed = try await store.perform(
                ReclaimLeases(
                    at: now, limit: 10, under: Samples.rules))
            #expect(reclaimed.returned == [ids[1]])
            #expect(reclaimed.ended.map(\.id) == [ids[0]])
            #expect(try await store.perform(FindWake(ids[2]))?.state == .pending)
            #expect(try await store.perform(RecountWakes()).isConserved)
            // A new wake is numbered behind the old ones, and the ledger is as it was.
            let next = try await Counter(store: store).admitOne(Samples.wake(device: 1))
            #expect(next.id.number > ids[2].number)
            guard case .coalesced = next.decision else {
                Issue.record("The ledger was forgotten: \(next.decision).")
                return
            }
            try store.close()
        }
    }

    @Test("Waiting requests share transactions, and each one is on disk when answered")
    func groupCommit() async throws {
        try await withTemporaryFolder { folder in
            let store = try SQLiteWakeStore(path: folder + "/store.sqlite")
            let watchful = WatchfulStore(store)
            let gateway = sampleGateway(store: watchful, sender: ScriptedSender())
            try await withRunning(gateway) {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for device in 0..<500 as Range<UInt64> {
                        group.addTask {
                            let answer = await gateway.accept(Samples.request(device: device))
                            let id = try #require(answer.admittedID)
                            #expect(try await store.perform(FindWake(id)) != nil)
                        }
                    }
                    try await group.waitForAll()
                }
            }
            #expect(watchful.admissions.reduce(0, +) == 500)
            #expect(watchful.admissions.count < 250)
            try store.close()
        }
    }
}
