// SPDX-License-Identifier: Apache-2.0

import Foundation
import PostgreSQLTestKit
import Testing

@testable import RouseCommand

@Suite("rouse store copy", .timeLimit(.minutes(10)))
struct StoreCopyCommandTests {
    /// Makes the file of a gateway that took five wakes, and returns its path.
    private func makeFile(in folder: TestFolder) async throws -> String {
        let gateway = try RunningRouse([
            "serve", "--dev", "--folder", folder.path, "--listen", "127.0.0.1:0",
        ])
        let lines = try await gateway.lines { $0.hasPrefix("Stop it") }
        let address = try #require(
            lines.compactMap { line in
                line.firstMatch(of: /http:\/\/127\.0\.0\.1:\d+/).map { String($0.output) }
            }.first)
        let wakes = (0..<5).map { device in
            """
            {"kind":"background","app":"com.example.demo","device_token":"\
            \(String(repeating: "0b", count: 31))0\(device)",\
            "payload":{"aps":{"content-available":1}}}
            """
        }
        let sent = try await Rouse.run(
            ["send", "--json", "-"], stdin: wakes.joined(separator: "\n"),
            environment: ["ROUSE_GATEWAY": address])
        #expect(sent.status == 0, "\(sent.all)")
        #expect(try await gateway.end(SIGTERM) == 0)
        return folder.path + "/rouse.sqlite"
    }

    @Test("A file becomes a shared store that is audited as well, and is no gateway's any more")
    func copy() async throws {
        let folder = try TestFolder()
        let file = try await makeFile(in: folder)
        let server = try PostgreSQLServer.running()
        let store = server.uri(try server.makeDatabase()).replacing(/:[^:@]*@/, with: "@")
        try await RunningSimulator.with { simulator in
            let config = try await Self.configuration(simulator, store)
            // Without tables.
            let early = try await Rouse.run(["store", "copy", file, "--config", config])
            #expect(
                early.status == 65 && early.error.contains("rouse store migrate"), "\(early.all)")
            #expect(try await Rouse.run(["store", "migrate", "--config", config]).status == 0)

            let keys = try folder.write("{}", to: "keys.json")
            let copied = try await Rouse.run(["store", "copy", file, "--config", config, "--json"])
            try FileManager.default.removeItem(atPath: keys)
            #expect(copied.status == 0 && copied.error.isEmpty, "\(copied.all)")
            let document = try copied.json()
            #expect((document["keys_file"] as? String)?.hasSuffix(keys) == true)
            #expect(document["accepted"] as? Int == 5)
            #expect((document["copied"] as? [String: Int])?["wake"] == 5)

            let audit = try await Rouse.run(["audit-store", "--config", config, "--json"])
            #expect(audit.status == 0, "\(audit.all)")
            #expect(try audit.json()["accepted"] as? Int == 5)
            let words = try await Rouse.run(["audit-store", "--config", config])
            #expect(words.out.contains("Match:") && words.out.contains("Integrity check passed."))

            let again = try await Rouse.run(["store", "copy", file, "--config", config])
            #expect(again.status == 69 && again.error.contains("copied into a shared store"))
            let gateway = try await Rouse.run(
                ["serve", "--dev", "--folder", folder.path, "--listen", "127.0.0.1:0"])
            #expect(gateway.status == 69 && gateway.error.contains("again"), "\(gateway.all)")
        }
    }

    /// A configuration that names a database.
    private static func configuration(
        _ simulator: RunningSimulator, _ store: String
    ) async throws -> String {
        let path = try await ServeTests.keyedConfiguration(simulator)
        _ = try simulator.folder.write(PostgreSQLServer.password, to: "database-password")
        try String(contentsOfFile: path, encoding: .utf8)
            .replacing(/store: .*/, with: "store: \(store)")
            .replacing("listen:", with: "store-password-file: database-password\nlisten:")
            .write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    @Test("Keys that lie beside the file are not taken for those of the database's gateways")
    func keys() throws {
        let folder = try TestFolder()
        var configuration = ServeConfiguration()
        configuration.storePath = folder.path + "/etc/rouse.yaml"
        let file = folder.path + "/wakes.sqlite"
        #expect(StoreCopyCommand.leftKeys(beside: file, configuration) == nil)
        let keys = try folder.write("{}", to: "keys.json")
        #expect(StoreCopyCommand.leftKeys(beside: file, configuration)?.hasSuffix(keys) == true)
        configuration.keysPath = keys
        #expect(StoreCopyCommand.leftKeys(beside: file, configuration) == nil)
    }

    @Test("Wrong use is refused in words")
    func usage() async throws {
        let folder = try TestFolder()
        let config = try folder.write("store: wakes.sqlite\n", to: "rouse.yaml")
        #expect(try await Rouse.run(["store", "copy"]).status == 64)
        #expect(try await Rouse.run(["store", "copy", "none.sqlite"]).status == 64)
        let both = try await Rouse.run(["audit-store", "a.sqlite", "--config", config])
        #expect(both.status == 64 && both.error.contains("not both"))
        #expect(try await Rouse.run(["audit-store"]).status == 64)
    }
}
