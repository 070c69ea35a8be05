// SPDX-License-Identifier: Apache-2.0

import APNsClient
import APNsSimulator
import Foundation
import PushTransport
import Testing
import WakeModel

@Suite("The example", .timeLimit(.minutes(10)))
struct ExampleTests {
    private static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private func text(_ path: String) throws -> String {
        try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
    }

    /// The first block of Swift between code fences, its lines without `prefix`.
    private func code(in text: String, prefix: String) -> String {
        var lines: [Substring] = []
        var isInside = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            guard line.hasPrefix(prefix) || line == prefix.trimmingPrefix(" ").dropLast() else {
                continue
            }
            let line = line.dropFirst(prefix.count)
            if line == "```swift" {
                isInside = true
            } else if line == "```", isInside {
                break
            } else if isInside {
                lines.append(line)
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    @Test("the documentation shows the file that these tests compile and run")
    func documented() throws {
        let example = try text("Tests/APNs/APNsClientTests/Example.swift")
            .trimmingPrefix("// SPDX-License-Identifier: Apache-2.0\n\n")
        try #require(example.hasPrefix("import APNsClient\n"))
        #expect(
            code(in: try text("Sources/APNs/APNsClient/APNsClient.swift"), prefix: "/// ")
                == example)
        let page = try text(
            "Sources/APNs/APNsClient/APNsClient.docc/APNsClient.md")
        #expect(code(in: page, prefix: "") == example)
        #expect(code(in: try text("README.md"), prefix: "") == example)
    }

    @Test("the simulator's page shows the suite that runs here")
    func simulatorExample() throws {
        let example = try text("Tests/APNs/APNsClientTests/SimulatorExample.swift")
            .trimmingPrefix("// SPDX-License-Identifier: Apache-2.0\n\n")
        try #require(example.hasPrefix("import APNsClient\n"))
        #expect(code(in: try text("Deploy/manual/simulator.md"), prefix: "") == example)
    }

    @Test("it makes a client from a key file")
    func makesClient() async throws {
        let workshop = try Workshop()
        try workshop.makeKey("key.p8")
        let client = try makeClient(keyPath: workshop.path("key.p8"))
        #expect(client.gauges.connectionsOpened == 0, "no connection before the first push")
        await client.shutDown()
        #expect(throws: InvalidField.self) {
            try makeClient(keyPath: workshop.path("missing.p8"))
        }
    }

    @Test("it says what became of a wake")
    func wakes() async throws {
        try await withClient { client, simulator in
            let device = try Samples.device(1)
            let accepted = await wake(device.hex, with: client)
            let id = try #require(simulator.receivedPushes.last?["apns-id"])
            #expect(accepted == "accepted as \(id)")
            simulator.register(
                RegisteredDevice(token: device, state: .unregistered(since: Samples.start)))
            let refused = await wake(device.hex, with: client)
            #expect(refused.hasPrefix("refused: 410 Unregistered. Stop sending to it"))
            #expect(await wake("zz", with: client).hasPrefix("failed: device token holds"))
            await client.shutDown()
            #expect(await wake(device.hex, with: client).hasPrefix("failed: shut-down (not-sent)"))
        }
    }
}
