// SPDX-License-Identifier: Apache-2.0

import Foundation
import Gateway
import GatewayTestKit
import Testing
import WakeModel

@testable import AdminAPI

@Suite("Wakes over real sockets", .timeLimit(.minutes(10)))
struct WakeRoutesTests {
    private static let payload = #"{ "aps": {"content-available": 1},  "note":"caf\u00e9" }"#

    @Test("A wake is answered 202, sent byte for byte, and its whole history can be read")
    func wholeWay() async throws {
        let bench = try APIBench()
        try await bench.serve { caller in
            let token = Samples.deviceToken()
            let body = """
                {"kind":"background","device_token":"\(token.hex)","app":"com.example.app",\
                "payload":\(Self.payload)}
                """
            let answer = try await caller.send("POST", "/v1/wakes?wait=outcome", body, as: .wake)
            #expect(answer.status == 200, "\(answer.body)")
            #expect(bench.sender.sent.map(\.payload) == [Array(Self.payload.utf8)])
            let json = try answer.json()
            let id = try #require(json["id"] as? String)
            #expect(answer.head.contains("/v1/wakes/\(id)"))
            #expect(json["state"] as? String == "sent")
            #expect(json["apns_id"] as? String == id)
            #expect(json["device"] as? String == token.description)
            #expect((json["outcome"] as? [String: Any])?["status"] as? Int == 200)
            #expect((json["attempts"] as? [Any])?.count == 1)
            #expect((json["decision"] as? [String: Any])?["type"] as? String == "send")
            let record = try await caller.send("GET", "/v1/wakes/\(id)", as: .read)
            #expect(record.status == 200)
            #expect(record.body == answer.body)
            #expect(!record.body.contains(token.hex))
        }
    }

    @Test("A wait that is over answers 202 with what was decided, the state now and why")
    func waitIsOver() async throws {
        let bench = try APIBench(sender: ScriptedSender { _ in nil })
        try await bench.serve { caller in
            let answer = try await caller.send(
                "POST", "/v1/wakes?wait=outcome&timeout=1", APIBench.body(), as: .wake)
            #expect(answer.status == 202, "\(answer.body)")
            let wake = try answer.json()
            let decision = try #require(wake["decision"] as? [String: Any])
            #expect(decision["message"] as? String == "When it was accepted, nothing kept it back.")
            #expect(wake["state"] as? String == "claimed")
            #expect(wake["waiting"] is [String: Any])
            for query in ["timeout=0", "timeout=61", "timeout=x", "wait=delivery", "wait="] {
                try expectProblem(
                    try await caller.send("POST", "/v1/wakes?\(query)", APIBench.body()),
                    .invalidField)
            }
        }
    }

    @Test("A body that is encoded is refused, and called so")
    func encoded() async throws {
        try await APIBench().serve { caller in
            let answer = try await caller.send(
                "POST", "/v1/wakes", APIBench.body(), headers: ["Content-Encoding": "gzip"])
            try expectProblem(answer, .unsupportedMediaType)
            #expect(answer.body.contains("without Content-Encoding"))
        }
    }

    @Test("What cannot be is refused with a problem that names the field")
    func refusals() async throws {
        let token = Samples.deviceToken().hex
        func body(_ more: String = "") -> String { APIBench.body(more) }
        let cases: [(String, ProblemCode, String)] = [
            ("", .malformedBody, "The body is empty"), ("[1]", .malformedBody, "not a JSON object"),
            ("{\"kind\":1", .malformedBody, "missing"),
            ("{\"kind\":1,\"kind\":2}", .malformedBody, "Duplicate member"),
            ("{}", .invalidField, "payload is missing"),
            (body(",\"prio\":5"), .invalidField, "prio is an unknown field"),
            (body(",\"\":5"), .invalidField, #"\"\" is an unknown field"#),
            (body(",\"ref\":\"a b\""), .invalidField, "ref is not 1 to 64 characters"),
            (body().replacing(token, with: "xyz"), .invalidField, "device_token holds"),
            (body(",\"ttl_seconds\":1795000000"), .invalidField, "ttl_seconds"),
            (
                body(",\"ttl_seconds\":\"60\""), .invalidField,
                "ttl_seconds is not a whole number. Write digits only, without quotes."
            ),
            (
                body(",\"priority\":7"), .invalidField,
                "priority is 7, which is no priority of background pushes. Leave it out, or use 5."
            ),
            (
                body().replacing("\"device_token\":\"\(token)\",", with: ""), .invalidField,
                "device_token is missing. Add it to the body, or user instead of it."
            ),
            (body(",\"ttl_seconds\":60.5"), .invalidField, "ttl_seconds"),
            (body(",\"ttl_seconds\":1e30"), .invalidField, "ttl_seconds"),
            (body(",\"expires_at\":\"tomorrow\""), .invalidField, "expires_at"),
            (
                body(",\"expires_at\":1795699999"), .invalidField,
                #"Write it as \"2026-11-21T09:34:00Z\"."#
            ),
            (
                body().replacing("\"app\":\"com.example.app\"", with: "\"topic\":\"a.b.voip\""),
                .invalidField, "topic ends in .voip, and a topic of background pushes does not."
            ),
            (
                body(",\"expires_at\":\"2001-11-21T09:34:00Z\""), .invalidField,
                "expires_at is not in the years 2002 to 5137"
            ),
            (
                body(",\"expires_at\":\"9999-11-21T09:34:00Z\""), .invalidField,
                "expires_at is not in the years 2002 to 5137"
            ),
            (body(",\"spread_seconds\":-1"), .invalidField, "spread_seconds is not from 0 to"),
            (body(",\"spread_seconds\":86401"), .invalidField, "spread_seconds is not from 0 to"),
            (body(",\"spread_seconds\":\"60\""), .invalidField, "spread_seconds is not a whole"),
            (
                body(",\"expires_at\":\"2036-11-21T09:34:00Z\",\"ttl_seconds\":60"),
                .invalidField, "together with ttl_seconds"
            ),
            (
                body(",\"environment\":\"Sandbox\""), .invalidField,
                "Use one of production, sandbox."
            ),
            (
                body(",\"environment\":\"production\""), .unknownApp,
                "is configured for sandbox and not for production. Leave environment out"
            ),
            (body(",\"urgency\":\"high\""), .invalidField, "urgency"),
            (body(",\"coalescing\":1"), .invalidField, "coalescing"),
            (
                body(",\"urgency\":\"urgent\"").replacing("\"background\"", with: "\"alert\""),
                .invalidField,
                "urgency is for background wakes, and this one is of kind alert. Leave it out."
            ),
            (
                body(",\"coalescing\":\"union\"").replacing("\"background\"", with: "\"voip\""),
                .invalidField,
                "coalescing is for background wakes, and this one is of kind voip. Leave it out."
            ),
            (body(",\"topic\":\"com.example.app\""), .invalidField, "together with app"),
            (
                body().replacing("com.example.app", with: "com.example.none"), .unknownApp,
                "The app com.example.none is not configured"
            ),
            (body().replacing("\"background\"", with: "\"telepathy\""), .invalidField, "kind"),
            (
                "{\"kind\":\"voip\",\"device_token\":\"\(token)\",\"topic\":\"com.example.app\","
                    + "\"payload\":{}}", .invalidField, "topic"
            ),
            (
                "{\"kind\":\"voip\",\"device_token\":\"\(token)\",\"app\":\"com.example.app\","
                    + "\"payload\":\"{}\"}", .invalidField, "payload is not a JSON object"
            ),
        ]
        let bench = try APIBench()
        try await bench.serve { caller in
            for (text, code, words) in cases {
                let answer = try await caller.send("POST", "/v1/wakes", text)
                try expectProblem(answer, code)
                #expect(answer.body.contains(words), "\(text): \(answer.body)")
            }
            let elsewhere = try await caller.send(
                "POST", "/v1/wakes", body(",\"environment\":\"production\"")
            ).json()
            #expect(elsewhere["field"] as? String == "environment")
            let stats = try await caller.send("GET", "/v1/stats").json()
            #expect(stats["accepted"] as? Int == 0)
        }
    }

    @Test("A whole number may be written in any form that JSON has", arguments: ["60.0", "6e1"])
    func wholeNumbers(number: String) async throws {
        try await APIBench().serve { caller in
            let answer = try await caller.send(
                "POST", "/v1/wakes", APIBench.body(",\"ttl_seconds\":\(number)"))
            #expect(answer.status == 202, "\(answer.body)")
        }
    }

    @Test("The findings of the rules come with rule, place and remedy")
    func diagnostics() async throws {
        try await APIBench().serve { caller in
            let text = APIBench.body().replacing("\"content-available\":1", with: "")
            let answer = try await caller.send("POST", "/v1/wakes", text)
            try expectProblem(answer, .invalidWake)
            let diagnostics = try #require(try answer.json()["diagnostics"] as? [[String: Any]])
            #expect(!diagnostics.isEmpty)
            #expect(
                diagnostics.allSatisfy {
                    $0["rule"] is String && $0["line"] is Int && $0["fix"] is String
                })
        }
    }

    @Test("A wake that was over when it was asked for, and one that cannot be in time, say so")
    func expired() async throws {
        try await APIBench().serve { caller in
            let over = APIBench.body(",\"expires_at\":\"2020-01-01T00:00:00Z\"")
            let alert = over.replacing("background", with: "alert")
                .replacing("\"content-available\":1", with: "\"alert\":\"x\"")
            for text in [over, alert] {
                let past = try await caller.send("POST", "/v1/wakes", text)
                #expect(past.body.contains("Its time was over before"), "\(past.body)")
            }
            let signal = #"{"app":"com.example.app","low_power_mode":true}"#
            let path = "/v1/devices/\(Samples.deviceToken(8).hex)/signals"
            #expect(try await caller.send("PUT", path, signal).status == 200)
            let wake = try await caller.send(
                "POST", "/v1/wakes", APIBench.body(device: 8, ",\"ttl_seconds\":60"))
            let decision = try #require(try wake.json()["decision"] as? [String: Any])
            #expect((decision["message"] as? String)?.hasPrefix("Will expire at ") == true)
            #expect(decision["due_at"] == nil, "\(wake.body)")
            let id = try #require(try wake.json()["id"] as? String)
            let record = try await caller.send("GET", "/v1/wakes/\(id)").json()
            #expect(record["due_at"] == nil && record["state"] as? String == "pending")
        }
    }

    @Test("The same idempotency key gives the same answer to the byte; another body is a conflict")
    func idempotency() async throws {
        try await APIBench().serve { caller in
            let key = ["Idempotency-Key": "k-1"]
            let first = try await caller.send("POST", "/v1/wakes", APIBench.body(), headers: key)
            let second = try await caller.send("POST", "/v1/wakes", APIBench.body(), headers: key)
            #expect(first.status == 202 && second.status == 202, "\(first.body) \(second.body)")
            #expect(first.body == second.body)
            #expect(!first.head.lowercased().contains("idempotency-replayed"))
            #expect(second.head.lowercased().contains("idempotency-replayed: true"))
            try expectProblem(
                try await caller.send(
                    "POST", "/v1/wakes", APIBench.body(",\"ttl_seconds\":60"), headers: key),
                .idempotencyConflict)
            let stranger = try await caller.send(
                "POST", "/v1/wakes", APIBench.body(), as: .wake, headers: key)
            #expect(stranger.status == 202)
            #expect(stranger.body != first.body, "keys of different callers are different keys")
            for key in [String(repeating: "k", count: 256), "a b", "ä"] {
                try expectProblem(
                    try await caller.send(
                        "POST", "/v1/wakes", APIBench.body(), headers: ["Idempotency-Key": key]),
                    .invalidField)
            }
        }
    }

    @Test("A wake that may be spread is taken, and its repetition has the same answer")
    func spread() async throws {
        try await APIBench().serve { caller in
            let key = ["Idempotency-Key": "s-1"]
            func send(_ seconds: Int) async throws -> HTTPExchange {
                try await caller.send(
                    "POST", "/v1/wakes", APIBench.body(",\"spread_seconds\":\(seconds)"),
                    headers: key)
            }
            let first = try await send(86_400)
            #expect(first.status == 202, "\(first.body)")
            let second = try await send(86_400)
            #expect(second.body == first.body)
            #expect(second.head.lowercased().contains("idempotency-replayed: true"))
            try expectProblem(try await send(0), .idempotencyConflict)
            let call = """
                {"kind":"voip","device_token":"\(Samples.deviceToken(9).hex)",\
                "app":"com.example.app","spread_seconds":86400,\
                "payload":{"callUUID":"0f8fad5b-d9cb-469f-a165-70867728950e"}}
                """
            let rung = try await caller.send("POST", "/v1/wakes?wait=outcome", call)
            #expect(rung.status == 200, "A call was spread: \(rung.body)")
        }
    }

    @Test(
        "A second wake waits, a third merges; both say why, and the first of them can be cancelled")
    func decisions() async throws {
        try await APIBench().serve { caller in
            _ = try await caller.wake()
            let waiting = try await caller.send("POST", "/v1/wakes", APIBench.body()).json()
            let decision = try #require(waiting["decision"] as? [String: Any])
            #expect(decision["type"] as? String == "deferred")
            #expect((decision["reasons"] as? [String])?.isEmpty == false)
            #expect(decision["due_at"] is String)
            let id = try #require(waiting["id"] as? String)

            let merged = try await caller.send(
                "POST", "/v1/wakes", APIBench.body(",\"coalescing\":\"union\"")
            ).json()
            let merge = try #require(merged["decision"] as? [String: Any])
            #expect(merge["type"] as? String == "coalesced")
            #expect(merge["into"] as? String == id)
            #expect(merge["coalescing"] as? String == "union")

            // Another wake takes over when the one that carries both is cancelled.
            let newest = try await caller.send("POST", "/v1/wakes", APIBench.body()).json()
            let cancelled = try await caller.send("DELETE", "/v1/wakes/\(id)", as: .wake)
            #expect(cancelled.status == 200, "\(cancelled.body)")
            #expect(try cancelled.json()["state"] as? String == "cancelled")
            try expectProblem(
                try await caller.send("DELETE", "/v1/wakes/\(id)"), .notCancellable)
            let carried = try await caller.send(
                "GET", "/v1/wakes/\(try #require(merged["id"] as? String))"
            ).json()
            let outcome = try #require(carried["outcome"] as? [String: Any])
            #expect(outcome["into"] as? String == newest["id"] as? String)
            #expect(carried["carried_by"] as? String == newest["id"] as? String)
            let told = try #require(carried["decision"] as? [String: Any])["message"] as? String
            #expect(told?.hasPrefix("When it was accepted: it was united with wake \(id).") == true)
            try expectProblem(
                try await caller.send("DELETE", "/v1/wakes/\(Samples.freshID())"), .notFound)
            try expectProblem(try await caller.send("GET", "/v1/wakes/42"), .invalidField)
        }
    }

    @Test("A list has the newest first, filters, and pages without gaps or repetitions")
    func list() async throws {
        try await APIBench().serve { caller in
            var ids: [String] = []
            for device in 1...7 { ids.append(try await caller.wake(device: UInt64(device))) }
            var seen: [String] = []
            var path = "/v1/wakes?limit=3"
            for _ in 0..<10 {
                let page = try await caller.send("GET", path, as: .read).json()
                let wakes = try #require(page["wakes"] as? [[String: Any]])
                seen += wakes.compactMap { $0["id"] as? String }
                guard let next = page["next"] as? String else { break }
                path = "/v1/wakes?limit=3&cursor=\(next)"
            }
            #expect(seen == ids.reversed())
            let token = Samples.deviceToken(3).hex
            let one = try await caller.send("GET", "/v1/wakes?device=\(token)", as: .read).json()
            #expect(
                (one["wakes"] as? [[String: Any]])?.compactMap { $0["id"] as? String } == [ids[2]])
            func found(_ body: String) async throws -> [String] {
                let answer = try await caller.send("POST", "/v1/wakes/lookup", body, as: .read)
                #expect(answer.status == 200, "\(answer.body)")
                let wakes = try answer.json()["wakes"] as? [[String: Any]]
                return wakes?.compactMap { $0["id"] as? String } ?? []
            }
            #expect(try await found(#"{"device_token":"\#(token)"}"#) == [ids[2]])
            #expect(try await found("{}") == ids.reversed())
            #expect(
                try await found(#"{"limit":2,"cursor":"\#(ids[4])"}"#) == [ids[3], ids[2]])
            #expect(try await found(#"{"states":["rejected"]}"#) == [])
            for body in [
                #"{"device_token":"xyz"}"#, #"{"states":[]}"#, #"{"states":["gone"]}"#,
                #"{"states":"sent"}"#, #"{"limit":0}"#, #"{"cursor":"1"}"#, #"{"ref":"a b"}"#,
                #"{"device":"\#(token)"}"#, #"{"environment":"prod"}"#,
            ] {
                try expectProblem(
                    try await caller.send("POST", "/v1/wakes/lookup", body), .invalidField)
            }
            for (path, words) in [
                ("/v1/wakes?cursor=foo", "cursor is not a UUID"),
                ("/v1/wakes?device=foo", "device holds a character"),
                ("/v1/wakes/foo", "id is not a UUID"),
            ] {
                let answer = try await caller.send("GET", path)
                let detail = try #require(try answer.json()["detail"] as? String)
                #expect(detail.hasPrefix(words), "\(detail)")
            }
            for query in [
                "state=gone", "state=sent,,failed", "device=xyz", "cursor=1", "limit=0",
                "limit=1001", "environment=prod", "app=a%20b", "ref=a%20b",
            ] {
                try expectProblem(
                    try await caller.send("GET", "/v1/wakes?\(query)"), .invalidField)
            }
            try expectProblem(
                try await caller.send("GET", "/v1/wakes?app=com.example.none"), .unknownApp)
        }
    }
}
