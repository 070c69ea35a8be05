// SPDX-License-Identifier: Apache-2.0

import APNsSimulator
import Foundation
import Testing

@Suite("rouse apns-simulator", .timeLimit(.minutes(1)))
struct SimulatorTests {
    @Test("prints a ready line, a command that works when pasted, and ends with 0 on SIGTERM")
    func pasted() async throws {
        let folder = try TestFolder()
        let simulator = try RunningRouse(["apns-simulator", "--folder", folder.path])
        let lines = try await simulator.lines { $0.hasPrefix("Ready") }
        let command = try #require(lines.first { $0.hasPrefix("Try") })
        let directory = URL(filePath: Rouse.path).deletingLastPathComponent().path
        let result = try await Rouse.run(
            "/bin/sh", ["-c", String(command.dropFirst(3))],
            environment: ["PATH": "\(directory):/usr/bin:/bin"])
        #expect(result.status == 0, "\(result.all)")
        #expect(result.out.contains("200: accepted"))
        #expect(try await simulator.end(SIGTERM) == 0)
        #expect(FileManager.default.fileExists(atPath: folder.path + "/ca.pem"))
    }

    @Test("tells the same as JSON, serves its control endpoint, and cleans up after itself")
    func json() async throws {
        let simulator = try RunningRouse(
            ["apns-simulator", "--json", "--control-port", "0", "--production"])
        let lines = try await simulator.lines { $0 == "}" }
        let ready = try #require(
            try JSONSerialization.jsonObject(with: Data(lines.joined().utf8)) as? [String: Any])
        #expect(ready["environment"] as? String == "production")
        let keyPath = try #require(ready["key_path"] as? String)
        let mode = try FileManager.default.attributesOfItem(atPath: keyPath)[.posixPermissions]
        #expect(mode as? Int == 0o600)
        let control = try #require(ready["control_port"] as? Int)
        let pushes = try await Rouse.run(
            "/usr/bin/curl", ["-sS", "http://127.0.0.1:\(control)/pushes"])
        #expect(pushes.out == "[]", "\(pushes.all)")
        #expect(try await simulator.end(SIGINT) == 0)
        #expect(!FileManager.default.fileExists(atPath: keyPath))
    }

    @Test("with a device model, the control endpoint tells what became of a push")
    func deviceModel() async throws {
        let folder = try TestFolder()
        let simulator = try RunningRouse([
            "apns-simulator", "--folder", folder.path, "--control-port", "0", "--device-model",
            "commuter", "--seed", "7", "--receipts", "http://127.0.0.1:9",
        ])
        let lines = try await simulator.lines { $0.hasPrefix("Ready") }
        #expect(lines.contains { $0.hasPrefix("Devices") && $0.hasSuffix(" commuter, seed 7") })
        #expect(lines.contains { $0.hasPrefix("Receipts") && $0.hasSuffix(" http://127.0.0.1:9") })
        let command = try #require(lines.first { $0.hasPrefix("Try") })
        let directory = URL(filePath: Rouse.path).deletingLastPathComponent().path
        let push = try await Rouse.run(
            "/bin/sh", ["-c", String(command.dropFirst(3))],
            environment: ["PATH": "\(directory):/usr/bin:/bin"])
        #expect(push.status == 0, "\(push.all)")
        let token = try #require(command.split(separator: " ").last)
        let control = try #require(lines.first { $0.hasPrefix("Control") })
        let address = try #require(control.split(separator: " ").last)
            .replacing("/pushes", with: "")
        let fates = try await Rouse.run(
            "/usr/bin/curl", ["-sS", "\(address)/devices/\(token)/pushes"])
        let pushes = try #require(
            try JSONSerialization.jsonObject(with: Data(fates.out.utf8)) as? [[String: Any]])
        #expect(pushes.map { $0["content"] as? String } == ["background"])
        #expect(pushes.first?["fate"] is String)
        #expect(try await simulator.end(SIGTERM) == 0)
    }

    @Test("a port in use ends with 69")
    func portInUse() async throws {
        try await StandIn.with { standIn in
            let result = try await Rouse.run(
                ["apns-simulator", "--port", "\(standIn.simulator.port)"])
            #expect(result.status == 69, "\(result.all)")
        }
    }
}
