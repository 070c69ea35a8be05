// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import Gateway
import GatewayTestKit
import Testing
import WakeModel

@testable import AdminAPI

@Suite("The API over real sockets", .timeLimit(.minutes(2)))
struct AdminAPITests {
    private let store = WatchfulStore(InMemoryWakeStore())
    private let sender = ScriptedSender()
    private let secret = "a-key-that-is-shown-once"
    private let payload = #"{ "aps": {"content-available": 1},  "note":"caf\u00e9" }"#

    private var configuration: AdminConfiguration {
        get throws {
            let digest = SHA256.hash(data: Array(secret.utf8))
                .map { String(format: "%02x", $0) }.joined()
            return AdminConfiguration(
                authentication: .keys(KeyRing([try APIKey(name: "backend", sha256: digest)])))
        }
    }

    private var headers: [String: String] {
        ["Authorization": "Bearer \(secret)", "Content-Type": "application/json"]
    }

    private func body(_ more: String = "", token: String? = nil) -> String {
        let token = token ?? Samples.deviceToken().hex
        return """
            {"kind":"background","device_token":"\(token)","app":"com.example.app",\
            "payload":\(payload)\(more)}
            """
    }

    private func serve(_ body: (Int) async throws -> Void) async throws {
        let gateway = sampleGateway(store: store, sender: sender)
        try await withAPI(gateway, configuration: configuration, body)
    }

    private func post(
        _ body: String, to port: Int, headers more: [String: String] = [:]
    ) async throws -> HTTPExchange {
        try await HTTPExchange.send(
            "POST", "/v1/wakes", body: body, headers: headers.merging(more) { $1 }, port: port)
    }

    private func expectProblem(
        _ exchange: HTTPExchange, _ code: ProblemCode,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(exchange.status == code.status, sourceLocation: sourceLocation)
        #expect(
            exchange.head.lowercased().contains("content-type: application/problem+json"),
            sourceLocation: sourceLocation)
        let json = try exchange.json()
        #expect(json["code"] as? String == code.rawValue, sourceLocation: sourceLocation)
        #expect(json["type"] as? String == code.type, sourceLocation: sourceLocation)
        #expect(json["title"] as? String == code.title, sourceLocation: sourceLocation)
        #expect(json["status"] as? Int == code.status, sourceLocation: sourceLocation)
        #expect(
            !exchange.body.contains(Samples.deviceToken().hex), sourceLocation: sourceLocation)
    }

    @Test("A wake is answered 202, sent byte for byte, and its outcome can be read")
    func wholeWay() async throws {
        try await serve { port in
            let answer = try await post(body(), to: port)
            #expect(answer.status == 202)
            let id = try #require(try answer.json()["id"] as? String)
            #expect(answer.head.contains("/v1/wakes/\(id)"))
            await store.waitUntilSettled(1)
            #expect(sender.sent.map(\.payload) == [Array(payload.utf8)])

            let record = try await HTTPExchange.send(
                "GET", "/v1/wakes/\(id)", headers: headers, port: port)
            #expect(record.status == 200)
            let json = try record.json()
            #expect(json["state"] as? String == "sent")
            #expect(json["apns_id"] as? String == id)
            #expect(json["device"] as? String == Samples.deviceToken().description)
            #expect((json["outcome"] as? [String: Any])?["status"] as? Int == 200)
            #expect((json["attempts"] as? [Any])?.count == 1)
            #expect(!record.body.contains(Samples.deviceToken().hex))
        }
    }

    @Test("Health and readiness need no key; everything else does")
    func access() async throws {
        try await serve { port in
            #expect(try await HTTPExchange.send("GET", "/healthz", port: port).status == 200)
            let ready = try await HTTPExchange.send("GET", "/readyz", port: port)
            #expect(ready.status == 200)
            #expect(ready.body == #"{"status":"ready","reasons":[]}"#)
            for authorization in [nil, "Bearer wrong", "Basic \(secret)", "Bearer", secret] {
                let headers = authorization.map { ["Authorization": $0] } ?? [:]
                let answer = try await HTTPExchange.send(
                    "POST", "/v1/wakes", body: body(), headers: headers, port: port)
                try expectProblem(answer, .unauthorized)
                #expect(answer.head.lowercased().contains("www-authenticate: bearer"))
            }
            store.fail(with: StoreFailure(kind: .full, message: "The disk is full."))
            let refused = try await post(body(), to: port)
            try expectProblem(refused, .unavailable)
            #expect(refused.head.lowercased().contains("retry-after: 5"))
            let unready = try await HTTPExchange.send("GET", "/readyz", port: port)
            #expect(unready.status == 503)
            #expect(unready.body.contains("The disk is full."))
            store.fail(with: nil)
        }
    }

    @Test("What cannot be is refused with a problem that names the field")
    func refusals() async throws {
        let token = Samples.deviceToken().hex
        let cases: [(String, ProblemCode, String)] = [
            ("", .malformedBody, "not a JSON object"),
            ("[1]", .malformedBody, "not a JSON object"),
            ("{\"kind\":1", .malformedBody, "missing"),
            ("{}", .invalidField, "payload is missing"),
            (body(",\"prio\":5"), .invalidField, "prio is not a member"),
            (body(token: "xyz"), .invalidField, "device token holds"),
            (body(",\"ttl_seconds\":1795000000"), .invalidField, "ttl_seconds"),
            (body(",\"ttl_seconds\":\"60\""), .invalidField, "ttl_seconds"),
            (body(",\"expires_at\":\"tomorrow\""), .invalidField, "expires_at"),
            (
                body(",\"expires_at\":\"2036-11-21T09:34:00Z\",\"ttl_seconds\":60"),
                .invalidField, "beside ttl_seconds"
            ),
            (body(",\"environment\":\"Sandbox\""), .invalidField, "production or sandbox"),
            (body(",\"environment\":\"production\""), .unknownApp, "configuration"),
            (
                body().replacingOccurrences(of: "com.example.app", with: "com.example.none"),
                .unknownApp, "configuration"
            ),
            (
                body().replacingOccurrences(of: "\"background\"", with: "\"alert\""), .invalidField,
                "kind"
            ),
            (
                "{\"kind\":\"voip\",\"device_token\":\"\(token)\",\"app\":\"com.example.app\","
                    + "\"payload\":\"{}\"}", .invalidField, "payload is not a JSON object"
            ),
        ]
        try await serve { port in
            for (text, code, words) in cases {
                let answer = try await post(text, to: port)
                try expectProblem(answer, code)
                #expect(answer.body.contains(words), "\(answer.body)")
            }
            #expect(try await store.recount().accepted == 0)
        }
    }

    @Test("The findings of the rules come with rule, place and remedy")
    func diagnostics() async throws {
        try await serve { port in
            let text = body().replacingOccurrences(of: "\"content-available\": 1", with: "")
            let answer = try await post(text, to: port)
            try expectProblem(answer, .invalidWake)
            let diagnostics = try #require(try answer.json()["diagnostics"] as? [[String: Any]])
            #expect(!diagnostics.isEmpty)
            #expect(
                diagnostics.allSatisfy {
                    $0["rule"] is String && $0["line"] is Int && $0["fix"] is String
                })
        }
    }

    @Test("The same idempotency key gives the same answer; another body is a conflict")
    func idempotency() async throws {
        try await serve { port in
            let key = ["Idempotency-Key": "k-1"]
            let first = try await post(body(), to: port, headers: key)
            let second = try await post(body(), to: port, headers: key)
            #expect(first.status == 202 && second.status == 202)
            #expect(first.body == second.body)
            try expectProblem(
                try await post(body(",\"ttl_seconds\":60"), to: port, headers: key),
                .idempotencyConflict)
            let other = try await post(body(), to: port, headers: ["Idempotency-Key": "k-2"])
            #expect(other.body != first.body)
            #expect(try await store.recount().accepted == 2)
        }
    }

    @Test("Paths, methods, media types and ids that do not exist are refused")
    func misdirected() async throws {
        try await serve { port in
            func get(_ path: String) async throws -> HTTPExchange {
                try await HTTPExchange.send("GET", path, headers: headers, port: port)
            }
            try expectProblem(try await get("/nothing"), .notFound)
            try expectProblem(try await get("/v1/wakes/\(Samples.freshID())"), .notFound)
            try expectProblem(try await get("/v1/wakes/42"), .invalidField)
            try expectProblem(
                try await post(body(), to: port, headers: ["Content-Type": "text/plain"]),
                .unsupportedMediaType)
            let parameter = ["Content-Type": "application/json ; charset=utf-8"]
            #expect(try await post(body(), to: port, headers: parameter).status == 202)
        }
    }

    @Test("Too large a body is refused, with and without Content-Length")
    func bodyLimit() async throws {
        try await serve { port in
            let large = body(",\"collapse_id\":\"\(String(repeating: "x", count: 70_000))\"")
            try expectProblem(try await post(large, to: port), .bodyTooLarge)

            let chunk = String(repeating: "x", count: 0x2000)
            let head =
                "POST /v1/wakes HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                + "Authorization: Bearer \(secret)\r\nTransfer-Encoding: chunked\r\n\r\n"
            let chunks = String(repeating: "2000\r\n\(chunk)\r\n", count: 10) + "0\r\n\r\n"
            try expectProblem(
                try await HTTPExchange.raw(Array((head + chunks).utf8), port: port), .bodyTooLarge)
        }
    }

    @Test("Too large a header ends the connection with a 4xx")
    func headerLimit() async throws {
        try await serve { port in
            let answer = try await HTTPExchange.send(
                "GET", "/healthz", headers: ["X-Large": String(repeating: "x", count: 20_000)],
                port: port)
            #expect((400..<500).contains(answer.status))
        }
    }

    @Test("A body that does not arrive in time ends the connection")
    func slowBody() async throws {
        var configuration = try configuration
        configuration.bodySeconds = 1
        let gateway = sampleGateway(store: store, sender: sender)
        try await withAPI(gateway, configuration: configuration) { port in
            let head =
                "POST /v1/wakes HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n"
                + "Authorization: Bearer \(secret)\r\n\r\n{"
            let start = ContinuousClock.now
            let answer = try await HTTPExchange.raw(Array(head.utf8), port: port)
            #expect(answer.status != 202)
            #expect(start.duration(to: .now) < .seconds(4))
        }
    }

    @Test("An overloaded gateway answers 429 with Retry-After")
    func overload() async throws {
        var limits = GatewayLimits()
        limits.intakeQueueCount = 1
        limits.intakeBatchCount = 1
        let gateway = sampleGateway(store: store, sender: sender, limits: limits)
        store.closeGate()
        try await withAPI(gateway, configuration: configuration) { port in
            let answers = try await withThrowingTaskGroup(of: HTTPExchange.self) { group in
                for _ in 0..<6 { group.addTask { try await post(body(), to: port) } }
                var answers: [HTTPExchange] = []
                for try await answer in group {
                    answers.append(answer)
                    // One is being written and one waits; the others come back first.
                    if answers.count == 4 { store.openGate() }
                }
                return answers
            }
            let refused = answers.filter { $0.status == 429 }
            #expect(refused.count >= 4)
            for answer in refused {
                try expectProblem(answer, .overloaded)
                #expect(answer.head.lowercased().contains("retry-after: 1"))
            }
        }
    }
}
