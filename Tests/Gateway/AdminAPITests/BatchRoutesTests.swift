// SPDX-License-Identifier: Apache-2.0

import Foundation
import Gateway
import GatewayTestKit
import StrictJSON
import Testing
import WakeModel

@testable import AdminAPI

@Suite("Batches over real sockets", .timeLimit(.minutes(10)))
struct BatchRoutesTests {
    private func items(_ answer: HTTPExchange) throws -> [[String: Any]] {
        try #require(try answer.json()["items"] as? [[String: Any]], "\(answer.body)")
    }

    @Test("Each item is taken or refused by itself, in order", arguments: [true, false])
    func items(asLines: Bool) async throws {
        try await APIBench().serve { caller in
            let bodies = [
                APIBench.body(device: 1), "{\"kind\":\"background\"}", APIBench.body(device: 2),
                APIBench.body(device: 3).replacing("com.example.app", with: "com.example.none"),
            ]
            let text =
                asLines
                ? bodies.joined(separator: "\n") + "\n\n"
                : "[" + bodies.joined(separator: " , ") + "]"
            let answer = try await caller.send(
                "POST", "/v1/wakes/batch", text, as: .wake,
                headers: ["Content-Type": asLines ? "application/x-ndjson" : "application/json"])
            #expect(answer.status == 200, "\(answer.body)")
            let items = try items(answer)
            #expect(items.compactMap { $0["status"] as? Int } == [202, 400, 202, 404])
            #expect((items[0]["wake"] as? [String: Any])?["id"] is String)
            #expect((items[1]["problem"] as? [String: Any])?["code"] as? String == "invalid-field")
            #expect((items[3]["problem"] as? [String: Any])?["code"] as? String == "unknown-app")
            #expect(try answer.json()["accepted"] as? Int == 2)
            #expect(try answer.json()["refused"] as? Int == 2)
        }
    }

    @Test("An item that breaks the rules a thousand times is told a few of them")
    func manyFindings() async throws {
        try await APIBench().serve { caller in
            let twins = Array(repeating: #""":1"#, count: 1_000).joined(separator: ",")
            let bad = APIBench.body(device: 1).replacing(
                #""aps":"#, with: #"\#(twins),"aps":"#, maxReplacements: 1)
            let batch = try await caller.send("POST", "/v1/wakes/batch", "[\(bad),\(bad)]")
            for item in try items(batch) {
                let problem = item["problem"] as? [String: Any]
                let diagnostics = problem?["diagnostics"] as? [[String: Any]]
                #expect(diagnostics?.count == 5, "\(item)")
                #expect(diagnostics?.contains { $0["severity"] as? String == "error" } == true)
            }
            let one = try await caller.send("POST", "/v1/wakes", bad).json()
            #expect((one["diagnostics"] as? [Any])?.count == 100)
        }
    }

    @Test("A batch that is no list, empty, or too long is refused as a whole")
    func refusals() async throws {
        var bench = try APIBench()
        bench.configuration.batchItemCount = 2
        let one = APIBench.body()
        try await bench.serve { caller in
            for text in ["", "{}", "[]", "[1", "[\(one)] x", "[,]"] {
                try expectProblem(
                    try await caller.send("POST", "/v1/wakes/batch", text), .malformedBody)
            }
            for (text, mediaType) in [
                ("[\(one),\(one),\(one)]", "application/json"),
                ("\(one)\n\(one)\n\(one)", "application/x-ndjson"),
            ] {
                let answer = try await caller.send(
                    "POST", "/v1/wakes/batch", text, headers: ["Content-Type": mediaType])
                try expectProblem(answer, .bodyTooLarge)
                #expect(answer.body.contains("more than 2 items"), "\(answer.body)")
            }
            for query in ["spread=-1", "spread=86401", "spread=a"] {
                try expectProblem(
                    try await caller.send("POST", "/v1/wakes/batch?\(query)", "[\(one)]"),
                    .invalidField)
            }
            try expectProblem(
                try await caller.send(
                    "POST", "/v1/wakes/batch", "[]", headers: ["Content-Type": "text/csv"]),
                .unsupportedMediaType)
        }
    }

    @Test("An item cannot be spread by itself: a batch is spread as a whole")
    func spreadItem() async throws {
        try await APIBench().serve { caller in
            let bodies = [APIBench.body(device: 1), APIBench.body(#","spread_seconds":60"#)]
            let answer = try await caller.send(
                "POST", "/v1/wakes/batch", "[" + bodies.joined(separator: ",") + "]")
            let items = try items(answer)
            #expect(items.compactMap { $0["status"] as? Int } == [202, 400])
            let detail = (items.last?["problem"] as? [String: Any])?["detail"] as? String
            #expect(
                detail?.hasPrefix("spread_seconds is given in an item") == true, "\(answer.body)")
        }
    }

    @Test("Due times are spread over the time that is asked for")
    func spread() async throws {
        try await APIBench().serve { caller in
            let bodies = (1...4).map { APIBench.body(device: UInt64($0)) }
            let answer = try await caller.send(
                "POST", "/v1/wakes/batch?spread=4000", "[" + bodies.joined(separator: ",") + "]")
            let decisions = try items(answer).compactMap {
                ($0["wake"] as? [String: Any])?["decision"] as? [String: Any]
            }
            #expect(decisions.first?["type"] as? String == "send")
            let due = decisions.compactMap { $0["due_at"] as? String }
            #expect(due.count == 3)
            #expect(due == due.sorted() && Set(due).count == 3)
        }
    }

    @Test("Each item counts in the rate of the key, and another key's rate has no part in it")
    func rate() async throws {
        let bench = try APIBench(rate: try RequestRate(perSecond: 1, burst: 10))
        try await bench.serve { caller in
            let text = (0..<40).map { APIBench.body(device: $0) }.joined(separator: "\n")
            let lines = ["Content-Type": "application/x-ndjson"]
            let first = try await caller.send(
                "POST", "/v1/wakes/batch", text, as: .wake, headers: lines)
            // More than the rate has left: it is taken whole, and paid for afterwards.
            #expect(try first.json()["accepted"] as? Int == 40, "\(first.body.prefix(300))")
            let second = try await caller.send(
                "POST", "/v1/wakes/batch", text, as: .wake, headers: lines)
            try expectProblem(second, .rateLimited)
            let pause = second.head.split(separator: "\r\n")
                .first { $0.lowercased().hasPrefix("retry-after: ") }
                .flatMap { Int($0.drop { $0 != " " }.dropFirst()) }
            // Thirty items more than the burst and a place for the next, less the time since.
            #expect((2...31).contains(pause ?? 0), "\(second.head)")
            let other = try await caller.send(
                "POST", "/v1/wakes/batch", text, as: .admin, headers: lines)
            #expect(other.status == 200)
        }
    }

    @Test("While batches are looked through, others are answered")
    func liveness() async throws {
        // Keys that look like Apple's take the longest to look at.
        let keys = (0..<140).map { number in
            let name = "contentavailabel".enumerated().map { place, letter in
                place < 8 && number >> place & 1 == 1 ? letter.uppercased() : String(letter)
            }
            return "\"\(name.joined())\":1"
        }
        let slow = APIBench.body().replacing(
            "{\"content-available\":1}",
            with: "{\"content-available\":1,\(keys.joined(separator: ","))}")
        let text = Array(repeating: slow, count: 1000).joined(separator: "\n")
        // Few, so that the bodies are not many on a large machine.
        let limits = GatewayLimits(processorCount: 2)
        let turnCount = max(1, limits.processorCount - 1)
        let batchCount = limits.processorCount + 1
        let bench = try APIBench(limits: limits)
        let turns = bench.gateway.workTurns
        let head =
            "POST /v1/wakes/batch HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
            + "Authorization: Bearer \(try #require(bench.keys[.wake]).text)\r\n"
            + "Content-Type: application/x-ndjson\r\nContent-Length: \(text.utf8.count)\r\n\r\n"
        try await bench.serve { caller in
            // The batches wait for these.
            var held: [WorkTurn] = []
            defer { for turn in held { turn.end() } }
            for _ in 0..<turnCount { held.append(await turns.begin()) }
            // Returns when the last bytes are on their way.
            let batches = try (0..<batchCount).map { _ in
                try OpenExchange(head + text, port: caller.port)
            }
            let finished = ConnectionCount()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for batch in batches {
                    group.addTask {
                        let answer = await batch.read(until: "\"items\":")
                        finished.opened()
                        #expect(answer.hasPrefix("HTTP/1.1 200"), "\(answer.prefix(300))")
                    }
                }
                func expectHealth() async throws {
                    let health = try await caller.send(
                        "GET", "/healthz", as: nil, patienceSeconds: 100)
                    #expect(health.status == 200)
                }
                while turns.waitingCount < batchCount {
                    try Task.checkCancellation()
                    await Task.yield()
                }
                try await expectHealth()
                for turn in held { turn.end() }
                for _ in 0..<5 {
                    // Behind each of the batches, and ahead of what they have left to do.
                    let turn = await turns.begin()
                    #expect(turns.waitingCount > batchCount - turnCount)
                    turn.end()
                    try await expectHealth()
                }
                #expect(finished.value == 0, "A batch was over before the others' turns.")
                try await group.waitForAll()
            }
        }
    }

    @Test("A repeated batch keeps nothing new")
    func idempotency() async throws {
        try await APIBench().serve { caller in
            let text = "[" + (1...3).map { APIBench.body(device: $0) }.joined(separator: ",") + "]"
            let key = ["Idempotency-Key": "b-1"]
            let first = try await caller.send("POST", "/v1/wakes/batch", text, headers: key)
            let second = try await caller.send("POST", "/v1/wakes/batch", text, headers: key)
            #expect(try items(first).allSatisfy { $0["replayed"] == nil })
            #expect(try items(second).allSatisfy { $0["replayed"] as? Bool == true })
            // Nothing else differs.
            #expect(first.body == second.body.replacing(#""replayed":true,"#, with: ""))
            #expect(try await caller.send("GET", "/v1/stats").json()["accepted"] as? Int == 3)
            let more = try await caller.send(
                "POST", "/v1/wakes/batch", text.dropLast() + ",\(APIBench.body(device: 4))]",
                headers: key)
            #expect(try items(more).map { $0["replayed"] as? Bool } == [true, true, true, nil])
        }
    }

    @Test("What the rules found in accepted wakes comes on demand")
    func diagnostics() async throws {
        try await APIBench().serve { caller in
            let body = APIBench.body(#","collapse_id":"inbox""#)
            for (query, isThere) in [
                ("", false), ("?diagnostics=false", false), ("?diagnostics=true", true),
            ] {
                let answer = try await caller.send(
                    "POST", "/v1/wakes/batch\(query)", "[\(body)]")
                let wake = try #require(try items(answer).first?["wake"] as? [String: Any])
                #expect((wake["diagnostics"] != nil) == isThere, "\(query) \(answer.body)")
            }
            let single = try await caller.send("POST", "/v1/wakes", body)
            #expect(try single.json()["diagnostics"] is [Any], "\(single.body)")
            try expectProblem(
                try await caller.send("POST", "/v1/wakes/batch?diagnostics=yes", "[\(body)]"),
                .invalidField)
        }
    }

    @Test("A thousand wakes go in one request")
    func many() async throws {
        try await APIBench().serve { caller in
            let text = (0..<1_000).map { APIBench.body(device: $0) }.joined(separator: "\n")
            let answer = try await caller.send(
                "POST", "/v1/wakes/batch", text, headers: ["Content-Type": "application/x-ndjson"])
            #expect(answer.status == 200, "\(answer.body.prefix(300))")
            #expect(try answer.json()["accepted"] as? Int == 1_000)
        }
    }

    /// How many wakes the test with the largest payloads sends; `ROUSE_BATCH_WAKES` says otherwise.
    /// All that a batch may have takes half a minute in a debug build.
    private static let largeCount =
        ProcessInfo.processInfo.environment["ROUSE_BATCH_WAKES"].flatMap { Int($0) } ?? 100

    /// A batch of calls with payloads of 5 KiB, the largest that APNs takes.
    private static func largeBatch(_ count: Int, asLines: Bool) -> String {
        let call = #"{"callUUID":"0f8fad5b-d9cb-469f-a165-70867728950e","n":"#
        let payload = call + "\"\(String(repeating: "x", count: 5_120 - call.utf8.count - 3))\"}"
        let bodies = (0..<count).map {
            """
            {"kind":"voip","device_token":"\(Samples.deviceToken(UInt64($0)).hex)",\
            "app":"com.example.app","payload":\(payload)}
            """
        }
        return asLines ? bodies.joined(separator: "\n") : "[\(bodies.joined(separator: ","))]"
    }

    @Test("Ten thousand wakes with the largest payloads have room in one request")
    func largest() {
        let configuration = AdminConfiguration(authentication: .disabled)
        let one = Self.largeBatch(1, asLines: true).utf8.count
        #expect(one > 5_120)
        // A kilobyte of each is left for ids, refs and blanks.
        #expect((one + 1_024) * configuration.batchItemCount < configuration.batchByteCount)
        #expect(configuration.batchByteCount < configuration.bodyBudgetByteCount)
    }

    @Test("Wakes with the largest payloads go in one request", arguments: [true, false])
    func large(asLines: Bool) async throws {
        let text = Self.largeBatch(Self.largeCount, asLines: asLines)
        try await APIBench().serve { caller in
            let answer = try await caller.send(
                "POST", "/v1/wakes/batch", text, as: .wake,
                headers: ["Content-Type": asLines ? "application/x-ndjson" : "application/json"],
                patienceSeconds: 100)
            #expect(answer.status == 200, "\(answer.body.prefix(300))")
            #expect(
                try answer.json()["accepted"] as? Int == Self.largeCount,
                "\(answer.body.prefix(600))")
        }
    }

    @Test("Ten thousand items are read, and one more is too many")
    func limit() throws {
        let item = APIBench.body()
        let lines = Array(repeating: item, count: 10_000).joined(separator: "\n")
        let list = "[" + Array(repeating: item, count: 10_000).joined(separator: ",") + "]"
        let limit = AdminConfiguration(authentication: .disabled).batchItemCount
        #expect(try JSONItems(lines: Array(lines.utf8), limit: limit).items.count == 10_000)
        let items = try JSONItems(array: Array(list.utf8), limit: limit).items
        #expect(items.count == 10_000)
        #expect(items.allSatisfy { Array($0) == Array(item.utf8) })
        let longLines = #expect(throws: JSONFault.self) {
            try JSONItems(lines: Array((lines + "\n{}").utf8), limit: limit)
        }
        #expect(longLines?.isTooMuch == true)
        let longList = #expect(throws: JSONFault.self) {
            try JSONItems(array: Array((list.dropLast() + ",{}]").utf8), limit: limit)
        }
        #expect(longList?.isTooMuch == true)
    }
}
