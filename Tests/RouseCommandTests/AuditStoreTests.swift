// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("rouse audit-store", .timeLimit(.minutes(2)))
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
            let books = try audit.json()
            #expect(books["sound"] as? Bool == true && books["faults"] as? [String] == [])
            #expect(books["accepted"] as? Int == 5 * batch)
        }
        let words = try await Rouse.run(["audit-store", folder.path + "/rouse.sqlite"])
        #expect(words.status == 0 && words.out.contains("Right:") && words.out.contains("Whole."))
        let status = try await Rouse.run(["status", "--json"], environment: environment)
        #expect(try status.json()["ready"] as? Bool == true)
        #expect(try await gateway.end(SIGTERM) == 0)
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
        #expect(try await Rouse.run(["audit-store", text]).status != 0)
        #expect(try await Rouse.run(["audit-store", folder.path + "/none"]).status == 66)
    }
}
