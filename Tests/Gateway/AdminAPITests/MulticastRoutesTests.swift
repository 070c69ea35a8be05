// SPDX-License-Identifier: Apache-2.0

import Foundation
import Gateway
import GatewayTestKit
import PayloadRules
import Testing
import WakeModel

@testable import AdminAPI

@Suite("One payload for many devices, over real sockets", .timeLimit(.minutes(10)))
struct MulticastRoutesTests {
    private static let path = "/v1/wakes/multicast"
    private static let terms = """
        "kind":"background","app":"com.example.app","payload":{"aps":{"content-available":1},"n":1}
        """

    private static func token(_ device: UInt64) -> String {
        #""\#(Samples.deviceToken(device).hex)""#
    }

    /// A request with these elements of `device_tokens`.
    private static func body(_ tokens: [String], _ terms: String = Self.terms) -> String {
        "{\(terms),\"device_tokens\":[\(tokens.joined(separator: ","))]}"
    }

    private static func items(_ answer: HTTPExchange) throws -> [[String: Any]] {
        try #require(try answer.json()["items"] as? [[String: Any]], "\(answer.body)")
    }

    private static func ids(_ answer: HTTPExchange) throws -> [String?] {
        try items(answer).map { ($0["wake"] as? [String: Any])?["id"] as? String }
    }

    @Test("Each device gets its wake, in order, and what is no token costs its own place only")
    func items() async throws {
        let sender = ScriptedSender()
        try await APIBench(sender: sender).serve { caller in
            let good = Samples.deviceToken(3).hex
            let tokens = [
                Self.token(1), "7", #""<740g 4707>""#, #""""#, "null", Self.token(2), #"{"a":[]}"#,
                #""abc""#, #""\#(good.uppercased())""#,
                #""\#(String(repeating: "a", count: 514))""#,
            ]
            let answer = try await caller.send("POST", Self.path, Self.body(tokens), as: .wake)
            #expect(answer.status == 200, "\(answer.body)")
            let items = try Self.items(answer)
            #expect(
                items.compactMap { $0["status"] as? Int }
                    == [202, 400, 400, 400, 400, 202, 400, 400, 202, 400])
            for (place, item) in items.enumerated() where item["status"] as? Int == 400 {
                let problem = try #require(item["problem"] as? [String: Any])
                #expect(problem["code"] as? String == "invalid-field")
                #expect(problem["field"] as? String == "device_tokens[\(place)]")
            }
            #expect(try answer.json()["accepted"] as? Int == 3)
            #expect(try answer.json()["refused"] as? Int == 7)
            #expect(!answer.body.contains(good) && !answer.body.contains(good.uppercased()))
            await sender.waitUntilSent(3)
            let sent = Set(sender.sent.map(\.deviceToken))
            #expect(sent == Set((1...3).map { Samples.deviceToken($0) }))
            #expect(Set(try Self.ids(answer)).count == 4, "three ids, and none")
        }
    }

    @Test("A token that stands there again is woken once, and its place says so")
    func duplicates() async throws {
        let sender = ScriptedSender()
        try await APIBench(sender: sender).serve { caller in
            let again = #""\#(Samples.deviceToken(1).hex.uppercased())""#
            let tokens = [Self.token(1), Self.token(2), again, Self.token(1), "1", "1"]
            let answer = try await caller.send("POST", Self.path, Self.body(tokens))
            let items = try Self.items(answer)
            #expect(items.compactMap { $0["status"] as? Int } == [202, 202, 202, 202, 400, 400])
            #expect(items.map { $0["duplicate_of"] as? Int } == [nil, nil, 0, 0, nil, nil])
            // Where the first one says it, no other does again.
            let ids = try Self.ids(answer)
            #expect(ids[0] != ids[1] && ids[0] != nil && ids[2...] == [nil, nil, nil, nil])
            #expect(try answer.json()["accepted"] as? Int == 4)
            #expect(try await caller.send("GET", "/v1/stats").json()["accepted"] as? Int == 2)
        }
    }

    @Test("Calls ring each phone once")
    func calls() async throws {
        let sender = ScriptedSender()
        try await APIBench(sender: sender).serve { caller in
            let terms = """
                "kind":"voip","topic":"com.example.app.voip","payload":\
                {"callUUID":"0f8fad5b-d9cb-469f-a165-70867728950e","caller":"Ann"}
                """
            let tokens = (0..<20).map { Self.token($0) }
            for isAgain in [false, true] {
                let answer = try await caller.send("POST", Self.path, Self.body(tokens, terms))
                #expect(try answer.json()["accepted"] as? Int == 20, "\(answer.body)")
                #expect(
                    try Self.items(answer).allSatisfy {
                        ($0["replayed"] as? Bool ?? false) == isAgain
                    })
            }
            await sender.waitUntilSent(20)
            #expect(try await caller.send("GET", "/v1/stats").json()["accepted"] as? Int == 20)
        }
    }

    @Test("What is wrong with the payload, the app or another member refuses all of it")
    func whole() async throws {
        try await APIBench().serve { caller in
            let tokens = [Self.token(1), Self.token(2)]
            func expect(
                _ terms: String, _ code: ProblemCode, field: String? = nil,
                sourceLocation: SourceLocation = #_sourceLocation
            ) async throws {
                let answer = try await caller.send(
                    "POST", Self.path, Self.body(tokens, terms), as: .wake)
                try expectProblem(answer, code, sourceLocation: sourceLocation)
                #expect(
                    try answer.json()["field"] as? String == field, "\(answer.body)",
                    sourceLocation: sourceLocation)
            }
            let terms = Self.terms
            try await expect(
                terms.replacing("\"content-available\":1", with: "\"alert\":1"), .invalidWake,
                field: "payload")
            try await expect(
                terms.replacing("example.app", with: "example.none"), .unknownApp, field: "app")
            try await expect(
                terms.replacing("background", with: "telepathy"), .invalidField, field: "kind")
            try await expect(terms + #","colour":1"#, .invalidField, field: "colour")
            try await expect(terms + #","ttl_seconds":-1"#, .invalidField, field: "ttl_seconds")
            try await expect(terms + #","device_token":"aa""#, .invalidField, field: "device_token")
            try await expect(
                terms + #","spread_seconds":60"#, .invalidField, field: "spread_seconds")
            try await expect(
                #""kind":"background","app":"com.example.app""#, .invalidField, field: "payload")
            #expect(try await caller.send("GET", "/v1/stats").json()["accepted"] as? Int == 0)
        }
    }

    @Test("It is checked although no token is one")
    func onlyBadTokens() async throws {
        try await APIBench().serve { caller in
            let tokens = ["\"cut\"", "7"]
            let bad = Self.terms.replacing("\"content-available\":1", with: "\"alert\":1")
            try expectProblem(
                try await caller.send("POST", Self.path, Self.body(tokens, bad)), .invalidWake)
            let unknown = Self.terms.replacing("example.app", with: "example.none")
            try expectProblem(
                try await caller.send("POST", Self.path, Self.body(tokens, unknown)), .unknownApp)
            let fine = try await caller.send("POST", Self.path, Self.body(tokens))
            #expect(fine.status == 200)
            #expect(try fine.json()["refused"] as? Int == 2)
        }
    }

    @Test("What the gateway had no room for is taken when it is asked for again")
    func partly() async throws {
        let store = InMemoryWakeStore()
        var narrow = GatewayLimits()
        narrow.intakeQueueCount = 2
        narrow.intakeCallerReserveCount = 2
        let text = Self.body((0..<5).map { Self.token($0) })
        var first: [String?] = []
        for (limits, places) in [(narrow, 0..<2), (GatewayLimits(), 0..<5)] {
            let bench = try APIBench()
            let gateway = sampleGateway(store: store, sender: bench.sender, limits: limits)
            try await withAPI(gateway, configuration: bench.configuration) { port in
                let caller = APIBench.Caller(port: port, keys: bench.keys)
                let answer = try await caller.send(
                    "POST", Self.path, text, headers: ["Idempotency-Key": "m-1"])
                #expect(answer.status == 200, "\(answer.body)")
                let items = try Self.items(answer)
                for (place, item) in items.enumerated() {
                    let isTaken = places.contains(place)
                    #expect(item["status"] as? Int == (isTaken ? 202 : 429))
                    #expect((item["replayed"] as? Bool ?? false) == (!first.isEmpty && place < 2))
                }
                let ids = try Self.ids(answer)
                #expect(first.isEmpty || first.prefix(2) == ids.prefix(2))
                first = ids
                let stats = try await caller.send("GET", "/v1/stats").json()
                #expect(stats["accepted"] as? Int == places.count)
            }
        }
    }

    @Test("A list that is none, empty, broken or too long is refused")
    func lists() async throws {
        try await APIBench().serve { caller in
            for (list, code) in [
                ("{}", ProblemCode.invalidField), ("\"aa\"", .invalidField),
                ("null", .invalidField), ("[]", .invalidField), ("[\"aa\" \"bb\"]", .malformedBody),
                ("[\"aa\",]", .malformedBody), ("[\"aa\"", .malformedBody),
            ] {
                let answer = try await caller.send(
                    "POST", Self.path, "{\"device_tokens\":\(list),\(Self.terms)}")
                try expectProblem(answer, code)
            }
            try expectProblem(
                try await caller.send("POST", Self.path, "{\(Self.terms)}"), .invalidField)
            let tokens = (0...MulticastBody.maximumCount).map { Self.token(UInt64($0)) }
            let long = try await caller.send("POST", Self.path, Self.body(tokens))
            try expectProblem(long, .bodyTooLarge)
            #expect(long.body.contains("more than 10000 tokens"), "\(long.body)")
            #expect(try await caller.send("GET", "/v1/stats").json()["accepted"] as? Int == 0)
            for query in ["spread=-1", "diagnostics=1", "wait=outcome"] {
                try expectProblem(
                    try await caller.send(
                        "POST", "\(Self.path)?\(query)", Self.body([Self.token(1)])),
                    .invalidField)
            }
            let single = try await caller.send("POST", "/v1/wakes", Self.body([Self.token(1)]))
            try expectProblem(single, .invalidField)
            #expect(single.body.contains("/v1/wakes/multicast"), "\(single.body)")
        }
    }

    @Test("The largest request has room, and one that is larger is not read")
    func largest() throws {
        let configuration = AdminConfiguration(authentication: .disabled)
        let token = 2 * DeviceToken.maximumByteCount + 4
        #expect(
            MulticastBody.maximumCount * token + WakeValidator.maximumReadBytes
                < configuration.multicastByteCount)
        #expect(configuration.multicastByteCount < configuration.bodyBudgetByteCount)
    }

    @Test("Ten thousand devices with a payload that takes long to look at: it is looked at once")
    func many() async throws {
        // Keys that look like Apple's take the longest to look at.
        let keys = (0..<140).map { number in
            let name = "contentavailabel".enumerated().map { place, letter in
                place < 8 && number >> place & 1 == 1 ? letter.uppercased() : String(letter)
            }
            return "\"\(name.joined())\":1"
        }
        let aps = #""content-available":1"#
        let terms = Self.terms.replacing(aps, with: "\(aps),\(keys.joined(separator: ","))")
        let count = MulticastBody.maximumCount
        let text = Self.body((0..<count).map { Self.token(UInt64($0)) }, terms)
        try await APIBench().serve { caller in
            let key = ["Idempotency-Key": "m-1"]
            for isAgain in [false, true] {
                let answer = try await caller.send(
                    "POST", Self.path, text, as: .wake, headers: key, patienceSeconds: 60)
                #expect(answer.status == 200, "\(answer.body.prefix(300))")
                let items = try Self.items(answer)
                #expect(items.count == count)
                #expect(items.allSatisfy { ($0["replayed"] as? Bool ?? false) == isAgain })
                #expect(try answer.json()["accepted"] as? Int == count)
            }
            #expect(try await caller.send("GET", "/v1/stats").json()["accepted"] as? Int == count)
        }
    }

    @Test("With a key each place is recognised by its token and the rest of the body")
    func idempotency() async throws {
        try await APIBench().serve { caller in
            let key = ["Idempotency-Key": "m-1"]
            func send(
                _ tokens: [UInt64], _ terms: String = Self.terms
            ) async throws -> HTTPExchange {
                try await caller.send(
                    "POST", Self.path, Self.body(tokens.map(Self.token), terms), headers: key)
            }
            let first = try await send([1, 2, 3])
            #expect(try Self.items(first).allSatisfy { $0["replayed"] == nil })
            let second = try await send([1, 2, 3])
            #expect(try Self.items(second).allSatisfy { $0["replayed"] as? Bool == true })
            #expect(try Self.ids(first) == Self.ids(second))
            // Another token in the second place, and one more.
            let third = try Self.items(try await send([1, 4, 3, 5]))
            #expect(third.compactMap { $0["status"] as? Int } == [202, 409, 202, 202])
            #expect(third.map { $0["replayed"] as? Bool } == [true, nil, true, nil])
            let other = try Self.items(try await send([1, 2], Self.terms + #","ref":"other""#))
            #expect(other.compactMap { $0["status"] as? Int } == [409, 409])
            #expect(try await caller.send("GET", "/v1/stats").json()["accepted"] as? Int == 4)
            // Also when no token is one.
            for token in [Self.token(9), "7"] {
                try expectProblem(
                    try await caller.send(
                        "POST", Self.path, Self.body([token]),
                        headers: ["Idempotency-Key": "not printable \u{e9}"]), .invalidField)
            }
        }
    }

    @Test("What the rules found in accepted wakes comes on demand")
    func diagnostics() async throws {
        try await APIBench().serve { caller in
            let terms = Self.terms + #","collapse_id":"inbox""#
            for (query, isThere) in [
                ("", false), ("?diagnostics=false", false), ("?diagnostics=true", true),
            ] {
                let answer = try await caller.send(
                    "POST", Self.path + query, Self.body([Self.token(1), Self.token(2)], terms))
                #expect(answer.status == 200, "\(answer.body)")
                for item in try Self.items(answer) {
                    let wake = try #require(item["wake"] as? [String: Any])
                    #expect((wake["diagnostics"] != nil) == isThere, "\(query) \(wake)")
                }
            }
        }
    }

    @Test("Due times are spread over the time that is asked for")
    func spread() async throws {
        try await APIBench().serve { caller in
            let tokens = (1...4).map { Self.token($0) }
            let answer = try await caller.send(
                "POST", "\(Self.path)?spread=4000", Self.body(tokens))
            let decisions = try Self.items(answer).compactMap {
                ($0["wake"] as? [String: Any])?["decision"] as? [String: Any]
            }
            #expect(decisions.first?["type"] as? String == "send")
            let due = decisions.compactMap { $0["due_at"] as? String }
            #expect(due.count == 3 && due == due.sorted() && Set(due).count == 3)
        }
    }

    @Test("Each token counts in the rate of the key")
    func rate() async throws {
        let bench = try APIBench(rate: try RequestRate(perSecond: 1, burst: 10))
        try await bench.serve { caller in
            let text = Self.body((0..<40).map { Self.token($0) })
            let first = try await caller.send("POST", Self.path, text, as: .wake)
            // More than the rate has left: it is taken whole, and paid for afterwards.
            #expect(try first.json()["accepted"] as? Int == 40, "\(first.body.prefix(300))")
            let second = try await caller.send("POST", Self.path, text, as: .wake)
            try expectProblem(second, .rateLimited)
            #expect(try await caller.send("POST", Self.path, text, as: .admin).status == 200)
            #expect(try await caller.send("POST", Self.path, text, as: .read).status == 403)
        }
    }
}
