// SPDX-License-Identifier: Apache-2.0

import Foundation
import Gateway
import GatewayTestKit
import Testing
import WakeModel

@testable import AdminAPI

@Suite("Broadcast channels over real sockets", .timeLimit(.minutes(10)))
struct ChannelRoutesTests {
    private static let query = "?app=com.example.app"
    private static let update =
        #"{"aps":{"timestamp":1795253640,"event":"update","content-state":{"score":1}}}"#

    private static func body(_ payload: String = update, _ more: String = "") -> String {
        #"{"app":"com.example.app","payload":\#(payload)\#(more)}"#
    }

    private static func path(_ bench: APIBench) -> String {
        "/v1/channels/" + ScriptedChannels.encoded(bench.channels.first)
    }

    @Test("A channel is made, read, listed, sent to and deleted, each with its scope")
    func life() async throws {
        let bench = try APIBench()
        try await bench.serve { caller in
            let made = try await caller.send(
                "POST", "/v1/channels", #"{"app":"com.example.app","storage":"latest"}"#,
                as: .wake)
            #expect(made.status == 201, "\(made.body)")
            let document = try made.json()
            #expect(document["channel"] as? String == "new1")
            #expect(document["storage"] as? String == "latest")
            #expect(document["environment"] as? String == "\(Samples.app.environment)")
            #expect(document["request_id"] is String)
            let read = try await caller.send(
                "GET", Self.path(bench) + Self.query, as: .read)
            #expect(read.status == 200, "\(read.body)")
            #expect(try read.json()["channel"] as? String == bench.channels.first.value)
            let list = try await caller.send("GET", "/v1/channels" + Self.query, as: .read)
            #expect(
                try list.json()["channels"] as? [String] == [bench.channels.first.value, "new1"])
            let sent = try await caller.send(
                "POST", Self.path(bench) + "/broadcasts",
                Self.body(Self.update, #","priority":5,"ttl_seconds":600"#), as: .wake)
            #expect(sent.status == 200, "\(sent.body)")
            let broadcast = try #require(bench.channels.broadcasts.first)
            #expect(broadcast.payload == Array(Self.update.utf8))
            #expect(broadcast.priority == .powerConsiderate)
            guard case .at(let end) = broadcast.expiration else {
                Issue.record("\(broadcast.expiration)")
                return
            }
            #expect((500...600).contains(end.milliseconds(since: bench.gateway.now) / 1000))
            let deleted = try await caller.send(
                "DELETE", "/v1/channels/new1" + Self.query, as: .wake)
            #expect(deleted.status == 200, "\(deleted.body)")
            try expectProblem(
                try await caller.send("GET", "/v1/channels/new1" + Self.query), .unknownChannel)
        }
    }

    @Test("Each route asks for its scope")
    func scopes() async throws {
        let bench = try APIBench()
        try await bench.serve { caller in
            let path = Self.path(bench)
            for (method, path, body, allowed) in [
                ("POST", "/v1/channels", #"{"app":"com.example.app"}"#, Scope.wake),
                ("GET", "/v1/channels" + Self.query, nil, .read),
                ("GET", path + Self.query, nil, .read),
                ("POST", path + "/broadcasts", Self.body(), .wake),
                ("DELETE", path + Self.query, nil, .wake),
            ] {
                for scope in Scope.allCases where scope != allowed && scope != .admin {
                    try expectProblem(
                        try await caller.send(method, path, body, as: scope), .forbidden)
                }
                try expectProblem(
                    try await caller.send(method, path, body, as: nil), .unauthorized)
            }
            #expect(bench.channels.broadcasts.isEmpty)
        }
    }

    @Test("What cannot be is refused with the field, and nothing is asked of APNs")
    func refusals() async throws {
        let bench = try APIBench()
        try await bench.serve { caller in
            let path = Self.path(bench)
            let cases: [(String, String, String?, ProblemCode, String?)] = [
                ("POST", "/v1/channels", "{}", .invalidField, "app"),
                (
                    "POST", "/v1/channels", #"{"app":"com.example.app","storage":"all"}"#,
                    .invalidField, "storage"
                ),
                (
                    "POST", "/v1/channels", #"{"app":"com.example.app","policy":1}"#,
                    .invalidField, "policy"
                ),
                ("POST", "/v1/channels", #"{"app":"com.example.none"}"#, .unknownApp, "app"),
                ("GET", "/v1/channels", nil, .invalidField, "app"),
                ("GET", "/v1/channels/a%20b" + Self.query, nil, .invalidField, "channel"),
                (
                    "POST", path + "/broadcasts", Self.body(Self.update, #","priority":1"#),
                    .invalidField, "priority"
                ),
                (
                    "POST", path + "/broadcasts", Self.body(Self.update, #","ttl_seconds":28801"#),
                    .invalidField, "ttl_seconds"
                ),
                ("POST", path + "/broadcasts", Self.body("7"), .invalidField, "payload"),
                (
                    "POST", path + "/broadcasts",
                    Self.body(Self.update.replacing("update", with: "start")), .invalidWake,
                    "payload"
                ),
                ("POST", "/v1/channels/YQ==/broadcasts", Self.body(), .unknownChannel, "channel"),
            ]
            for (method, path, body, code, field) in cases {
                let answer = try await caller.send(method, path, body)
                try expectProblem(answer, code)
                #expect(try answer.json()["field"] as? String == field, "\(answer.body)")
            }
            #expect(bench.channels.broadcasts.isEmpty)
        }
    }

    @Test("A refusal of APNs is told with its status and reason, and when to come back")
    func rejections() async throws {
        let bench = try APIBench()
        let cases: [(Int, RejectionReason?, ProblemCode, String?)] = [
            (400, .featureNotEnabled, .apnsRefused, nil),
            (403, .invalidProviderToken, .apnsRefused, nil),
            (404, .badPath, .unknownChannel, nil),
            (400, .badExpirationDate, .channelStoresNothing, nil),
            (400, .badChannelID, .unknownChannel, nil),
            (400, .cannotCreateChannelConfig, .channelLimit, nil),
            (429, .tooManyRequests, .apnsRefused, "60"),
            (503, RejectionReason(rawValue: "Service Unavailable"), .apnsRefused, "900"),
            (500, nil, .apnsRefused, "900"),
            (400, RejectionReason(rawValue: "New"), .apnsRefused, nil),
        ]
        try await bench.serve { caller in
            for (status, reason, code, retryAfter) in cases {
                bench.channels.rejectNext(
                    ChannelRejection(status: status, reason: reason, requestID: "id"))
                let answer = try await caller.send(
                    "POST", Self.path(bench) + "/broadcasts", Self.body())
                try expectProblem(answer, code)
                let apns = try #require(try answer.json()["apns"] as? [String: Any])
                #expect(apns["status"] as? Int == status)
                #expect(apns["reason"] as? String == reason?.rawValue)
                #expect(apns["request_id"] as? String == "id")
                let head = answer.head.lowercased()
                #expect(head.contains("retry-after:") == (retryAfter != nil), "\(head)")
                if let retryAfter { #expect(head.contains("retry-after: \(retryAfter)\r\n")) }
            }
        }
    }

    @Test("That there is no such channel is said of requests alone that name one")
    func badPath() async throws {
        let bench = try APIBench()
        try await bench.serve { caller in
            let path = Self.path(bench)
            for (method, path, body, code) in [
                ("POST", "/v1/channels", #"{"app":"com.example.app"}"#, ProblemCode.apnsRefused),
                ("GET", "/v1/channels" + Self.query, nil, .apnsRefused),
                ("GET", path + Self.query, nil, .unknownChannel),
                ("DELETE", path + Self.query, nil, .unknownChannel),
                ("POST", path + "/broadcasts", Self.body(), .unknownChannel),
            ] {
                bench.channels.rejectNext(ChannelRejection(status: 404, reason: .badPath))
                let answer = try await caller.send(method, path, body)
                try expectProblem(answer, code)
                let document = try answer.json()
                #expect(
                    document["field"] as? String == (code == .unknownChannel ? "channel" : nil))
                let apns = try #require(document["apns"] as? [String: Any])
                #expect(apns["reason"] as? String == "BadPath")
            }
        }
    }

    @Test("An Idempotency-Key is refused where nothing is kept by which to recognise a repetition")
    func idempotencyKey() async throws {
        let bench = try APIBench()
        try await bench.serve { caller in
            for (path, body) in [
                ("/v1/channels", #"{"app":"com.example.app"}"#),
                (Self.path(bench) + "/broadcasts", Self.body()),
            ] {
                let answer = try await caller.send(
                    "POST", path, body, headers: ["Idempotency-Key": "a-key"])
                try expectProblem(answer, .invalidField)
                #expect(try answer.json()["field"] as? String == "Idempotency-Key")
                #expect(answer.body.contains("a repetition is a second one"), "\(answer.body)")
                #expect(answer.body.contains("Leave it out."))
            }
            #expect(bench.channels.broadcasts.isEmpty)
            #expect(bench.channels.lastChanged == bench.channels.first)
        }
    }

    @Test("What APNs gave no answer to is in the audit log where it may have been done")
    func uncertainChanges() async throws {
        let bench = try APIBench()
        let lines = RecordedLines()
        try await bench.serve(logger: lines.logger) { caller in
            for (method, path, body, words) in [
                (
                    "POST", "/v1/channels", #"{"app":"com.example.app"}"#,
                    ["audit ", "channel creation requested", "subject=\(Samples.app)"]
                ),
                (
                    "DELETE", Self.path(bench) + Self.query, nil,
                    [
                        "audit ", "channel deletion requested",
                        "subject=\(bench.channels.first.value)",
                    ]
                ),
            ] {
                for certainty in [Certainty.notSent, .unknown] {
                    let before = lines.all.count
                    bench.channels.failNext(
                        SendFailure(certainty: certainty, description: "silent"))
                    try expectProblem(
                        try await caller.send(method, path, body), .apnsUnanswered)
                    let audit = lines.all.dropFirst(before).filter { $0.hasPrefix("audit ") }
                    guard certainty == .unknown else {
                        #expect(audit.isEmpty, "\(audit)")
                        continue
                    }
                    #expect(audit.count == 1, "\(audit)")
                    for words in words + ["outcome=unknown"] {
                        #expect(audit.first?.contains(words) == true, "\(words): \(audit)")
                    }
                }
            }
        }
    }

    @Test(
        "Without an answer it says whether it can have been done",
        arguments: Certainty.allCases)
    func unanswered(certainty: Certainty) async throws {
        let bench = try APIBench()
        try await bench.serve { caller in
            bench.channels.failNext(
                SendFailure(certainty: certainty, description: "timed-out (\(certainty.rawValue))"))
            let answer = try await caller.send(
                "POST", "/v1/channels", #"{"app":"com.example.app"}"#)
            try expectProblem(answer, .apnsUnanswered)
            #expect(try answer.json()["certainty"] as? String == certainty.rawValue)
        }
    }

    @Test("A lifetime on a channel that stores nothing is no fault of the request's form")
    func channelWithoutStorage() async throws {
        let bench = try APIBench()
        try await bench.serve { caller in
            bench.channels.rejectNext(ChannelRejection(status: 400, reason: .badExpirationDate))
            let answer = try await caller.send(
                "POST", Self.path(bench) + "/broadcasts",
                Self.body(Self.update, #","ttl_seconds":600"#))
            try expectProblem(answer, .channelStoresNothing)
            #expect(answer.status == 409)
            #expect(try answer.json()["field"] as? String == "ttl_seconds")
            #expect(answer.body.contains("Leave it out, or send to a channel with storage latest"))
        }
    }

    @Test("Broadcasts are counted by app and by what became of them, and timed")
    func metrics() async throws {
        let bench = try APIBench()
        try await bench.serve { caller in
            func send() async throws {
                _ = try await caller.send("POST", Self.path(bench) + "/broadcasts", Self.body())
            }
            try await send()
            bench.channels.rejectNext(ChannelRejection(status: 429, reason: .tooManyRequests))
            try await send()
            bench.channels.rejectNext(
                ChannelRejection(status: 400, reason: RejectionReason(rawValue: "New")))
            try await send()
            for certainty in Certainty.allCases {
                bench.channels.failNext(SendFailure(certainty: certainty, description: "silent"))
                try await send()
            }
            let page = try await caller.send("GET", "/metrics", as: .read).body
            let app = #"app="com.example.app",environment="sandbox""#
            for (result, reason) in [
                ("sent", ""), ("rejected", "TooManyRequests"), ("rejected", "other"),
                ("not-sent", ""), ("unknown", ""),
            ] {
                let labels = "\(app),result=\"\(result)\",reason=\"\(reason)\""
                #expect(page.contains("\nrouse_broadcasts_total{\(labels)} 1\n"), "\(page)")
            }
            #expect(page.contains("\nrouse_broadcast_seconds_count{\(app)} 3\n"), "\(page)")
        }
    }

    @Test("Nothing is broadcast for a paused app")
    func paused() async throws {
        let bench = try APIBench()
        try await bench.serve { caller in
            let path = "/v1/apps/com.example.app"
            _ = try await caller.send("POST", path + "/pause?reason=moving")
            let answer = try await caller.send(
                "POST", Self.path(bench) + "/broadcasts", Self.body())
            try expectProblem(answer, .appPaused)
            #expect(answer.body.contains("moving"))
            #expect(bench.channels.broadcasts.isEmpty)
            _ = try await caller.send("POST", path + "/resume")
            let sent = try await caller.send(
                "POST", Self.path(bench) + "/broadcasts", Self.body())
            #expect(sent.status == 200, "\(sent.body)")
        }
    }

    @Test("A gateway without a client for channels says so")
    func none() async throws {
        let bench = try APIBench()
        try await withAPI(bench.gateway, configuration: bench.configuration) { port in
            let caller = APIBench.Caller(port: port, keys: bench.keys)
            try expectProblem(
                try await caller.send("GET", "/v1/channels" + Self.query), .unavailable)
        }
    }
}
