// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import RouseCommand

@Suite("What a terminal shows", .timeLimit(.minutes(2)))
struct TerminalTests {
    /// Begins a line again and clears it.
    private static let clear = "\r\u{1b}[K"

    /// Runs a command on a pseudo-terminal and returns what it wrote there.
    private static func onTerminal(
        _ command: String, _ environment: [String: String]
    ) async throws -> Rouse.Finished {
        try await Rouse.run(
            "/usr/bin/script", ["-q", "-e", "-c", command, "/dev/null"],
            environment: environment.merging(["TERM": "xterm"]) { $1 })
    }

    private static func start() async throws -> (RunningRouse, [String: String]) {
        let gateway = try RunningRouse(["serve", "--dev", "--listen", "127.0.0.1:0"])
        let lines = try await gateway.lines { $0.hasPrefix("Stop it") }
        let addresses = lines.compactMap { line in
            line.firstMatch(of: /http:\/\/127\.0\.0\.1:\d+/).map { String($0.output) }
        }
        return (gateway, ["ROUSE_GATEWAY": try #require(addresses.first)])
    }

    @Test("the bar grows with each batch and is gone at the end; a pipe gets none")
    func progressBar() async throws {
        let (gateway, environment) = try await Self.start()
        let folder = try TestFolder()
        let file = try folder.write(
            (0..<6).map {
                """
                {"kind":"background","app":"com.example.demo","device_token":"\
                \(String(repeating: "0b", count: 31))0\($0)","payload":{"aps":{\
                "content-available":1}}}
                """
            }.joined(separator: "\n"), to: "wakes.ndjson")
        let shown = try await Self.onTerminal(
            "\(Rouse.path) send --batch 2 \(file)", environment)
        #expect(shown.status == 0, "\(shown.all)")
        for (done, filled) in [(2, 13), (4, 26), (6, 40)] {
            let bar =
                String(repeating: "#", count: filled) + String(repeating: ".", count: 40 - filled)
            #expect(shown.out.contains("\(Self.clear)[\(bar)] \(done) of 6, "), "\(shown.out)")
        }
        // The bar is cleared before what stays.
        #expect(shown.out.contains("0 s left\(Self.clear)Sent"), "\(shown.out)")
        let piped = try await Rouse.run(["send", "--batch", "2", file], environment: environment)
        #expect(piped.status == 0)
        #expect(!piped.all.contains("["), "\(piped.all)")
        #expect(try await gateway.end(SIGTERM) == 0)
    }

    @Test("status writes over its own lines until it is interrupted, and says when it is cut off")
    func liveScreen() async throws {
        let (gateway, environment) = try await Self.start()
        // The terminal is told to leave the ends of lines as they are.
        let status = try RunningRouse(
            ["-q", "-e", "-c", "stty -onlcr; \(Rouse.path) status", "/dev/null"],
            by: "/usr/bin/script", environment: environment.merging(["TERM": "xterm"]) { $1 })
        let ready = "\u{1b}[KGateway   \u{1b}[32mready\u{1b}[0m"
        let first = try await status.lines { $0.hasSuffix(ready) && $0 != ready }
        #expect(first.first == ready)
        // The second page begins where the first did.
        let page = first.count - 1
        #expect(page > 4)
        #expect(first.last == "\u{1b}[J\u{1b}[\(page)A\(ready)", "\(first)")
        #expect(first.dropFirst().dropLast().allSatisfy { $0.hasPrefix("\u{1b}[K") }, "\(first)")
        #expect(try await gateway.end(SIGTERM) == 0)
        let all = try await status.lines { $0.contains("cannot be reached") }
        #expect(all.last?.hasPrefix("\u{1b}[J\u{1b}[\(page)A\u{1b}[K\u{1b}[31m") == true, "\(all)")
        _ = try await status.end(SIGTERM)
        let once = try await Self.onTerminal(
            "\(Rouse.path) status", ["ROUSE_GATEWAY": "http://127.0.0.1:1"])
        #expect(once.status == 69, "what never answered is not waited for: \(once.all)")
    }
}
