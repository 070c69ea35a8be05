// SPDX-License-Identifier: Apache-2.0

import Foundation
import Gateway
import GatewayTestKit
import Testing
import WakeModel

@testable import AdminAPI

@Suite("Apps, statistics, validation and events over real sockets", .timeLimit(.minutes(10)))
struct AppRoutesTests {
    @Test("A paused app takes wakes and sends none until it is resumed")
    func pause() async throws {
        let bench = try APIBench()
        try await bench.serve { caller in
            let apps = try await caller.send("GET", "/v1/apps", as: .read).json()
            #expect((apps["apps"] as? [Any])?.count == 2)
            let path = "/v1/apps/com.example.app"
            let paused = try await caller.send("POST", path + "/pause?reason=moving%20keys")
            #expect(paused.status == 200, "\(paused.body)")
            let reason = (try paused.json()["paused"] as? [String: Any])?["reason"] as? String
            #expect(reason == "moving keys")
            let ready = try await caller.send("GET", "/readyz", as: nil)
            #expect(ready.status == 200)
            let warnings = try #require(try ready.json()["warnings"] as? [String])
            #expect(warnings.count == 1)
            #expect(warnings[0].hasPrefix("com.example.app (sandbox): The app is paused since "))
            // Everybody may read it, so that it does not say what the operator wrote.
            #expect(!ready.body.contains("moving keys"))
            let id = try await caller.wake()
            let record = try await caller.send("GET", "/v1/wakes/\(id)").json()
            #expect(record["state"] as? String == "pending")
            #expect(bench.sender.sent.isEmpty)
            let waiting = try #require(record["waiting"] as? [String: Any])
            #expect(waiting["open_ended"] as? Bool == true)
            let message = try #require(waiting["message"] as? String)
            #expect(message.hasPrefix("Deferred: the app is paused. It will expire at "))
            #expect(record["due_at"] == nil)
            let listed = try #require(
                try await caller.send("GET", "/v1/apps").json()["apps"] as? [[String: Any]])
            let app = try #require(listed.first { $0["app"] as? String == "com.example.app" })
            let queues = try #require(app["queues"] as? [[String: Any]])
            #expect(queues.map { $0["state"] as? String } == ["paused", "paused"])
            // The answer to the request says it at once, and a repetition says the same.
            let body = APIBench.body(device: 8)
            let key = ["Idempotency-Key": "one"]
            let first = try await caller.send("POST", "/v1/wakes", body, headers: key)
            let decision = try #require(try first.json()["decision"] as? [String: Any])
            #expect(decision["type"] as? String == "deferred")
            #expect(decision["reasons"] as? [String] == ["paused"])
            #expect(decision["due_at"] == nil)
            let words = try #require(decision["message"] as? String)
            #expect(words.hasPrefix("Deferred: the app is paused."))
            let again = try await caller.send("POST", "/v1/wakes", body, headers: key)
            #expect(again.body == first.body)
            _ = try await caller.send("DELETE", "/v1/wakes/\(try #require(first.json()["id"]))")
            #expect(try await caller.send("POST", path + "/resume").status == 200)
            #expect(try await caller.send("GET", "/readyz").body.contains(#""warnings":[]"#))
            await bench.sender.waitUntilSent(1)
            try expectProblem(
                try await caller.send("POST", "/v1/apps/com.example.none/pause"), .unknownApp)
            try expectProblem(
                try await caller.send("POST", path + "/pause?environment=production"), .unknownApp)
        }
    }

    @Test("Nobody without a key reads why an app is paused, held as it may be")
    func pauseReasonOfHeld() async throws {
        let bench = try APIBench(
            sender: ScriptedSender { _ in Samples.refusal(403, .invalidProviderToken) })
        try await bench.serve { caller in
            _ = try await caller.wake()
            var page = ""
            while !page.contains("is held since") {
                try await Task.sleep(for: .milliseconds(5))
                page = try await caller.send("GET", "/readyz", as: nil).body
            }
            _ = try await caller.send("POST", "/v1/apps/com.example.app/pause?reason=moving")
            page = try await caller.send("GET", "/readyz", as: nil).body
            #expect(page.contains("The app is paused since") && page.contains("is held since"))
            #expect(!page.contains("moving"))
        }
    }

    @Test("A body that a route does not read is refused, and nothing is done")
    func bodies() async throws {
        let bench = try APIBench()
        try await bench.serve { caller in
            let pause = "/v1/apps/com.example.app/pause"
            for (method, path) in [
                ("POST", pause), ("DELETE", "/v1/users/u-1/devices"), ("GET", "/v1/wakes"),
            ] {
                let answer = try await caller.send(method, path, #"{"app":"com.example.app"}"#)
                try expectProblem(answer, .invalidField)
                #expect(try answer.json()["field"] as? String == "body")
            }
            let app = try await caller.send("GET", "/v1/apps/com.example.app").json()
            #expect(app["paused"] == nil)
            // It asks for nothing; many programs send one of these.
            for empty in [" {}\n", "[]", "null"] {
                #expect(try await caller.send("POST", pause, empty).status == 200)
            }
            // No bytes are no body, however that is written.
            let key = try #require(bench.keys[.admin]).text
            for field in [
                "Content-Length: 0\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            ] {
                let head =
                    "POST \(pause) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                    + "Authorization: Bearer \(key)\r\n"
                let answer = try await HTTPExchange.raw(
                    Array((head + field).utf8), port: caller.port)
                #expect(answer.status == 200, "\(answer)")
            }
        }
    }

    @Test("One app is answered with what waits for it, in the store and due")
    func backlog() async throws {
        let bench = try APIBench()
        try await bench.serve { caller in
            let path = "/v1/apps/com.example.app"
            _ = try await caller.send("POST", path + "/pause")
            func queues() async throws -> [String: [String: Any]] {
                let answer = try await caller.send("GET", path, as: .read)
                #expect(answer.status == 200, "\(answer.body)")
                let queues = try #require(try answer.json()["queues"] as? [[String: Any]])
                return Dictionary(
                    uniqueKeysWithValues: queues.map { ($0["kind"] as? String ?? "", $0) })
            }
            #expect(try await queues()["background"]?["waiting"] as? Int == 0)
            for device: UInt64 in 1...3 { _ = try await caller.wake(device: device) }
            let waiting = try await queues()
            #expect(waiting["background"]?["waiting"] as? Int == 3)
            #expect(waiting["voip"]?["waiting"] as? Int == 0)
            #expect(waiting["background"]?["oldest_due_milliseconds"] is Int)
            // Lists do not count: that would cost as much as there are wakes of all apps.
            let list = try await caller.send("GET", "/v1/apps", as: .read)
            #expect(!list.body.contains("oldest_due_milliseconds"))
            try expectProblem(
                try await caller.send("GET", "/v1/apps/com.example.none"), .unknownApp)
        }
    }

    @Test("An app says whether it is counted by its name, and its history has no more than that")
    func countedByName() async throws {
        let bench = try APIBench()
        let others = (0..<MetricsRegistry.appCount).map {
            Samples.identity("com.example.a\($0)", .sandbox)
        }
        bench.gateway.reload(
            GatewayConfiguration(apps: others + [Samples.app]), sender: bench.sender)
        try await bench.serve { caller in
            for (app, isCounted) in [("com.example.a7", true), ("com.example.app", false)] {
                let answer = try await caller.send("GET", "/v1/apps/\(app)", as: .read)
                #expect(try answer.json()["counted_by_name"] as? Bool == isCounted, "\(app)")
                var points: [[String: Any]] = []
                while points.isEmpty {
                    let answer = try await caller.send("GET", "/v1/history?app=\(app)", as: .read)
                    points = try #require(try answer.json()["points"] as? [[String: Any]])
                    await Task.yield()
                }
                #expect((points[0]["decisions"] != nil) == isCounted, "\(app)")
            }
        }
    }

    @Test("An app in two environments asks for one of them, which no schema can say")
    func ambiguousEnvironment() async throws {
        let bench = try APIBench()
        let both = [Samples.app, Samples.identity("com.example.app", .production)]
        bench.gateway.reload(GatewayConfiguration(apps: both), sender: bench.sender)
        try await bench.serve { caller in
            for (method, path, body) in [
                ("GET", "/v1/apps/com.example.app", nil), ("POST", "/v1/wakes", APIBench.body()),
            ] {
                let answer = try await caller.send(method, path, body)
                try expectProblem(answer, .ambiguousEnvironment)
                #expect(answer.status == 409)
            }
        }
    }

    @Test("A reason that a terminal would obey, or nobody would read, is refused")
    func pauseReason() async throws {
        try await APIBench().serve { caller in
            let path = "/v1/apps/com.example.app/pause?reason="
            let token = Samples.deviceToken().hex
            for reason in ["a%1b%5b2Jb", "%07", "a%0ab", "%c2%9b31m", "%7f", "", long, token] {
                let answer = try await caller.send("POST", path + reason)
                try expectProblem(answer, .invalidField)
                #expect(answer.body.contains("reason"), "\(answer.body)")
            }
            let apps = try await caller.send("GET", "/v1/apps", as: .read)
            #expect(!apps.body.contains("\"paused\""), "\(apps.body)")
            let accents = try await caller.send("POST", path + "caf%C3%A9%20%E2%98%95")
            #expect(accents.status == 200, "\(accents.body)")
        }
    }

    @Test("The document refuses the reasons that the server refuses, and no others")
    func pauseReasonPattern() async throws {
        try await APIBench().serve { caller in
            let document = try await caller.send("GET", "/openapi.json").json()
            let paths = try #require(document["paths"] as? [String: [String: Any]])
            let pause = try #require(paths["/v1/apps/{topic}/pause"]?["post"] as? [String: Any])
            let parameters = try #require(pause["parameters"] as? [[String: Any]])
            let reason = try #require(parameters.first { $0["name"] as? String == "reason" })
            let schema = try #require(reason["schema"] as? [String: Any])
            let pattern = try #require(schema["pattern"] as? String)
            let token = Samples.deviceToken().hex
            let short = String(repeating: "0", count: 63)
            for text in [
                token, "of " + token, token.uppercased() + ".", short + "00", "a\u{1b}b", "\u{9b}",
                short, short + " " + short, "moving keys", "caf\u{e9}", "0", " ",
            ] {
                let isAllowed = text.range(of: pattern, options: .regularExpression) != nil
                let escaped = try #require(
                    text.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
                let path = "/v1/apps/com.example.app/pause?reason="
                let answer = try await caller.send("POST", path + escaped)
                #expect(isAllowed == (answer.status == 200), "\(escaped): \(answer.body)")
            }
        }
    }

    @Test("A problem names the parameter or member as its caller wrote it")
    func fields() async throws {
        try await APIBench().serve { caller in
            let unknown = try await caller.send("GET", "/v1/wakes?stat=sent")
            try expectProblem(unknown, .invalidField)
            #expect(try unknown.json()["field"] as? String == "stat")
            #expect(unknown.body.contains("stat: unknown query parameter"), "\(unknown.body)")
            // The name could be anything, a device token too: such a one is not repeated.
            let token = Samples.deviceToken().hex
            let secret = try await caller.send("GET", "/v1/apps?\(token)=1")
            try expectProblem(secret, .invalidField)
            let body = APIBench.body().replacing(token, with: "xyz")
            let cut = try await caller.send("POST", "/v1/wakes", body)
            try expectProblem(cut, .invalidField)
            #expect(try cut.json()["field"] as? String == "device_token")
            let stranger = APIBench.body().replacing("com.example.app", with: "com.example.none")
            let answer = try await caller.send("POST", "/v1/wakes", stranger)
            try expectProblem(answer, .unknownApp)
            #expect(try answer.json()["field"] as? String == "app")
        }
    }

    private var long: String { String(repeating: "a", count: 201) }

    @Test("The counts count what was accepted and where it is")
    func stats() async throws {
        try await APIBench().serve { caller in
            _ = try await caller.send("POST", "/v1/wakes?wait=outcome", APIBench.body())
            let stats = try await caller.send("GET", "/v1/stats", as: .read).json()
            #expect(stats["accepted"] as? Int == 1)
            #expect((stats["by_state"] as? [String: Int])?["sent"] == 1)
        }
    }

    @Test("The validator finds what the command finds, in a payload and in headers")
    func validate() async throws {
        try await APIBench().serve { caller in
            func report(_ body: String) async throws -> [String: Any] {
                let answer = try await caller.send("POST", "/v1/validate", body, as: .wake)
                #expect(answer.status == 200, "\(answer.body)")
                return try answer.json()
            }
            let good = try await report("{\"payload\":{\"aps\":{\"content-available\":1}}}")
            #expect(good["valid"] as? Bool == true)
            #expect(good["push_type"] as? String == "background")
            #expect(good["push_type_is_inferred"] as? Bool == true)
            let bad = try await report(
                "{\"headers\":{\"apns-push-type\":\"background\",\"apns-priority\":\"10\"},"
                    + "\"payload\":{\"aps\":{\"content-available\":1}}}")
            #expect(bad["valid"] as? Bool == false)
            let findings = try #require(bad["diagnostics"] as? [[String: Any]])
            #expect(findings.contains { $0["header"] as? String == "apns-priority" })
            let text = try await report("{\"payload_text\":\"{\\\"aps\\\":\"}")
            #expect(text["valid"] as? Bool == false)
            let nothing = try await caller.send("POST", "/v1/validate", "{}")
            #expect(nothing.body.contains("payload is missing. Add it"), "\(nothing.body)")
            #expect(nothing.body.contains("payload_text"), "\(nothing.body)")
            for body in [
                "{}", "{\"payload\":{},\"payload_text\":\"\"}", "{\"payload\":{},\"headers\":[]}",
                "{\"payload\":{},\"headers\":{\"a\":1}}", "{\"payload\":{},\"target\":\"tv\"}",
            ] {
                try expectProblem(
                    try await caller.send("POST", "/v1/validate", body), .invalidField)
            }
        }
    }

    @Test(
        "A payload that is no object is a finding, which the document allows for",
        arguments: ["[]", "7", "true", "\"{}\""])
    func validateNoObject(payload: String) async throws {
        try await APIBench().serve { caller in
            let answer = try await caller.send(
                "POST", "/v1/validate", "{\"payload\":\(payload)}", as: .wake)
            #expect(answer.status == 200, "\(answer.body)")
            let findings = try #require(try answer.json()["diagnostics"] as? [[String: Any]])
            #expect(findings.contains { $0["rule"] as? String == "G001" }, "\(answer.body)")

            let document = try await caller.send("GET", "/openapi.json", as: nil).json()
            let components = document["components"] as? [String: Any]
            let schemas = components?["schemas"] as? [String: [String: Any]]
            let members = schemas?["ValidationRequest"]?["properties"] as? [String: [String: Any]]
            let schema = try #require(members?["payload"])
            #expect(schema["type"] == nil, "\(schema)")
        }
    }

    @Test("Outcomes come as server-sent events, and a shutdown ends the stream")
    func events() async throws {
        let bench = try APIBench()
        let secret = try #require(bench.keys[.read]).text
        let (port, continuation) = AsyncStream.makeStream(of: Int.self)
        let stream = Task {
            for await port in port {
                let head =
                    "GET /v1/events HTTP/1.1\r\nHost: localhost\r\n"
                    + "Authorization: Bearer \(secret)\r\n\r\n"
                return try await HTTPExchange.raw(Array(head.utf8), port: port)
            }
            throw CancellationError()
        }
        try await bench.serve { caller in
            continuation.yield(caller.port)
            var streams = 0
            while streams == 0 {
                streams =
                    try await caller.send("GET", "/v1/stats").json()["event_streams"] as? Int ?? 0
            }
            _ = try await caller.send(
                "POST", "/v1/wakes?wait=outcome", APIBench.body(#","ref":"order-1""#))
        }
        let answer = try await stream.value
        #expect(answer.body.contains("\"ref\":\"order-1\""), "\(answer.body)")
        #expect(answer.status == 200)
        #expect(answer.head.contains("text/event-stream"))
        #expect(answer.body.contains("retry: 3000"))
        #expect(
            answer.body.contains(/event: outcome\nid: [1-9][0-9]*\ndata: \{/), "\(answer.body)")
        #expect(answer.body.contains("\"state\":\"sent\""))
    }

    @Test("An event stream ends when the time is up that its reader asked for")
    func boundedEvents() async throws {
        try await APIBench().serve { caller in
            // Without a keep-alive: it is the end of the answer that ends the reading.
            let answer = try await caller.send("GET", "/v1/events?seconds=1", as: .read)
            #expect(answer.status == 200)
            #expect(answer.body.contains("retry: 3000"))
            #expect(answer.body.hasSuffix("0\r\n\r\n"), "the answer was not ended: \(answer.body)")
            #expect(try await caller.send("GET", "/v1/stats").json()["event_streams"] as? Int == 0)
            for seconds in ["0", "86401", "x"] {
                try expectProblem(
                    try await caller.send("GET", "/v1/events?seconds=\(seconds)"), .invalidField)
            }
        }
    }

    @Test("Health and readiness are open to everybody")
    func health() async throws {
        try await APIBench().serve { caller in
            #expect(try await caller.send("GET", "/healthz", as: nil).status == 200)
            let ready = try await caller.send("GET", "/readyz", as: nil)
            #expect(ready.status == 200)
            #expect(ready.body == #"{"status":"ready","reasons":[],"warnings":[]}"#)
        }
    }
}
