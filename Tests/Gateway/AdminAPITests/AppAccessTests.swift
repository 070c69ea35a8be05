// SPDX-License-Identifier: Apache-2.0

import Foundation
import Gateway
import GatewayTestKit
import HTTPTypes
import Testing
import WakeModel

@testable import AdminAPI

@Suite("Keys for some apps, over real sockets", .timeLimit(.minutes(10)))
struct AppAccessTests {
    /// A gateway with two apps, a key for everything, and keys for one app or the other.
    private struct Bench {
        let own = KeySecret((11, 0, 0, 0))
        let other = KeySecret((12, 0, 0, 0))
        let bench: APIBench
        let ring: KeyRing

        init(sender: ScriptedSender = ScriptedSender()) throws {
            var bench = try APIBench(sender: sender)
            ring = KeyRing(try Self.keys(bench, own, other))
            bench.configuration.authentication = .keys(ring)
            self.bench = bench
        }

        private static func keys(
            _ bench: APIBench, _ own: KeySecret, _ other: KeySecret
        ) throws -> [APIKey] {
            var keys: [APIKey] = []
            for (scope, secret) in bench.keys {
                keys.append(
                    try APIKey(name: scope.rawValue, sha256: secret.sha256, scopes: [scope]))
            }
            keys.append(
                try APIKey(
                    name: "own", sha256: own.sha256, scopes: [.admin],
                    apps: [Samples.app.bundleID]))
            keys.append(
                try APIKey(
                    name: "other", sha256: other.sha256, scopes: [.admin],
                    apps: [Samples.otherApp.bundleID]))
            return keys
        }

        /// Takes the key for the first app away.
        func revoke() throws { ring.replace(with: try Self.keys(bench, own, other).dropLast(2)) }

        func serve(_ body: (Caller) async throws -> Void) async throws {
            try await bench.serve { caller in
                try await body(Caller(caller: caller, own: own, other: other))
            }
        }
    }

    private struct Caller {
        let caller: APIBench.Caller
        let own: KeySecret
        let other: KeySecret

        func send(
            _ method: String, _ path: String, _ body: String? = nil, as secret: KeySecret,
            type: String = "application/json"
        ) async throws -> HTTPExchange {
            try await caller.send(
                method, path, body, as: nil,
                headers: ["Authorization": "Bearer \(secret.text)", "Content-Type": type])
        }

        /// Asks for a wake of the first app, or of the other.
        func wake(
            _ app: AppIdentity = Samples.app, device: UInt64 = 7, more: String = ""
        ) async throws -> String {
            let answer = try await send(
                "POST", "/v1/wakes", AppAccessTests.body(app, device: device, more),
                as: app == Samples.app ? own : other)
            try #require(answer.status == 202, "\(answer.body)")
            return try #require(try answer.json()["id"] as? String)
        }
    }

    private static func body(
        _ app: AppIdentity, device: UInt64 = 7, _ more: String = ""
    ) -> String {
        APIBench.body(device: device, more)
            .replacing("com.example.app", with: app.bundleID.value)
    }

    /// Expects a refusal that names the field, and is the same for an app that does not exist.
    private static func expectRefused(_ answer: HTTPExchange, _ field: String) throws {
        try expectProblem(answer, .appNotAllowed)
        let json = try answer.json()
        #expect(json["field"] as? String == field, "\(answer.body)")
        let detail = try #require(json["detail"] as? String)
        #expect(detail.hasPrefix("\(field): the key other may not use the app "), "\(detail)")
    }

    @Test("Every route has been looked at")
    func completeness() throws {
        let bench = try APIBench()
        let services = bench.services
        let known: Set = [
            "POST /v1/wakes", "POST /v1/wakes/batch", "POST /v1/wakes/multicast",
            "GET /v1/wakes", "POST /v1/wakes/lookup", "GET /v1/wakes/{id}",
            "DELETE /v1/wakes/{id}", "GET /v1/devices/{token}", "DELETE /v1/devices/{token}",
            "POST /v1/devices/lookup", "POST /v1/devices/forget",
            "PUT /v1/devices/{token}/signals", "PUT /v1/devices/signals",
            "POST /v1/devices/{token}/registered", "PUT /v1/devices/{token}/registered",
            "PUT /v1/devices/registered",
            "GET /v1/users/{user}/devices", "DELETE /v1/users/{user}/devices",
            "DELETE /v1/users/{user}/devices/{token}",
            "POST /v1/channels", "GET /v1/channels", "GET /v1/channels/{channel}",
            "DELETE /v1/channels/{channel}", "POST /v1/channels/{channel}/broadcasts",
            "POST /v1/receipts", "GET /v1/feedback", "GET /v1/events", "GET /v1/apps",
            "GET /v1/apps/{topic}", "POST /v1/apps/{topic}/pause", "POST /v1/apps/{topic}/resume",
            "GET /v1/stats",
            "GET /v1/webhooks", "GET /v1/history",
            "GET /metrics",
            // Knows of no app: it judges the payload and the headers that it is given.
            "POST /v1/validate",
        ]
        let guarded = RouteTable(services).routes.filter { $0.access != .open }
            .map { "\($0.method.rawValue) \($0.path)" }
        #expect(Set(guarded) == known)
    }

    @Test("Another app that a request names is refused with the field, known or not")
    func named() async throws {
        try await Bench().serve { caller in
            let token = Samples.deviceToken().hex
            for app in ["com.example.app", "com.example.unknown"] {
                let body = APIBench.body().replacing("com.example.app", with: app)
                try Self.expectRefused(
                    try await caller.send("POST", "/v1/wakes", body, as: caller.other), "app")
                try Self.expectRefused(
                    try await caller.send(
                        "POST", "/v1/wakes", body.replacing(#""app":"#, with: #""topic":"#),
                        as: caller.other), "topic")
                try Self.expectRefused(
                    try await caller.send(
                        "POST", "/v1/wakes/multicast",
                        body.replacing(#""device_token":"\#(token)""#, with: "")
                            .replacing("{\"kind\"", with: "{\"device_tokens\":[\"aa\"],\"kind\"")
                            .replacing(",,", with: ","),
                        as: caller.other), "app")
                for (method, path) in [
                    ("GET", "/v1/channels"), ("GET", "/v1/channels/YQ%3D%3D"),
                    ("DELETE", "/v1/channels/YQ%3D%3D"),
                ] {
                    try Self.expectRefused(
                        try await caller.send(method, "\(path)?app=\(app)", as: caller.other),
                        "app")
                }
                for (path, more) in [
                    ("/v1/channels", ""),
                    ("/v1/channels/YQ%3D%3D/broadcasts", #","payload":{"aps":{}}"#),
                ] {
                    try Self.expectRefused(
                        try await caller.send(
                            "POST", path, #"{"app":"\#(app)"\#(more)}"#, as: caller.other), "app")
                }
                for path in ["/v1/wakes", "/v1/devices/\(token)"] {
                    try Self.expectRefused(
                        try await caller.send("GET", "\(path)?app=\(app)", as: caller.other),
                        "app")
                }
                try Self.expectRefused(
                    try await caller.send(
                        "DELETE", "/v1/devices/\(token)?app=\(app)", as: caller.other), "app")
                for method in ["GET", "DELETE"] {
                    try Self.expectRefused(
                        try await caller.send(
                            method, "/v1/users/u/devices?app=\(app)", as: caller.other), "app")
                }
                try Self.expectRefused(
                    try await caller.send(
                        "POST", "/v1/wakes",
                        body.replacing(#""device_token":"\#(token)""#, with: #""user":"u""#),
                        as: caller.other), "app")
                try Self.expectRefused(
                    try await caller.send(
                        "PUT", "/v1/devices/\(token)/signals",
                        #"{"low_power_mode":true,"app":"\#(app)"}"#, as: caller.other), "app")
                try Self.expectRefused(
                    try await caller.send(
                        "POST", "/v1/devices/\(token)/registered", #"{"app":"\#(app)"}"#,
                        as: caller.other), "app")
                let device = #""device_token":"\#(token)","app":"\#(app)""#
                for (method, path, more) in [
                    ("POST", "/v1/wakes/lookup", ""), ("POST", "/v1/devices/lookup", ""),
                    ("POST", "/v1/devices/forget", ""), ("PUT", "/v1/devices/registered", ""),
                    ("PUT", "/v1/devices/signals", #","low_power_mode":true"#),
                ] {
                    try Self.expectRefused(
                        try await caller.send(method, path, "{\(device)\(more)}", as: caller.other),
                        "app")
                }
                for (method, verb) in [("POST", "/pause"), ("POST", "/resume"), ("GET", "")] {
                    try Self.expectRefused(
                        try await caller.send(
                            method, "/v1/apps/\(app)\(verb)", as: caller.other), "topic")
                }
            }
            for path in ["/v1/stats", "/v1/webhooks", "/v1/history", "/metrics"] {
                try expectProblem(
                    try await caller.send("GET", path, as: caller.other), .appNotAllowed)
                #expect(try await caller.caller.send("GET", path).status == 200)
            }
        }
    }

    @Test("Another app's registrations of a user do not exist: not to list and not to remove")
    func users() async throws {
        try await Bench().serve { caller in
            let path = "/v1/users/u/devices"
            func count(_ secret: KeySecret) async throws -> Int? {
                let answer = try await caller.send("GET", path, as: secret)
                return (try answer.json()["devices"] as? [Any])?.count
            }
            for (app, secret, device) in [
                (Samples.app, caller.own, 1), (Samples.otherApp, caller.other, 2),
                (Samples.otherApp, caller.other, 3),
            ] as [(AppIdentity, KeySecret, UInt64)] {
                let answer = try await caller.send(
                    "POST", "/v1/devices/\(Samples.deviceToken(device).hex)/registered",
                    #"{"app":"\#(app.bundleID.value)","user":"u"}"#, as: secret)
                #expect(answer.status == 200, "\(answer.body)")
            }
            #expect(try await count(caller.own) == 1)
            #expect(try await count(caller.other) == 2)
            let foreign = "\(path)/\(Samples.deviceToken(1).hex)"
            try expectProblem(
                try await caller.send("DELETE", foreign, as: caller.other), .noDevices)
            let removed = try await caller.send("DELETE", path, as: caller.other)
            #expect(try removed.json()["removed"] as? Int == 2, "\(removed.body)")
            #expect(try await count(caller.own) == 1)
        }
    }

    @Test("In a batch each item is refused or taken by itself")
    func batch() async throws {
        try await Bench().serve { caller in
            let items = [Self.body(Samples.app), Self.body(Samples.otherApp)]
            let answer = try await caller.send(
                "POST", "/v1/wakes/batch", "[\(items.joined(separator: ","))]", as: caller.other)
            #expect(answer.status == 200)
            let results = try #require(try answer.json()["items"] as? [[String: Any]])
            #expect(results.map { $0["status"] as? Int } == [403, 202])
            let problem = try #require(results[0]["problem"] as? [String: Any])
            #expect(problem["code"] as? String == "app-not-allowed")
            #expect(problem["field"] as? String == "app")
        }
    }

    @Test("Another app's wakes do not exist: not to read, to list, to cancel or to confirm")
    func wakes() async throws {
        try await Bench().serve { caller in
            _ = try await caller.wake()
            let own = try await caller.wake(more: #","ref":"mine""#)
            let foreign = try await caller.wake(Samples.otherApp)
            let unknown = "\(Samples.freshID())"
            for method in ["GET", "DELETE"] {
                let there = try await caller.send(method, "/v1/wakes/\(own)", as: caller.other)
                let none = try await caller.send(method, "/v1/wakes/\(unknown)", as: caller.other)
                try expectProblem(there, .notFound)
                #expect(there.body == none.body)
            }
            for receipt in [
                #"{"id":"\#(own)"}"#,
                #"{"ref":"mine","device_token":"\#(Samples.deviceToken().hex)"}"#,
            ] {
                let answer = try await caller.send(
                    "POST", "/v1/receipts", receipt, as: caller.other)
                #expect(answer.body.contains("unknown-wake"), "\(answer.body)")
            }
            for query in [
                "", "?device=\(Samples.deviceToken().hex)", "?state=pending,claimed,sent",
                "?environment=production",
            ] {
                let page = try await caller.send("GET", "/v1/wakes\(query)", as: caller.other)
                let wakes = try #require(try page.json()["wakes"] as? [[String: Any]])
                #expect(wakes.map { $0["id"] as? String } == [foreign], "\(query)")
            }
            let mine = try await caller.send("GET", "/v1/wakes?ref=mine", as: caller.other)
            #expect(mine.body == #"{"wakes":[]}"#)
            let all = try await caller.caller.send("GET", "/v1/wakes")
            #expect((try all.json()["wakes"] as? [Any])?.count == 3)

            let cancelled = try await caller.send("DELETE", "/v1/wakes/\(own)", as: caller.own)
            #expect(cancelled.status == 200, "\(cancelled.body)")
        }
    }

    @Test("What another app has of a device does not exist, and stays")
    func devices() async throws {
        try await Bench().serve { caller in
            let path = "/v1/devices/\(Samples.deviceToken().hex)"
            _ = try await caller.wake()
            let waiting = try await caller.wake()
            let named = #"{"device_token":"\#(Samples.deviceToken().hex)"}"#
            for (method, place, body) in [
                ("GET", path, nil), ("PUT", path + "/signals", #"{"low_power_mode":true}"#),
                ("DELETE", path, nil), ("POST", "/v1/devices/lookup", named),
                ("POST", "/v1/devices/forget", named),
            ] {
                try expectProblem(
                    try await caller.send(method, place, body, as: caller.other), .notFound)
            }
            _ = try await caller.wake(Samples.otherApp)
            for (secret, app) in [
                (caller.own, "com.example.app"), (caller.other, "com.example.other"),
            ] {
                let device = try await caller.send("GET", path, as: secret)
                let queues = try #require(try device.json()["queues"] as? [[String: Any]])
                #expect(Set(queues.compactMap { $0["app"] as? String }) == [app])
            }
            let forgotten = try await caller.send("DELETE", path, as: caller.other)
            #expect(forgotten.status == 200, "\(forgotten.body)")
            let record = try await caller.send("GET", "/v1/wakes/\(waiting)", as: caller.own)
            #expect(try record.json()["state"] as? String == "pending")
        }
    }

    @Test("Apps and feedback are a key's own")
    func lists() async throws {
        let refusal = PushOutcome.Rejection(
            status: 410, reason: .unregistered, timestamp: SystemGatewayClock().now())
        let sender = ScriptedSender { _ in .success(.rejected(refusal)) }
        try await Bench(sender: sender).serve { caller in
            let apps = try await caller.send("GET", "/v1/apps", as: caller.other)
            let names = try #require(try apps.json()["apps"] as? [[String: Any]])
            #expect(names.map { $0["app"] as? String } == ["com.example.other"])
            let paused = try await caller.send(
                "POST", "/v1/apps/com.example.other/pause", as: caller.other)
            #expect(paused.status == 200, "\(paused.body)")

            let dead = try await caller.wake(more: #","ttl_seconds":3600"#)
            var count = 0
            for _ in 0..<500 where count == 0 {
                let feed = try await caller.send("GET", "/v1/feedback", as: caller.own)
                let entries = try #require(try feed.json()["entries"] as? [[String: Any]])
                count = entries.count
                #expect(entries.allSatisfy { $0["wake"] as? String == dead })
            }
            #expect(count == 1)
            let none = try await caller.send("GET", "/v1/feedback", as: caller.other)
            #expect(try none.json()["cursor"] as? Int == 0)
            #expect((try none.json()["entries"] as? [Any])?.isEmpty == true)
        }
    }

    @Test("A stream has the outcomes of its key's apps alone, in the order of their ids")
    func events() async throws {
        let bench = try Bench()
        try await bench.serve { caller in
            let reader = try EventReader(port: caller.caller.port, secret: caller.other.text)
            let beginning = await reader.read { $0.hasBegun }
            try #require(beginning.hasBegun)
            for device in 1..<5 {
                _ = try await caller.wake(device: UInt64(device))
                _ = try await caller.wake(Samples.otherApp, device: UInt64(device))
            }
            let tally = await reader.read { $0.outcomes.count >= 4 }
            #expect(tally.outcomes.count == 4)
            #expect(tally.outcomes == Set(tally.outcomes).sorted())
            #expect(tally.data.allSatisfy { $0.contains(Samples.otherApp.bundleID.value) })
        }
    }

    @Test("A key that is revoked while its body comes in asks for nothing any more")
    func revokedInBody() async throws {
        let bench = try Bench()
        try await bench.serve { caller in
            let body = Self.body(Samples.app)
            let asking = try OpenExchange(
                "POST /v1/wakes HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                    + "Authorization: Bearer \(caller.own.text)\r\nExpect: 100-continue\r\n"
                    + "Content-Length: \(body.utf8.count)\r\n\r\n", port: caller.caller.port)
            // The key has been looked at by then.
            #expect(await asking.read(until: "100 Continue").contains("100 Continue"))
            try bench.revoke()
            try asking.send(body)
            let answer = await asking.read(until: "no such text")
            #expect(answer.contains("HTTP/1.1 401"), "\(answer)")
            #expect(answer.contains("while the request came in"), "\(answer)")
        }
    }

    @Test("A revoked key ends its stream and its wait at once; another's go on")
    func revoked() async throws {
        // Nothing is answered, so that the wait would last its minute.
        let bench = try Bench(sender: ScriptedSender { _ in nil })
        try await bench.serve { caller in
            func stream(_ secret: KeySecret) throws -> OpenExchange {
                try OpenExchange(
                    "GET /v1/events HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                        + "Authorization: Bearer \(secret.text)\r\n\r\n", port: caller.caller.port)
            }
            let ending = try stream(caller.own)
            let lasting = try stream(bench.bench.keys[.read] ?? caller.own)
            defer { lasting.end() }
            for stream in [ending, lasting] {
                #expect(await stream.read(until: "retry: ").contains("200"))
            }
            async let wait = caller.send(
                "POST", "/v1/wakes?wait=outcome&timeout=60", Self.body(Samples.app),
                as: caller.own)
            await bench.bench.sender.waitUntilSent(1)
            let start = ContinuousClock.now
            try bench.revoke()
            #expect(try await wait.status == 202)
            _ = await ending.read()
            #expect(start.duration(to: .now) < .seconds(10))
            try expectProblem(
                try await caller.send("GET", "/v1/apps", as: caller.own), .unauthorized)
            #expect(try await caller.caller.send("GET", "/v1/apps", as: .read).status == 200)
        }
    }
}
