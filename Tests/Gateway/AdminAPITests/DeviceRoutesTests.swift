// SPDX-License-Identifier: Apache-2.0

import Foundation
import Gateway
import GatewayTestKit
import Testing
import WakeModel

@testable import AdminAPI

@Suite("Devices, receipts and feedback over real sockets", .timeLimit(.minutes(10)))
struct DeviceRoutesTests {
    private let path = "/v1/devices/\(Samples.deviceToken().hex)"

    @Test("A device tells its budget in words, what waits for it, and what came last")
    func view() async throws {
        try await APIBench().serve { caller in
            try expectProblem(try await caller.send("GET", path, as: .read), .notFound)
            let first = try await caller.wake()
            let second = try await caller.wake()
            let answer = try await caller.send("GET", path, as: .read)
            #expect(answer.status == 200)
            #expect(!answer.body.contains(Samples.deviceToken().hex))
            let queues = try #require(try answer.json()["queues"] as? [[String: Any]])
            let queue = try #require(queues.first { $0["kind"] as? String == "background" })
            #expect(queue["app"] as? String == "com.example.app")
            let explanation = try #require(queue["explanation"] as? [String])
            let pending = try #require(queue["pending"] as? [String: Any])
            // Not since the next whole second, which the ledger counts.
            let since = try #require(
                explanation.compactMap { $0.firstMatch(of: /since ([^,]+),/) }.first)
            #expect(try String(since.1) <= #require(pending["accepted_at"] as? String))
            #expect(pending["id"] as? String == second)
            let recent = try #require(queue["recent"] as? [[String: Any]])
            #expect(recent.contains { $0["id"] as? String == first })
            let budget = try #require(queue["budget"] as? [String: Any])
            #expect((budget["rules"] as? [Any])?.isEmpty == false)
        }
    }

    @Test("A device tells what keeps its whole app from sending")
    func obstacles() async throws {
        try await APIBench().serve { caller in
            func queue() async throws -> [String: Any] {
                let answer = try await caller.send("GET", path, as: .read)
                let queues = try #require(try answer.json()["queues"] as? [[String: Any]])
                return try #require(queues.first { $0["kind"] as? String == "background" })
            }
            func explanation() async throws -> [String] {
                try #require(try await queue()["explanation"] as? [String])
            }
            _ = try await caller.wake()
            let words = "The app is paused since "
            #expect(try await !explanation().contains { $0.hasPrefix(words) })
            #expect(try await queue()["next_send"] is String)
            let pause = "/v1/apps/com.example.app/pause?reason=a%20new%20key"
            #expect(try await caller.send("POST", pause, as: .admin).status == 200)
            let sentences = try await explanation()
            #expect(sentences[0].contains("would be deferred"), "\(sentences)")
            #expect(sentences[0].contains("the app is paused"), "\(sentences)")
            #expect(
                sentences.contains { $0.hasPrefix(words) && $0.contains(": \"a new key\".") })
            #expect(try await queue()["next_send"] == nil)
        }
    }

    @Test("A device whose token is dead has no next send")
    func noNextSend() async throws {
        let bench = try APIBench(
            sender: ScriptedSender { _ in Samples.refusal(410, .unregistered) })
        try await bench.serve { caller in
            let sent = try await caller.send(
                "POST", "/v1/wakes?wait=outcome", APIBench.body(), as: .wake)
            #expect(try sent.json()["state"] as? String == "undeliverable", "\(sent.body)")
            let answer = try await caller.send("GET", path, as: .read)
            let queues = try #require(try answer.json()["queues"] as? [[String: Any]])
            let queue = try #require(queues.first { $0["kind"] as? String == "background" })
            #expect(queue["dead_since"] is String && queue["next_send"] == nil, "\(answer.body)")
            let waiting = try #require(queue["waiting"] as? [String: Any])
            #expect(waiting["earliest"] == nil)
            #expect((waiting["message"] as? String)?.hasPrefix("APNs reported this token") == true)
        }
    }

    @Test("Signals hold a wake back and let it go; what cannot be is refused")
    func signals() async throws {
        try await APIBench().serve { caller in
            _ = try await caller.wake()
            let id = try await caller.wake()
            // What a modelled device reports.
            let report = """
                {"at":"2026-11-21T09:20:00.000Z","background_app_refresh":true,\
                "battery_percent":80,"charging":false,"foreground":true,"low_power_mode":false}
                """
            let answer = try await caller.send("PUT", path + "/signals", report, as: .device)
            #expect(answer.status == 200, "\(answer.body)")
            #expect(try answer.json()["ended"] as? [String] == [id])
            let record = try await caller.send("GET", "/v1/wakes/\(id)").json()
            #expect(record["state"] as? String == "superseded")

            for text in [
                "{}", "{\"charging\":true}", "{\"battery_percent\":101}", "{\"low_power\":true}",
                "{\"foreground\":\"yes\"}", "{\"foreground\":false}",
                "{\"foreground\":true,\"at\":\"noon\"}",
            ] {
                try expectProblem(
                    try await caller.send("PUT", path + "/signals", text), .invalidField)
            }
            let silent = try await caller.send("PUT", path + "/signals", "{\"foreground\":false}")
            #expect(silent.body.contains("foreground is false, which reports nothing."))
            let stranger = "/v1/devices/\(Samples.deviceToken(99).hex)"
            try expectProblem(
                try await caller.send("PUT", stranger + "/signals", report), .notFound)
        }
    }

    @Test("A registration makes a device known, and it can be forgotten")
    func registration() async throws {
        try await APIBench().serve { caller in
            let body = "{\"app\":\"com.example.app\"}"
            let made = try await caller.send("POST", path + "/registered", body, as: .device)
            #expect(made.status == 200, "\(made.body)")
            let view = try await caller.send("GET", path).json()
            let queue = try #require((view["queues"] as? [[String: Any]])?.first)
            #expect(queue["registered_at"] is String)
            let forgotten = try await caller.send("DELETE", path, as: .device)
            #expect(forgotten.status == 200, "\(forgotten.body)")
            try expectProblem(try await caller.send("GET", path), .notFound)
            try expectProblem(
                try await caller.send("POST", path + "/registered", "{\"app\":\"com.none\"}"),
                .unknownApp)
            try expectProblem(
                try await caller.send("POST", path + "/registered", "{}"), .invalidField)
            try expectProblem(
                try await caller.send("GET", "/v1/devices/xyz"), .invalidField)
        }
    }

    @Test("With the device token in the body, no request has it in its path")
    func bodies() async throws {
        try await APIBench().serve { caller in
            let token = Samples.deviceToken().hex
            func body(_ more: String = "") -> String { #"{"device_token":"\#(token)"\#(more)}"# }
            try expectProblem(
                try await caller.send("POST", "/v1/devices/lookup", body(), as: .read), .notFound)
            let registration = body(#","app":"com.example.app""#)
            for _ in 0..<2 {
                let made = try await caller.send(
                    "PUT", "/v1/devices/registered", registration, as: .device)
                #expect(made.body == #"{"ended":[]}"#)
            }
            let signals = body(#","battery_percent":80"#)
            #expect(
                try await caller.send("PUT", "/v1/devices/signals", signals, as: .device).status
                    == 200)
            let looked = try await caller.send("POST", "/v1/devices/lookup", body(), as: .read)
            #expect(looked.status == 200)
            let queue = try #require((try looked.json()["queues"] as? [[String: Any]])?.first)
            #expect(queue["device"] as? String == Samples.deviceToken().description)
            #expect(!looked.body.contains(token))
            _ = try await caller.wake()
            let waiting = try await caller.wake()
            let forgotten = try await caller.send(
                "POST", "/v1/devices/forget", body(#","environment":"sandbox""#), as: .device)
            #expect(forgotten.body == #"{"ended":["\#(waiting)"]}"#)
            for (method, name) in [
                ("POST", "lookup"), ("POST", "forget"), ("PUT", "signals"), ("PUT", "registered"),
            ] {
                for text in ["{}", #"{"device_token":"x"}"#, #"{"device_token":7}"#] {
                    let refused = try await caller.send(method, "/v1/devices/\(name)", text)
                    try expectProblem(refused, .invalidField)
                    #expect(try refused.json()["field"] as? String == "device_token")
                }
                let other = try await caller.send("GET", "/v1/devices/\(name)")
                try expectProblem(other, .methodNotAllowed)
            }
        }
    }

    @Test("A registration can be put, as often as one likes, with the same answer")
    func put() async throws {
        try await APIBench().serve { caller in
            for _ in 0..<2 {
                let answer = try await caller.send(
                    "PUT", path + "/registered", #"{"app":"com.example.app"}"#, as: .device)
                #expect(answer.body == #"{"ended":[]}"#)
            }
            let refused = try await caller.send(
                "PUT", path + "/registered", #"{"app":"com.example.app","device_token":"aa"}"#)
            try expectProblem(refused, .invalidField)
        }
    }

    @Test("An environment alone narrows what is asked for")
    func environment() async throws {
        try await APIBench().serve { caller in
            let id = try await caller.wake()
            let own = Samples.app.environment.rawValue
            let other = own == "sandbox" ? "production" : "sandbox"
            let listed = try await caller.send("GET", "/v1/wakes?environment=\(own)")
            #expect(listed.body.contains(id))
            #expect(
                try await caller.send("GET", "/v1/wakes?environment=\(other)").body
                    == #"{"wakes":[]}"#)
            #expect(
                try await caller.send("GET", path + "?environment=\(own)", as: .read).status == 200)
            try expectProblem(
                try await caller.send("GET", path + "?environment=\(other)", as: .read), .notFound)
            try expectProblem(
                try await caller.send("DELETE", path + "?environment=\(other)", as: .device),
                .notFound)
        }
    }

    @Test("A wake is found by its ref, in a list or by its device")
    func ref() async throws {
        try await APIBench().serve { caller in
            _ = try await caller.wake()
            let body = APIBench.body(device: 9, #","ref":"order-1""#)
            let answer = try await caller.send("POST", "/v1/wakes", body)
            let id = try #require(try answer.json()["id"] as? String)
            let token = Samples.deviceToken(9).hex
            for (method, path, body) in [
                ("GET", "/v1/wakes?ref=order-1", nil),
                ("GET", "/v1/wakes?ref=order-1&device=\(token)", nil),
                ("POST", "/v1/wakes/lookup", #"{"ref":"order-1"}"#),
                ("POST", "/v1/wakes/lookup", #"{"ref":"order-1","device_token":"\#(token)"}"#),
            ] {
                let page = try await caller.send(method, path, body, as: .read).json()
                let wakes = try #require(page["wakes"] as? [[String: Any]])
                #expect(wakes.map { $0["id"] as? String } == [id])
            }
            let none = try await caller.send("GET", "/v1/wakes?ref=order-2", as: .read)
            #expect(none.body == #"{"wakes":[]}"#)
        }
    }

    @Test("A device is found by the digest that logs have, and by a wake of it")
    func digest() async throws {
        try await APIBench().serve { caller in
            let id = try await caller.wake(device: 9)
            _ = try await caller.wake(device: 8)
            let digest = Samples.deviceToken(9).digest
            for name in ["device#\(digest)", digest] {
                let page = try await caller.send(
                    "POST", "/v1/wakes/lookup", #"{"device":"\#(name)"}"#, as: .read
                ).json()
                let wakes = try #require(page["wakes"] as? [[String: Any]])
                #expect(wakes.map { $0["id"] as? String } == [id])
            }
            let second = try await caller.wake(device: 9)
            let page = try await caller.send(
                "POST", "/v1/wakes/lookup", #"{"wake":"\#(id)"}"#, as: .read
            ).json()
            let wakes = try #require(page["wakes"] as? [[String: Any]])
            #expect(wakes.map { $0["id"] as? String } == [second, id])
            let device = try await caller.send(
                "POST", "/v1/devices/lookup", #"{"wake":"\#(id)"}"#, as: .read)
            let queue = try #require((try device.json()["queues"] as? [[String: Any]])?.first)
            #expect(queue["device"] as? String == "device#\(digest)")
            #expect(!device.body.contains(Samples.deviceToken(9).hex))

            let nobody = Samples.freshID()
            for path in ["/v1/wakes/lookup", "/v1/devices/lookup"] {
                try expectProblem(
                    try await caller.send("POST", path, #"{"wake":"\#(nobody)"}"#), .notFound)
            }
            let token = Samples.deviceToken(9).hex
            for (path, body, field) in [
                ("wakes", #"{"device":"device#12"}"#, "device"),
                ("wakes", #"{"device":"\#(digest)","wake":"\#(id)"}"#, "wake"),
                ("wakes", #"{"device_token":"\#(token)","device":"\#(digest)"}"#, "device"),
                ("devices", #"{"device_token":"\#(token)","wake":"\#(id)"}"#, "wake"),
                ("devices", #"{"wake":"no-id"}"#, "wake"),
            ] {
                let refused = try await caller.send("POST", "/v1/\(path)/lookup", body)
                try expectProblem(refused, .invalidField)
                #expect(try refused.json()["field"] as? String == field, "\(refused.body)")
            }
        }
    }

    @Test("Receipts are booked once, single and in a batch")
    func receipts() async throws {
        try await APIBench().serve { caller in
            let answer = try await caller.send(
                "POST", "/v1/wakes?wait=outcome", APIBench.body())
            let id = try #require(try answer.json()["id"] as? String)
            func results(_ body: String) async throws -> [String] {
                let answer = try await caller.send("POST", "/v1/receipts", body, as: .device)
                #expect(answer.status == 200, "\(answer.body)")
                let receipts = try answer.json()["receipts"] as? [[String: Any]] ?? []
                return receipts.compactMap { $0["result"] as? String }
            }
            #expect(
                try await results(
                    "{\"receipts\":[{\"apns_id\":\"\(id)\","
                        + "\"launched_at\":\"2026-11-21T09:20:00.000Z\"},"
                        + "{\"id\":\"\(Samples.freshID())\"}]}") == ["recorded", "unknown-wake"])
            #expect(try await results("{\"id\":\"\(id)\",\"synced\":true}") == ["repeated"])
            let record = try await caller.send("GET", "/v1/wakes/\(id)").json()
            #expect(record["launched_at"] is String)
            let token = Samples.deviceToken(9).hex
            let named = try await caller.send(
                "POST", "/v1/wakes?wait=outcome", APIBench.body(device: 9, #","ref":"order-1""#))
            #expect(try named.json()["ref"] as? String == "order-1", "\(named.body)")
            let byRef = try await caller.send(
                "POST", "/v1/receipts",
                "{\"receipts\":[{\"ref\":\"order-1\",\"device_token\":\"\(token)\"},"
                    + "{\"ref\":\"order-2\",\"device_token\":\"\(token)\"}]}", as: .device)
            #expect(
                byRef.body == "{\"receipts\":[{\"ref\":\"order-1\",\"result\":\"recorded\"},"
                    + "{\"ref\":\"order-2\",\"result\":\"unknown-wake\"}]}")
            for text in [
                "{\"ref\":\"a\"}", "{\"ref\":\"a b\",\"device_token\":\"\(token)\"}",
                "{\"ref\":\"\",\"device_token\":\"\(token)\"}",
                "{\"ref\":\"a\",\"id\":\"\(id)\",\"device_token\":\"\(token)\"}",
                "{\"id\":\"\(id)\",\"device_token\":\"\(token)\"}",
                "{\"id\":\"\(id)\",\"apns_id\":\"\"}",
            ] {
                try expectProblem(
                    try await caller.send("POST", "/v1/receipts", text), .invalidField)
            }
            for text in ["{}", "{\"id\":1}", "{\"id\":\"x\"}", "{\"receipts\":[],\"id\":\"x\"}"] {
                try expectProblem(
                    try await caller.send("POST", "/v1/receipts", text), .invalidField)
            }
            try expectProblem(
                try await caller.send("POST", "/v1/receipts", "{\"receipts\":{}}"), .malformedBody)
        }
    }

    @Test("What is wrong with a receipt is said with its field, and its place in a list")
    func receiptWords() async throws {
        let good = "{\"id\":\"\(Samples.freshID())\"}"
        let cases: [(String, ProblemCode, String)] = [
            ("{}", .invalidField, "id is missing. Give the wake's id or apns_id, or its ref"),
            ("{\"id\":\"foo\"}", .invalidField, "id is not a UUID"),
            ("{\"apns_id\":\"foo\"}", .invalidField, "apns_id is not a UUID"),
            ("{\"ref\":\"a\",\"device_token\":\"x\"}", .invalidField, "device_token holds"),
            (
                "{\"receipts\":[\(good),\(good),\(good),{\"id\":\"foo\"}]}", .invalidField,
                "receipts[3].id is not a UUID"
            ),
            ("{\"receipts\":[\(good),{}]}", .invalidField, "receipts[1].id is missing"),
            ("{\"receipts\":[\(good),7]}", .malformedBody, "receipts[1]: The body is not a JSON"),
            (
                "{\"receipts\":[" + Array(repeating: good, count: 1_001).joined(separator: ",")
                    + "]}", .bodyTooLarge, "receipts: There are more than 1000 items"
            ),
        ]
        try await APIBench().serve { caller in
            for (text, code, words) in cases {
                let answer = try await caller.send("POST", "/v1/receipts", text)
                try expectProblem(answer, code)
                let detail = try #require(try answer.json()["detail"] as? String)
                #expect(detail.hasPrefix(words), "\(detail)")
            }
        }
    }

    @Test("A launch that is yet to come, by a phone's fast clock, counts as now")
    func fastClock() async throws {
        try await APIBench().serve { caller in
            let answer = try await caller.send("POST", "/v1/wakes?wait=outcome", APIBench.body())
            let id = try #require(try answer.json()["id"] as? String)
            let receipt = "{\"id\":\"\(id)\",\"launched_at\":\"2126-11-21T09:20:00.000Z\"}"
            let booked = try await caller.send("POST", "/v1/receipts", receipt, as: .device)
            #expect(booked.body.contains("\"recorded\""), "\(booked.body)")
            let record = try await caller.send("GET", "/v1/wakes/\(id)").json()
            let ended = try #require(record["ended_at"] as? String)
            let launched = try #require(record["launched_at"] as? String)
            #expect(launched >= ended && !launched.hasPrefix("2126"), "\(launched)")
        }
    }

    @Test("A dead token is in the feedback, which goes on from its cursor")
    func feedback() async throws {
        let sender = ScriptedSender { _ in
            .success(
                .rejected(
                    PushOutcome.Rejection(
                        status: 410, reason: .unregistered,
                        timestamp: WallInstant(secondsSinceEpoch: 4_000_000_000))))
        }
        try await APIBench(sender: sender).serve { caller in
            let empty = try await caller.send("GET", "/v1/feedback", as: .read).json()
            #expect(empty["cursor"] as? Int == 0)
            let answer = try await caller.send(
                "POST", "/v1/wakes?wait=outcome", APIBench.body())
            #expect(try answer.json()["state"] as? String == "undeliverable", "\(answer.body)")
            let page = try await caller.send("GET", "/v1/feedback?limit=10", as: .read).json()
            let entry = try #require((page["entries"] as? [[String: Any]])?.first)
            #expect(entry["kind"] as? String == "token-dead")
            #expect(entry["device_token"] as? String == Samples.deviceToken().hex)
            #expect(entry["reason"] as? String == "Unregistered")
            let cursor = try #require(page["cursor"] as? Int)
            let rest = try await caller.send("GET", "/v1/feedback?after=\(cursor)").json()
            #expect((rest["entries"] as? [Any])?.isEmpty == true)
            try expectProblem(
                try await caller.send("GET", "/v1/feedback?after=-1"), .invalidField)
        }
    }
}
