// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayTestKit
import HTTPTypes
import Logging
import Testing
import WakeModel

@testable import AdminAPI

@Suite("The audit log, over real sockets", .timeLimit(.minutes(10)))
struct AuditLogTests {
    /// A change that somebody makes through the API, and what is noted of it.
    struct Change: CustomTestStringConvertible, Sendable {
        let method: String
        /// A route's path.
        let path: String
        var query = ""
        var body: String?
        let scope: Scope
        let words: String

        var testDescription: String { words }
    }

    private static let changes = [
        Change(
            method: "POST", path: "/v1/apps/{topic}/pause", query: "?reason=a-reason",
            scope: .admin, words: "app paused"),
        Change(
            method: "POST", path: "/v1/apps/{topic}/resume", scope: .admin, words: "app resumed"),
        Change(method: "DELETE", path: "/v1/wakes/{id}", scope: .wake, words: "wake cancelled"),
        Change(
            method: "DELETE", path: "/v1/devices/{token}", scope: .device,
            words: "device forgotten"),
        Change(
            method: "POST", path: "/v1/devices/forget",
            body: #"{"device_token":"\#(Samples.deviceToken().hex)"}"#, scope: .device,
            words: "device forgotten"),
        Change(
            method: "DELETE", path: "/v1/users/{user}/devices", scope: .device,
            words: "user unregistered"),
        Change(
            method: "POST", path: "/v1/channels", body: #"{"app":"com.example.app"}"#,
            scope: .wake, words: "channel created"),
        Change(
            method: "DELETE", path: "/v1/channels/{channel}", query: "?app=com.example.app",
            scope: .wake, words: "channel deleted"),
        Change(
            method: "DELETE", path: "/v1/users/{user}/devices/{token}", scope: .device,
            words: "user unregistered"),
    ]

    /// Routes with another method than GET that are no changes somebody made: they ask, or they are
    /// the traffic.
    private static let otherPaths: Set<String> = [
        "/v1/wakes", "/v1/wakes/batch", "/v1/wakes/multicast", "/v1/validate", "/v1/receipts",
        "/v1/devices/{token}/signals", "/v1/devices/{token}/registered", "/v1/devices/signals",
        "/v1/devices/registered", "/v1/devices/lookup", "/v1/wakes/lookup",
        "/v1/channels/{channel}/broadcasts",
    ]

    @Test("Each change has a line at any level, without token, payload or key", arguments: changes)
    func lines(change: Change) async throws {
        let bench = try APIBench()
        let lines = RecordedLines()
        var logger = lines.logger
        logger.logLevel = .critical
        try await bench.serve(logger: logger) { caller in
            // One goes at once, so that the other waits and can be cancelled.
            _ = try await caller.wake()
            let id = try await caller.wake()
            let token = Samples.deviceToken()
            let registered = try await caller.send(
                "POST", "/v1/devices/\(token.hex)/registered",
                #"{"app":"com.example.app","user":"u-12345"}"#)
            #expect(registered.status == 200, "\(registered.body)")
            #expect(lines.all.isEmpty, "\(lines.all)")
            let path = change.path.replacing("{id}", with: id)
                .replacing("{user}", with: "u-12345")
                .replacing("{token}", with: token.hex)
                .replacing("{topic}", with: "com.example.app")
                .replacing("{channel}", with: ScriptedChannels.encoded(bench.channels.first))
            let answer = try await caller.send(
                change.method, path + change.query, change.body, as: change.scope)
            #expect([200, 201].contains(answer.status), "\(answer.body)")

            #expect(lines.all.count == 1, "\(lines.all)")
            let line = try #require(lines.all.first)
            let subject =
                change.path.contains("{token}") || change.path == "/v1/devices/forget"
                ? "\(token)"
                : change.path.contains("{user}")
                    ? "u-…"
                    : change.path.contains("{id}")
                        ? id
                        : change.path.contains("channels")
                            ? bench.channels.lastChanged.value : "\(Samples.app)"
            #expect(line.hasPrefix("audit "))
            for part in [
                " by=\(change.scope)", " change=\(change.words)", " from=127.0.0.1:",
                " subject=\(subject)",
            ] {
                #expect(line.contains(part), "\(line)")
            }
            #expect(line.contains(" reason=a-reason") == change.query.contains("a-reason"))
            #expect(!line.contains(token.hex) && !line.contains("u-12345"))
            for key in bench.keys.values { #expect(!line.contains(key.text)) }
        }
    }

    @Test("With a file of its own, each change is a line of JSON there, and none in the log")
    func file() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "rouse-audit-\(Samples.freshID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "audit.jsonl").path
        let bench = try APIBench()
        let lines = RecordedLines()
        var logger = lines.logger
        logger.logLevel = .critical
        let audit = AuditLog(logger, file: AuditFile(path: path))
        try await bench.serve(logger: logger, audit: audit) { caller in
            let reason = "?reason=quote%22%20%5C"
            let paused = try await caller.send("POST", "/v1/apps/com.example.app/pause" + reason)
            #expect(paused.status == 200, "\(paused.body)")
            _ = try await caller.send("POST", "/v1/apps/com.example.app/resume")
        }
        #expect(lines.all.isEmpty, "\(lines.all)")
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let entries = try text.split(separator: "\n").map { line in
            try #require(
                JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String])
        }
        #expect(entries.map { $0["change"] } == ["app paused", "app resumed"])
        #expect(entries.map { $0["by"] } == ["admin", "admin"])
        #expect(entries.map { $0["subject"] } == ["\(Samples.app)", "\(Samples.app)"])
        #expect(entries[0]["reason"] == "quote\" \\")
        #expect(entries.allSatisfy { $0["from"]?.hasPrefix("127.0.0.1:") == true })
        #expect(entries.allSatisfy { ($0["at"] ?? "").wholeMatch(of: /2\d{3}-.*Z/) != nil })
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
        #expect(mode as? Int == 0o600)
    }

    @Test("An entry begins a line of its own, behind one of which the disk took only a part")
    func partOfLine() throws {
        let path = FileManager.default.temporaryDirectory.appending(
            path: "rouse-audit-\(Samples.freshID())"
        ).path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let entry = AuditEntry(at: Samples.start, "app paused", by: "a", from: "b", to: "c")
        let line = String(decoding: entry.line, as: UTF8.self)
        try Data((line + "{\"at\":").utf8).write(to: URL(filePath: path))
        for _ in 0..<2 { try AuditFile(path: path).append(entry) }
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(text == line + "{\"at\":\n" + line + line)
    }

    @Test("An entry is one line, whatever stands in it")
    func oneLine() {
        let entry = AuditEntry(
            at: Samples.start, "a\nb", by: "c\r", from: "\u{1b}[31m", to: "d\u{2028}\u{0}")
        #expect(entry.line.count { $0 < 0x20 } == 1 && entry.line.last == UInt8(ascii: "\n"))
    }

    @Test("What is no file of its own, a link or a pipe, is refused; the log has the line then")
    func noFile() throws {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "rouse-audit-\(Samples.freshID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let link = folder.appending(path: "link").path
        #expect(symlink("target", link) == 0)
        let pipe = folder.appending(path: "pipe").path
        #expect(mkfifo(pipe, 0o600) == 0)
        for path in [link, pipe, folder.path, folder.appending(path: "none/audit").path] {
            #expect(throws: AuditFile.Failure.self) { try AuditFile(path: path).check() }
            let lines = RecordedLines()
            AuditLog(lines.logger, file: AuditFile(path: path))
                .note("app paused", by: "a", from: "b", to: "c")
            #expect(lines.all.count == 2, "\(lines.all)")
            #expect(lines.all.last?.contains("change=app paused") == true)
        }
        #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "target").path))
    }

    @Test("What was refused changed nothing, and has no line")
    func refusals() async throws {
        let lines = RecordedLines()
        var logger = lines.logger
        logger.logLevel = .critical
        try await APIBench().serve(logger: logger) { caller in
            for change in Self.changes {
                let path = change.path.replacing("{id}", with: "\(Samples.freshID())")
                    .replacing("{user}", with: "u-none")
                    .replacing("{token}", with: Samples.deviceToken(99).hex)
                    .replacing("{topic}", with: "com.example.none")
                    .replacing("{channel}", with: "YQ%3D%3D")
                let body = change.body?.replacing("com.example.app", with: "com.example.none")
                let answer = try await caller.send(
                    change.method, path + change.query, body, as: change.scope)
                #expect(answer.status >= 400, "\(change.words): \(answer.body)")
            }
            #expect(lines.all.isEmpty, "\(lines.all)")
        }
    }

    @Test("No route that changes something is left out")
    func completeness() throws {
        let bench = try APIBench()
        let services = bench.services
        let noted = Set(Self.changes.map { "\($0.method) \($0.path)" })
        for route in RouteTable(services).routes
        where route.method != .get && !Self.otherPaths.contains(route.path) {
            let name = "\(route.method.rawValue) \(route.path)"
            #expect(noted.contains(name), "\(name) has no line in the audit log's table.")
        }
    }
}
