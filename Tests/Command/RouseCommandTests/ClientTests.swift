// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import RouseCommand

@Suite("Client commands against a running gateway", .timeLimit(.minutes(10)))
struct ClientTests {
    private static let device = String(repeating: "0a", count: 32)

    /// A gateway with a simulator behind it, and its address as environment.
    private static func start() async throws -> (RunningRouse, [String: String]) {
        let gateway = try RunningRouse(["serve", "--dev", "--listen", "127.0.0.1:0"])
        let lines = try await gateway.lines { $0.hasPrefix("Stop it") }
        let addresses = lines.compactMap { line in
            line.firstMatch(of: /http:\/\/127\.0\.0\.1:\d+/).map { String($0.output) }
        }
        let address = try #require(addresses.first)
        return (gateway, ["ROUSE_GATEWAY": address])
    }

    private static func line(_ device: String, _ note: Int) -> String {
        """
        {"kind":"background","app":"com.example.demo","device_token":"\(device)",\
        "payload":{"aps":{"content-available":1},"n":\(note)}}
        """
    }

    @Test("send, wake, device and status tell one story")
    func story() async throws {
        let (gateway, environment) = try await Self.start()
        let folder = try TestFolder()
        let lines = (0..<5).map { Self.line(Self.device.dropLast() + "\($0)", $0) }
        let file = try folder.write(
            lines.joined(separator: "\n") + "\n\n{\"kind\":\"alert\"}\n", to: "wakes.ndjson")
        let sent = try await Rouse.run(
            ["send", "--json", "--batch", "2", file], environment: environment)
        #expect(sent.status == 1, "\(sent.all)")
        #expect(try sent.json()["accepted"] as? Int == 5)
        #expect(try sent.json()["refused"] as? Int == 1)
        #expect(sent.error.contains("line 7:"))

        let device = String(Self.device.dropLast() + "0")
        let told = try await Rouse.run(["device", device], environment: environment)
        #expect(told.status == 0, "\(told.all)")
        #expect(told.out.contains("com.example.demo (sandbox)"))
        #expect(!told.out.contains(device))
        let json = try await Rouse.run(["device", device, "--json"], environment: environment)
        let queue = try #require((try json.json()["queues"] as? [[String: Any]])?.first)
        let id = try #require((queue["recent"] as? [[String: Any]])?.first?["id"] as? String)

        let wake = try await Rouse.run(["wake", id], environment: environment)
        #expect(wake.status == 0, "\(wake.all)")
        #expect(wake.out.contains(id))
        let cancel = try await Rouse.run(["wake", id, "--cancel"], environment: environment)
        #expect([0, 1].contains(cancel.status), "\(cancel.all)")
        let unknown = try await Rouse.run(
            ["wake", "019aa5e2-6c3e-7d6f-8a37-0f5c2f9a1b7c"], environment: environment)
        #expect(unknown.status == 1)

        let status = try await Rouse.run(["status", "--json"], environment: environment)
        #expect(status.status == 0, "\(status.all)")
        #expect(try status.json()["ready"] as? Bool == true)
        #expect(try status.json()["accepted"] as? Int == 5)
        let words = try await Rouse.run(["status"], environment: environment)
        #expect(words.out.contains("Accepted  5"), "\(words.out)")
        #expect(try await gateway.end(SIGTERM) == 0)
    }

    @Test("device takes a digest with and without its prefix, within the app that is named")
    func digests() async throws {
        try await RunningSimulator.with { simulator in
            let path = try await ServeTests.keyedConfiguration(simulator)
            let text = try String(contentsOfFile: path, encoding: .utf8)
            let app = try #require(text.firstMatch(of: /\ \ - bundle-id: [^$]*?(?=transport:)/))
            let other = app.output.replacing(RunningSimulator.bundleID, with: "com.example.second")
            try text.replacing("transport:", with: other + "transport:")
                .write(toFile: path, atomically: true, encoding: .utf8)
            let (gateway, base) = try await ServeTests.start(["--config", path])
            let environment = ["ROUSE_GATEWAY": base, "ROUSE_API_KEY": ServeTests.secret]
            // Two device tokens with one digest, each of another app; the second woke later.
            let digest = "e09b3bf8"
            let apps = [RunningSimulator.bundleID, "com.example.second"]
            for (app, end) in zip(apps, ["0000bb71", "0001f037"]) {
                let token = String(repeating: "0a", count: 28) + end
                let sent = try await Rouse.run(
                    ["send", "-"],
                    stdin: Self.line(token, 1).replacing("com.example.demo", with: app) + "\n",
                    environment: environment)
                #expect(sent.status == 0, "\(sent.all)")
            }
            for words in ["device#\(digest)", digest] {
                let latest = try await Rouse.run(["device", words], environment: environment)
                #expect(latest.out.contains("for com.example.second"), "\(latest.all)")
                for app in apps {
                    let told = try await Rouse.run(
                        ["device", words, "--bundle-id", app, "--sandbox"],
                        environment: environment)
                    #expect(told.out.contains("device#\(digest)"), "\(told.all)")
                    #expect(told.out.contains("for \(app) (sandbox)"), "\(told.all)")
                }
            }
            // A token of four bytes is found before a digest.
            let short = try await Rouse.run(
                ["send", "-"],
                stdin: Self.line(digest, 1).replacing("com.example.demo", with: apps[0]) + "\n",
                environment: environment)
            #expect(short.status == 0, "\(short.all)")
            let found = try await Rouse.run(["device", digest], environment: environment)
            #expect(found.status == 0 && !found.out.contains("device#\(digest)"), "\(found.all)")
            let none = try await Rouse.run(["device", "00000000"], environment: environment)
            #expect(none.status == 1 && none.error.contains("with this digest"), "\(none.all)")
            #expect(try await gateway.end(SIGTERM) == 0)
        }
    }

    @Test("what cannot be reached, read or understood ends with its own code")
    func failures() async throws {
        let nowhere = ["ROUSE_GATEWAY": "http://127.0.0.1:1"]
        #expect(try await Rouse.run(["status"], environment: nowhere).status == 69)
        #expect(try await Rouse.run(["device", "xyz"], environment: nowhere).status == 65)
        let wake = try await Rouse.run(["wake", "42"], environment: nowhere)
        #expect(wake.status == 64)
        #expect(wake.error.contains("The wake's id is not a UUID."), "\(wake.all)")
        #expect(!wake.error.contains("leave it out"), "\(wake.all)")
        #expect(try await Rouse.run(["send", "/nonexistent"], environment: nowhere).status == 66)
        #expect(
            try await Rouse.run(["send", "-"], stdin: "\n", environment: nowhere).status == 65)
        let address = ["ROUSE_GATEWAY": "ftp://example.com"]
        #expect(try await Rouse.run(["status"], environment: address).status == 64)
        let key = ["ROUSE_API_KEY_FILE": "/nonexistent"]
        #expect(try await Rouse.run(["status"], environment: key).status == 66)
    }

    @Test("the progress bar says how far, how fast and how long")
    func progress() {
        let text = ProgressBar.text(done: 500, of: 2_000, seconds: 2, columns: 80)
        #expect(
            text == "[##########" + String(repeating: ".", count: 30)
                + "] 500 of 2000, 250/s, 6 s left")
        #expect(ProgressBar.text(done: 0, of: 0, seconds: 0, columns: 80).hasPrefix("[####"))
        // More than was expected, slowly, and for long.
        #expect(
            ProgressBar.text(done: 3, of: 2, seconds: 10, noun: "cells", columns: 80)
                == "[" + String(repeating: "#", count: 40) + "] 3 of 2 cells, 0.3/s, 0 s left")
        for (total, end) in [(125, "2 min 4 s"), (8_000, "2 h 13 min")] {
            #expect(
                ProgressBar.text(done: 1, of: total, seconds: 1, columns: 80)
                    .hasSuffix("1.0/s, \(end) left"))
        }
    }

    /// Guards against a bar of which each update leaves a line behind, because it wraps.
    @Test("the progress bar fits into the terminal", arguments: [80, 60, 50, 20, 1])
    func progressFits(_ columns: Int) {
        let text = ProgressBar.text(
            done: 4_000_000, of: 20_000_000, seconds: 60, noun: "rows, read twice",
            columns: columns)
        #expect(text.count < columns, "\(text)")
        #expect(text.hasPrefix("[") == (columns > 70), "\(text)")
    }
}
