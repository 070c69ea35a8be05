// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("rouse audit-store", .timeLimit(.minutes(10)))
struct AuditStoreTests {
    @Test("It recounts the store of a running gateway, which does not notice")
    func beside() async throws {
        let folder = try TestFolder()
        let gateway = try RunningRouse([
            "serve", "--dev", "--folder", folder.path, "--listen", "127.0.0.1:0",
        ])
        let lines = try await gateway.lines { $0.hasPrefix("Stop it") }
        let addresses = lines.compactMap { line in
            line.firstMatch(of: /http:\/\/127\.0\.0\.1:\d+/).map { String($0.output) }
        }
        let environment = ["ROUSE_GATEWAY": try #require(addresses.first)]
        for batch in 1...3 {
            try await Self.send(batch, environment)
            let audit = try await Rouse.run([
                "audit-store", folder.path + "/rouse.sqlite", "--json",
            ])
            #expect(audit.status == 0, "\(audit.all)")
            let transaction = try audit.json()
            #expect(
                transaction["sound"] as? Bool == true && transaction["faults"] as? [String] == [])
            #expect(transaction["accepted"] as? Int == 5 * batch)
        }
        let words = try await Rouse.run(["audit-store", folder.path + "/rouse.sqlite"])
        #expect(words.status == 0 && words.out.contains("Match:") && words.out.contains("passed."))
        let status = try await Rouse.run(["status", "--json"], environment: environment)
        #expect(try status.json()["ready"] as? Bool == true)
        #expect(try await gateway.end(SIGTERM) == 0)
    }

    @Test("It names each damaged row, and says so with its code")
    func damaged() async throws {
        let folder = try TestFolder()
        let gateway = try RunningRouse([
            "serve", "--dev", "--folder", folder.path, "--listen", "127.0.0.1:0",
        ])
        let lines = try await gateway.lines { $0.hasPrefix("Stop it") }
        let addresses = lines.compactMap { line in
            line.firstMatch(of: /http:\/\/127\.0\.0\.1:\d+/).map { String($0.output) }
        }
        try await Self.send(1, ["ROUSE_GATEWAY": try #require(addresses.first)])
        #expect(try await gateway.end(SIGTERM) == 0)
        let store = folder.path + "/rouse.sqlite"
        let shell = Process()
        shell.executableURL = URL(filePath: "/usr/bin/env")
        shell.arguments = [
            "sqlite3", store,
            "UPDATE wake SET rest = x'00' WHERE number = (SELECT min(number) FROM wake);"
                + "UPDATE device SET ledger = x'0107' "
                + "WHERE number = (SELECT min(number) FROM device);",
        ]
        try shell.run()
        shell.waitUntilExit()
        try #require(shell.terminationStatus == 0, "Debian's sqlite3 is needed.")

        let audit = try await Rouse.run(["audit-store", store, "--json"])
        #expect(audit.status == 1)
        let transaction = try audit.json()
        #expect(transaction["sound"] as? Bool == false && transaction["conserved"] as? Bool == true)
        #expect(transaction["damaged_count"] as? Int == 2)
        let rows = try #require(transaction["damaged"] as? [[String: String]])
        #expect(Set(rows.map { $0["table"] }) == ["wake", "device"])
        let words = try await Rouse.run(["audit-store", store])
        #expect(words.status == 1 && words.out.contains("wake 0") && words.out.contains("device"))
        #expect(words.out.contains("Match:") && words.out.contains("Damaged"))
    }

    /// Sends five wakes to devices of their own, and waits until they are accepted.
    private static func send(_ batch: Int, _ environment: [String: String]) async throws {
        let wakes = (0..<5).map { device in
            """
            {"kind":"background","app":"com.example.demo","device_token":"\
            \(String(repeating: "0b", count: 30))\(10 + batch)0\(device)",\
            "payload":{"aps":{"content-available":1}}}
            """
        }
        let sent = try await Rouse.run(
            ["send", "--json", "-"], stdin: wakes.joined(separator: "\n"), environment: environment)
        #expect(sent.status == 0, "\(sent.all)")
    }

    @Test("What is no store, or not there, ends with its own code")
    func failures() async throws {
        let folder = try TestFolder()
        let text = try folder.write("This is no store.", to: "text")
        let refused = try await Rouse.run(["audit-store", text])
        #expect(refused.status == 65)
        // It is another file, not a store that is damaged.
        #expect(refused.error.contains("text is no database of SQLite"), "\(refused.error)")
        #expect(!refused.error.contains("damaged"), "\(refused.error)")
        #expect(try await Rouse.run(["audit-store", folder.path + "/none"]).status == 66)
    }
}
