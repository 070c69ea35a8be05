// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreSQLite
import Testing

/// A running gateway, over HTTP, whose store cannot be written or is damaged under it.
@Suite("A store that fails under a running gateway", .timeLimit(.minutes(10)))
struct FailingStoreTests {
    /// An answer of the gateway's.
    private struct Answer {
        let status: Int
        let text: String

        var json: [String: Any] {
            (try? JSONSerialization.jsonObject(with: Data(text.utf8))) as? [String: Any] ?? [:]
        }
    }

    private static func ask(_ url: String, body: String? = nil) async throws -> Answer {
        let sending = ["-H", "Content-Type: application/json", "--data-binary", "@-"]
        let sent = body == nil ? [] : sending
        let result = try await Rouse.run(
            "/usr/bin/curl",
            ["-sS", "-m", "20", "-w", "\n%{http_code}"]
                + ["-H", "Authorization: Bearer \(ServeTests.secret)"] + sent + [url],
            stdin: body ?? "")
        let lines = result.out.split(separator: "\n", omittingEmptySubsequences: false)
        return Answer(
            status: lines.last.flatMap { Int($0) } ?? 0,
            text: lines.dropLast().joined(separator: "\n"))
    }

    /// A wake that waits for an hour, so that nothing but requests writes.
    private static func wake(_ number: Int) -> String {
        let token = String(format: "%064x", number)
        return """
            {"kind":"background","app":"\(RunningSimulator.bundleID)","device_token":"\(token)",\
            "payload":{"aps":{"content-available":1},"n":"\(String(repeating: "x", count: 900))"}}
            """
    }

    /// Asks for one wake; its id when it was taken.
    private static func take(_ number: Int, _ base: String) async throws -> (Answer, id: String?) {
        let answer = try await ask("\(base)/v1/wakes", body: wake(number))
        return (answer, answer.status == 202 ? answer.json["id"] as? String : nil)
    }

    private static func expectUnready(
        _ base: String, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> String {
        let ready = try await ask("\(base)/readyz")
        #expect(ready.status == 503, "\(ready.text)", sourceLocation: sourceLocation)
        return (ready.json["reasons"] as? [String])?.joined(separator: " ") ?? ""
    }

    private static func wait(_ condition: () async throws -> Bool) async throws -> Bool {
        for _ in 0..<300 {
            if try await condition() { return true }
            try await Task.sleep(for: .milliseconds(100))
        }
        return false
    }

    /// Expects that every one of these wakes is there.
    private static func expectKept(_ ids: [String], _ base: String) async throws {
        for id in ids {
            #expect(try await ask("\(base)/v1/wakes/\(id)").status == 200, "\(id) is lost")
        }
    }

    /// Sets or takes away the attribute by which the kernel refuses every write to a file, also
    /// through descriptors that are open already, and also for root.
    private static func setImmutable(_ isImmutable: Bool, _ paths: [String]) async throws {
        let change = isImmutable ? "+i" : "-i"
        #expect(try await Rouse.run("/usr/bin/chattr", [change] + paths).status == 0)
    }

    /// Whether files can have that attribute: it needs root, and a file system that knows it.
    private static let canSetImmutable: Bool = {
        guard let folder = try? TestFolder(), let probe = try? folder.write("", to: "probe")
        else { return false }
        return ["+i", "-i"].allSatisfy { change in
            let process = Process()
            process.executableURL = URL(filePath: "/usr/bin/chattr")
            process.arguments = [change, probe]
            process.standardError = FileHandle.nullDevice
            guard (try? process.run()) != nil else { return false }
            process.waitUntilExit()
            return process.terminationStatus == 0
        }
    }()

    @Test(
        "files that cannot be written: 503, red, nothing half kept, and well again by itself",
        .enabled(if: canSetImmutable))
    func readOnly() async throws {
        try await RunningSimulator.with { simulator in
            let path = try await ServeTests.keyedConfiguration(simulator)
            let (gateway, base) = try await ServeTests.start(["--config", path, "--paused"])
            var kept: [String] = []
            for number in 1...3 {
                kept.append(try #require(try await Self.take(number, base).id))
            }
            let store = simulator.folder.path + "/wakes.sqlite"
            let files = [store, store + "-wal"]
            try await Self.setImmutable(true, files)
            for number in 4...8 {
                let (answer, id) = try await Self.take(number, base)
                if let id { kept.append(id) }
                #expect(answer.status == 503, "\(answer.text)")
                #expect(answer.json["code"] as? String == "unavailable")
                #expect(answer.json["detail"] is String)
            }
            let reason = try await Self.expectUnready(base)
            #expect(reason.contains("rights and attributes of its files"), "\(reason)")
            // What can be read is told, and the process is alive.
            try await Self.expectKept(kept, base)
            #expect(try await Self.ask("\(base)/healthz").status == 200)

            try await Self.setImmutable(false, files)
            let isWell = try await Self.wait {
                let (_, id) = try await Self.take(100, base)
                if let id { kept.append(id) }
                let ready = try await Self.ask("\(base)/readyz")
                return id != nil && !ready.text.contains("store")
            }
            #expect(isWell, "\(gateway.error)")
            try await Self.expectKept(kept, base)
            #expect(try await gateway.end(SIGTERM) == 0)
            try await Self.expectSound(store, count: Set(kept).count)
        }
    }

    /// Recounts the store with the program's own auditor.
    private static func expectSound(_ store: String, count: Int) async throws {
        let audit = try await Rouse.run(["audit-store", store, "--json"])
        #expect(try audit.json()["sound"] as? Bool == true, "\(audit.all)")
        #expect(try audit.json()["accepted"] as? Int ?? count == count, "\(audit.all)")
    }

    @Test("pages that were overwritten: 503, red, and well again when they are back")
    func corrupted() async throws {
        try await RunningSimulator.with { simulator in
            let path = try await ServeTests.keyedConfiguration(simulator)
            let (first, base1) = try await ServeTests.start(["--config", path, "--paused"])
            let lines = (1...400).map { Self.wake($0) }.joined(separator: ",")
            let batch = try await Self.ask("\(base1)/v1/wakes/batch", body: "[\(lines)]")
            let items = try #require(batch.json["items"] as? [[String: Any]], "\(batch.text)")
            var kept = items.compactMap { ($0["wake"] as? [String: Any])?["id"] as? String }
            #expect(kept.count == 400)
            // Closing moves everything out of the log, so that the file has to be read.
            #expect(try await first.end(SIGTERM) == 0)

            let (gateway, base) = try await ServeTests.start(["--config", path])
            let store = simulator.folder.path + "/wakes.sqlite"
            let file = try #require(FileHandle(forUpdatingAtPath: store))
            defer { try? file.close() }
            let sound = try #require(try file.readToEnd())
            let pages = sound.count / 4_096
            #expect(pages > 100)
            let garbage = Data(repeating: 0xa5, count: 4_096)
            for page in 1..<pages {
                try file.seek(toOffset: UInt64(page * 4_096))
                try file.write(contentsOf: garbage)
            }
            let list = try await Self.ask("\(base)/v1/wakes?limit=400")
            #expect(list.status == 503, "\(list.text.prefix(200))")
            #expect(list.json["code"] as? String == "unavailable")
            var refused = 0
            for number in 1_000..<1_040 {
                let (answer, id) = try await Self.take(number, base)
                if let id { kept.append(id) } else { refused += 1 }
                #expect([202, 503].contains(answer.status), "\(answer.text)")
            }
            #expect(refused > 0)
            _ = try await Self.ask("\(base)/v1/wakes?limit=400")
            let reason = try await Self.expectUnready(base)
            #expect(reason.contains("restore a backup"), "\(reason)")
            #expect(try await Self.ask("\(base)/healthz").status == 200)

            for page in 1..<pages {
                try file.seek(toOffset: UInt64(page * 4_096))
                try file.write(contentsOf: sound[page * 4_096..<(page + 1) * 4_096])
            }
            let isWell = try await Self.wait {
                let (_, id) = try await Self.take(2_000, base)
                if let id { kept.append(id) }
                return try await Self.ask("\(base)/readyz").status == 200 && id != nil
            }
            #expect(isWell, "\(gateway.error.suffix(2_000))")
            try await Self.expectKept(Array(Set(kept.suffix(80))), base)
            #expect(try await gateway.end(SIGTERM) == 0)
            let audit = try await Rouse.run(["audit-store", store, "--json"])
            #expect(try audit.json()["sound"] as? Bool == true, "\(audit.all)")
        }
    }

    @Test("a file that is damaged before the start is refused with what to do")
    func damagedBefore() async throws {
        try await RunningSimulator.with { simulator in
            let path = try await ServeTests.keyedConfiguration(simulator)
            _ = try simulator.folder.write(
                String(repeating: "no database", count: 1_000), to: "wakes.sqlite")
            let damaged = try await Rouse.run(["serve", "--config", path])
            #expect(damaged.status == 65, "\(damaged.all)")
            #expect(damaged.error.contains("restore a backup"), "\(damaged.error)")
        }
    }

    @Test("another program's database is refused by serve, doctor and audit-store, and not changed")
    func strangersFile() async throws {
        try await RunningSimulator.with { simulator in
            let path = try await ServeTests.keyedConfiguration(simulator)
            let store = simulator.folder.path + "/wakes.sqlite"
            try SQLiteWakeStore(path: store).close()
            var bytes = try Data(contentsOf: URL(filePath: store))
            // Its application id.
            bytes.replaceSubrange(68..<72, with: [0, 0, 0, 42])
            try bytes.write(to: URL(filePath: store))
            for arguments in [
                ["serve", "--config", path], ["doctor", "--config", path], ["audit-store", store],
            ] {
                let refused = try await Rouse.run(arguments)
                #expect(refused.status == 65 || arguments[0] == "doctor", "\(refused.all)")
                #expect(refused.status != 0)
                #expect(refused.all.contains("no store of Rouse"), "\(refused.all)")
                #expect(refused.all.contains("0x2a"), "\(refused.all)")
                #expect(refused.all.contains("wakes.sqlite"), "\(refused.all)")
            }
            #expect(try Data(contentsOf: URL(filePath: store)) == bytes)
        }
    }

    @Test("a file that cannot be written is refused at the start", .enabled(if: canSetImmutable))
    func readOnlyBefore() async throws {
        try await RunningSimulator.with { simulator in
            let path = try await ServeTests.keyedConfiguration(simulator)
            let (gateway, _) = try await ServeTests.start(["--config", path])
            #expect(try await gateway.end(SIGTERM) == 0)
            let store = simulator.folder.path + "/wakes.sqlite"
            try await Self.setImmutable(true, [store])
            let refused = try await Rouse.run(["serve", "--config", path])
            try await Self.setImmutable(false, [store])
            #expect(refused.status == 77, "\(refused.all)")
        }
    }
}
