// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTestKit
import Testing

@testable import RouseCommand

/// Guards against results that are lost in silence, and against texts that obey somebody else.
@Suite("Standard output", .timeLimit(.minutes(10)))
struct StandardOutputTests {
    /// Runs a command line of a shell, in which `$ROUSE` is the program.
    private static func shell(
        _ line: String, environment: [String: String] = [:]
    ) async throws -> Rouse.Finished {
        try await Rouse.run(
            "/bin/sh", ["-c", line], environment: environment.merging(["ROUSE": Rouse.path]) { $1 })
    }

    @Test(
        "output that cannot be written ends a command with 74, whatever the command",
        arguments: [
            "--help", "--version", "serve --help", "rules", "rules --json", "token --help",
            "validate $F", "validate --format json $F", "validate --format sarif $F",
            "validate --explain BG006", "rules --schema background", "audit $D",
            "audit --format json $D", "simulate $S", "simulate --json $S", "doctor --offline",
            "--generate-completion-script bash",
        ])
    func fullDisk(command: String) async throws {
        let folder = try TestFolder()
        let payload = try folder.write(#"{"aps":{"content-available":1}}"#, to: "payload.json")
        let scenario = try folder.write(
            """
            name: short
            about: One push.
            seed: 1
            minutes: 105
            devices: [{ profile: still, model: exact }]
            streams: [{ name: update, pattern: fixed, every-seconds: 450, count: 1 }]
            """, to: "scenario.yaml")
        try folder.write("import UIKit\n", to: "App.swift")
        let variables = ["F": payload, "D": folder.path, "S": scenario]
        let lost = try await Self.shell("\"$ROUSE\" \(command) >/dev/full", environment: variables)
        #expect(lost.status == 74, "\(lost.all)")
        #expect(lost.error.contains("No space left on device"), "\(lost.all)")
        #expect(lost.error.contains("not complete"))
    }

    @Test("a key that finds no room in its file ends a command with 74, and is not shown")
    func fullFile() async throws {
        let folder = try TestFolder()
        // The shell's limit on files stands for a full disk.
        let lost = try await Self.shell(
            "trap '' XFSZ; ulimit -f 0; \"$ROUSE\" keys create --keys-file \"$K\" --name a",
            environment: ["K": folder.path + "/keys.json"])
        #expect(lost.status == 74, "\(lost.all)")
        #expect(!lost.all.contains("rouse_"))
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/keys.json"))
    }

    @Test("a reader that has seen enough is no failure")
    func closedPipe() async throws {
        let piped = try await Self.shell(
            "{ \"$ROUSE\" rules; echo \"ended with $?\" >&2; } | head -n 1 >/dev/null")
        #expect(piped.error == "ended with 0\n")
    }

    @Test("Unicode's separators of lines and paragraphs are not left in a line")
    func separators() {
        #expect("a\u{2028}b\u{2029}c\u{61c}d".printable == "a\u{fffd}b\u{fffd}c\u{fffd}d")
        #expect(#"{"a":"\#u{2028}"}"#.printableJSON == #"{"a":"\u2028"}"#)
        // In a document that is read, line feeds stay, and what only looks like an escape.
        let document = "{\t\r\n\"\u{9b}\\u001B\":\"\\t\\n\\u000a\\\\u001b\\u00e9\\\"\"}"
        #expect(
            document.printableTexts
                == "{\t\r\n\"\u{fffd}\u{fffd}\":\"\u{fffd}\\n\\u000a\\\\u001b\\u00e9\\\"\"}")
    }

    /// What a terminal would obey: an escape sequence, a signal, C1, a reversed reading direction.
    private static let hostile = "\u{1b}[2Jx\u{7}\u{9b}31m\u{202e}y"

    private static func server(_ document: [String: Any]) throws -> OneShotServer {
        let body = String(
            decoding: try JSONSerialization.data(withJSONObject: document), as: UTF8.self)
        return try OneShotServer(
            "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n"
                + body)
    }

    @Test(
        "nothing that a gateway sends moves a cursor or makes a sound", arguments: [true, false])
    func hostileGateway(isTerminal: Bool) async throws {
        let wake: [String: Any] = [
            "id": "019aa5e2-6c3e-7d6f-8a37-0f5c2f9a1b7c", "state": "rejected\(Self.hostile)",
            "kind": "voip", "app": Self.hostile, "environment": "sandbox", "device": "device#1",
            "accepted_at": "now", "urgency": "normal", "deadline": "soon",
            "decision": ["type": "send", "message": Self.hostile],
            "outcome": [
                "state": "rejected", "explanation": Self.hostile, "status": 400,
                "reason": Self.hostile,
            ],
            "attempts": [
                [
                    "started_at": "now", "ended_at": "now", "result": "rejected", "status": 400,
                    "reason": Self.hostile, "explanation": Self.hostile,
                ]
            ],
            "status": "not-ready", "reasons": [Self.hostile], "accepted": 1, "unended": 1,
            "in_flight": 0, "intake_queue": 0, "by_state": [Self.hostile: 1],
            "oldest_due_milliseconds": [String: Int](), "warnings": [Self.hostile],
            "endpoints": [
                [
                    "endpoint": Self.hostile, "backlog": 1, "dropped": 0, "failing_since": "now",
                    "last_failure": Self.hostile, "warning": Self.hostile,
                ]
            ],
            "apps": [
                [
                    "app": Self.hostile, "environment": "sandbox",
                    "paused": ["at": "now", "reason": Self.hostile],
                    "queues": [
                        [
                            "kind": "voip", "state": "held", "since": "now",
                            "message": Self.hostile,
                            "reason": Self.hostile, "unanswered_since": "now",
                            "failure": Self.hostile,
                        ]
                    ],
                ]
            ],
        ]
        let wakeCommand = "wake 019aa5e2-6c3e-7d6f-8a37-0f5c2f9a1b7c"
        for (command, shownAs) in [
            (wakeCommand, "x\u{fffd}"), ("status --once", "x\u{fffd}"),
            (wakeCommand + " --json", "x\\u0007\\u009b"), ("status --json", "x\u{fffd}"),
        ] {
            let gateway = try Self.server(wake)
            defer { gateway.stop() }
            let environment = [
                "ROUSE_GATEWAY": "http://127.0.0.1:\(gateway.port)", "TERM": "xterm",
            ]
            let line = "\(Rouse.path) \(command)"
            let shown =
                isTerminal
                ? try await Rouse.run(
                    "/usr/bin/script", ["-q", "-e", "-c", line, "/dev/null"],
                    environment: environment)
                : try await Self.shell(line, environment: environment)
            var text = shown.all
            #expect(text.contains(shownAs), "\(text)")
            if isTerminal {
                for own in Console.colourSequences { text = text.replacing(own, with: "") }
            }
            let obeyed = text.replacing("\r\n", with: "").replacing("\n", with: "")
            #expect(obeyed == obeyed.printable, "\(command): \(obeyed.debugDescription)")
        }
    }

    @Test("nor does a problem document, or the reason of a server that is not APNs")
    func hostileProblem() throws {
        let body = try JSONSerialization.data(withJSONObject: [
            "code": "x", "title": Self.hostile, "detail": Self.hostile,
            "diagnostics": [
                [
                    "rule": Self.hostile, "severity": "error", "message": Self.hostile,
                    "fix": Self.hostile,
                ]
            ],
        ])
        let problem = try #require(GatewayClient.document(ProblemDocument.self, Array(body)))
        #expect(problem.title == problem.title.printable)
        #expect(problem.detail == "\u{fffd}[2Jx\u{fffd}\u{fffd}31m\u{fffd}y")
        #expect(problem.diagnostics?.first?.fix == problem.detail)
    }

    @Test("colours stay, and nothing else that begins with an escape character")
    func colours() {
        let line = StyledLine("a\u{1b}[8mb\u{1b}[31mc\u{1b}[0m").broken(at: 80)
        #expect(line == ["a\u{fffd}[8mb\u{1b}[31mc\u{1b}[0m"])
    }

    @Test("a key that goes in the clear to another machine is warned of, and to this one is not")
    func plainHTTP() async throws {
        let gateway = try OneShotServer("HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n")
        defer { gateway.stop() }
        let environment = ["ROUSE_API_KEY": "rouse_secret"]
        // A name that never resolves (RFC 6761 §6.4).
        let far = try await Rouse.run(
            ["status", "--gateway", "http://gateway.invalid:8080"], environment: environment)
        #expect(far.error.contains("without encryption"), "\(far.all)")
        #expect(!far.all.contains("rouse_secret"))
        let near = try await Rouse.run(
            ["status", "--gateway", "http://localhost:\(gateway.port)"], environment: environment)
        #expect(!near.error.contains("without encryption"), "\(near.all)")
        let open = try await Rouse.run(["status", "--gateway", "http://gateway.invalid:8080"])
        #expect(!open.error.contains("without encryption"), "\(open.all)")
    }

    @Test("a key that is meant for this machine is not sent to a proxy")
    func proxy() async throws {
        let gateway = try OneShotServer("HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n")
        let proxy = try OneShotServer("HTTP/1.1 502 No\r\nContent-Length: 0\r\n\r\n")
        defer {
            gateway.stop()
            proxy.stop()
        }
        let address = "http://127.0.0.1:\(proxy.port)"
        for host in ["127.0.0.1", "localhost", "127.1", "0x7f.0.0.1", "rouse.localhost"] {
            _ = try await Rouse.run(
                ["status", "--gateway", "http://\(host):\(gateway.port)"],
                environment: [
                    "ROUSE_API_KEY": "rouse_secret", "http_proxy": address, "ALL_PROXY": address,
                    "all_proxy": address,
                ])
        }
        #expect(proxy.received.isEmpty)
        #expect(gateway.received.count == 5)
    }
}
