// SPDX-License-Identifier: Apache-2.0

import GatewayTestKit
import HTTPTypes
import Logging
import Testing
import WakeModel

@testable import AdminAPI

@Suite("The audit log, over real sockets", .timeLimit(.minutes(2)))
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
    ]

    /// Routes with another method than GET that are no changes somebody made: they ask, or they are
    /// the traffic.
    private static let otherPaths: Set<String> = [
        "/v1/wakes", "/v1/wakes/batch", "/v1/validate", "/v1/receipts",
        "/v1/devices/{token}/signals", "/v1/devices/{token}/registered",
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
            #expect(lines.all.isEmpty, "\(lines.all)")
            let token = Samples.deviceToken()
            let path = change.path.replacing("{id}", with: id)
                .replacing("{token}", with: token.hex)
                .replacing("{topic}", with: "com.example.app")
            let answer = try await caller.send(
                change.method, path + change.query, change.body, as: change.scope)
            #expect(answer.status == 200, "\(answer.body)")

            #expect(lines.all.count == 1, "\(lines.all)")
            let line = try #require(lines.all.first)
            let subject =
                change.path.contains("{token}")
                ? "\(token)" : change.path.contains("{id}") ? id : "\(Samples.app)"
            #expect(
                line == "audit by=\(change.scope) change=\(change.words) subject=\(subject)")
            #expect(!line.contains(token.hex))
            for key in bench.keys.values { #expect(!line.contains(key.text)) }
        }
    }

    @Test("What was refused changed nothing, and has no line")
    func refusals() async throws {
        let lines = RecordedLines()
        var logger = lines.logger
        logger.logLevel = .critical
        try await APIBench().serve(logger: logger) { caller in
            for change in Self.changes {
                let path = change.path.replacing("{id}", with: "\(Samples.freshID())")
                    .replacing("{token}", with: Samples.deviceToken(99).hex)
                    .replacing("{topic}", with: "com.example.none")
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
        let services = Services(
            gateway: bench.gateway, configuration: bench.configuration,
            metrics: AdminMetrics(MetricsRegistry()),
            connections: ListenerConnections(places: 1, placesOfPeer: 1),
            streams: ConnectionCount(), audit: AuditLog(.silent), readings: { [] })
        let noted = Set(Self.changes.map { "\($0.method) \($0.path)" })
        for route in RouteTable(services).routes
        where route.method != .get && !Self.otherPaths.contains(route.path) {
            let name = "\(route.method.rawValue) \(route.path)"
            #expect(noted.contains(name), "\(name) has no line in the audit log's table.")
        }
    }
}
