// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTestKit
import Testing

@testable import RouseCommand

@Suite("What a terminal shows", .timeLimit(.minutes(10)))
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

    @Test(
        "what was typed reaches no terminal that would obey it",
        arguments: [
            ["push", "--voip", "--timeout", "1\u{1b}[31m\u{7}"], ["\u{9b}2J\u{1b}\u{202e}"],
            ["validate", "--format", "\r\u{1b}]0;x\u{7}"],
        ])
    func typedControls(_ arguments: [String]) async throws {
        let finished = try await Rouse.run(arguments)
        #expect(finished.status == 64)
        #expect(finished.error.contains("\u{fffd}"), "\(finished.error)")
        #expect(finished.error.printableLines == finished.error, "\(finished.error)")
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
        #expect(shown.out.contains("0 s left\(Self.clear)Accepted"), "\(shown.out)")
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

    @Test("status fits the terminal: what is long is broken, what is tall is cut, at the end")
    func smallTerminal() async throws {
        // One answer to all four questions.
        let reason = String(repeating: "a long reason ", count: 9)
        let queue = #"{"kind":"background","state":"held","message":"m","reason":"r"}"#
        let apps = (1...9).map {
            #"{"app":"com.\#($0)","environment":"sandbox","queues":[\#(queue)]}"#
        }
        let body = """
            {"status":"not-ready","reasons":["\(reason)"],"accepted":1,"unended":1,"in_flight":0,\
            "intake_queue":0,"by_state":{},"oldest_due_milliseconds":{},\
            "endpoints":[],"apps":[\(apps.joined(separator: ","))]}
            """
        let gateway = try OneShotServer(
            "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n"
                + body)
        defer { gateway.stop() }
        let status = try RunningRouse(
            ["-q", "-e", "-c", "stty -onlcr cols 40 rows 12; \(Rouse.path) status", "/dev/null"],
            by: "/usr/bin/script",
            environment: ["TERM": "xterm", "ROUSE_GATEWAY": "http://127.0.0.1:\(gateway.port)"])
        var frames = 0
        let lines = try await status.lines { line in
            if line.contains("Gateway") { frames += 1 }
            return frames == 4
        }
        _ = try await status.end(SIGTERM)
        var screen = SmallScreen(columns: 40, rows: 12)
        screen.take(lines.joined(separator: "\n"))
        #expect(screen.scrolledCount == 0, "\(lines)")
        #expect(screen.rows.count { $0.contains("Gateway") } == 1, "\(screen.rows)")
        #expect(screen.rows.first?.hasPrefix("Gateway   not-ready") == true, "\(screen.rows)")
        #expect(screen.rows.contains { $0.hasPrefix("Waiting") }, "\(screen.rows)")
        #expect(screen.rows.contains { $0.contains("lines are not shown") }, "\(screen.rows)")
    }
}

/// As much of a terminal as live pages need: it breaks lines, scrolls, and knows three sequences.
private struct SmallScreen {
    let columns: Int
    private(set) var rows: [String]
    private(set) var scrolledCount = 0
    private var row = 0
    private var column = 0

    init(columns: Int, rows: Int) {
        self.columns = columns
        self.rows = Array(repeating: "", count: rows)
    }

    mutating func take(_ text: String) {
        var rest = Substring(text.replacing("\r", with: ""))
        while let character = rest.first {
            if let match = rest.prefixMatch(of: /\u{1b}\[(\d*)([A-Za-z])/) {
                obey(match.output.2, Int(match.output.1) ?? 1)
                rest = rest[match.range.upperBound...]
                continue
            }
            rest = rest.dropFirst()
            if character == "\n" {
                step()
            } else {
                if column == columns { step() }
                rows[row] = String(rows[row].prefix(column)) + String(character)
                column += 1
            }
        }
    }

    private mutating func obey(_ letter: Substring, _ count: Int) {
        switch letter {
        case "A": row = max(0, row - count)
        case "K": rows[row] = String(rows[row].prefix(column))
        case "J":
            rows[row] = String(rows[row].prefix(column))
            for below in rows.indices.dropFirst(row + 1) { rows[below] = "" }
        default: break
        }
    }

    private mutating func step() {
        column = 0
        row += 1
        guard row == rows.count else { return }
        row -= 1
        scrolledCount += 1
        rows = rows.dropFirst() + [""]
    }
}
