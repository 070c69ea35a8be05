// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayTestKit
import Testing

@testable import AdminAPI

@Suite("The room for large bodies", .timeLimit(.minutes(10)))
struct BodyBudgetTests {
    /// A gateway's limits that a test can fill: 1 000 bytes of each body are free, batches of
    /// 20 000 are read, and one of them leaves no room for a second.
    private func narrowBench() throws -> APIBench {
        var bench = try APIBench()
        bench.configuration.bodyByteCount = 1_000
        bench.configuration.batchByteCount = 20_000
        bench.configuration.bodyBudgetByteCount = 16_000
        // A body that is held open is not to end by itself, however busy the machine is.
        bench.configuration.bodySeconds = 100
        return bench
    }

    /// The head of a batch request with a body of so many bytes.
    private func head(_ bench: APIBench, _ byteCount: Int, _ more: String = "") throws -> String {
        let key = try #require(bench.keys[.wake]).text
        return "POST /v1/wakes/batch HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(key)"
            + "\r\nContent-Type: application/x-ndjson\r\nContent-Length: \(byteCount)\r\n"
            + "\(more)\r\n"
    }

    /// A batch request whose body stops 1 byte before its end.
    private func unfinished(_ bench: APIBench) throws -> String {
        try head(bench, 15_001) + String(repeating: " ", count: 15_000)
    }

    /// A batch of one wake with so many bytes in all.
    private func batch(_ byteCount: Int) -> String {
        let wake = APIBench.body()
        return wake + String(repeating: " ", count: byteCount - wake.utf8.count)
    }

    private func send(_ text: String, by caller: APIBench.Caller) async throws -> HTTPExchange {
        try await caller.send(
            "POST", "/v1/wakes/batch", text, as: .wake,
            headers: ["Content-Type": "application/x-ndjson"])
    }

    /// Sends until what an earlier request held has been given back.
    private func expectRoom(_ caller: APIBench.Caller) async throws {
        for _ in 0..<1_200 {
            let answer = try await send(batch(15_000), by: caller)
            if answer.status == 200 { return }
            try expectProblem(answer, .overloaded)
            try await Task.sleep(for: .milliseconds(25))
        }
        Issue.record("The room of an ended request was not given back.")
    }

    @Test("counts what is beyond the free part of a body, and gives all of it back")
    func counting() {
        let budget = BodyBudget(byteCount: 100, freeByteCount: 10)
        #expect(budget.due(from: 0, to: 10) == nil)
        #expect(budget.due(from: 0, to: 11) == 1)
        #expect(budget.due(from: 8, to: 30) == 20)
        #expect(budget.due(from: 30, to: 50) == 20)
        #expect(budget.hasRoom(for: 110) && !budget.hasRoom(for: 111))
        do {
            let share = BodyShare(of: budget)
            #expect(share.take(60) && share.take(40))
            #expect(!share.take(1))
            #expect(budget.takenByteCount == 100)
            #expect(budget.hasRoom(for: 10) && !budget.hasRoom(for: 11))
        }
        #expect(budget.takenByteCount == 0)
    }

    @Test("is never exceeded by many at once")
    func manyAtOnce() async {
        let budget = BodyBudget(byteCount: 100, freeByteCount: 0)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<2_000 {
                        let share = BodyShare(of: budget)
                        if share.take(40), share.take(20) { #expect(budget.byteCount == 100) }
                    }
                }
            }
        }
        #expect(budget.takenByteCount == 0)
    }

    @Test("a body that finds no room gets 429 with Retry-After; small ones always find it")
    func noRoom() async throws {
        let bench = try narrowBench()
        try await bench.serve { caller in
            let open = try OpenExchange(try unfinished(bench), port: caller.port)
            try await expectFull(bench, port: caller.port)
            try expectProblem(try await send(batch(8_000), by: caller), .overloaded)
            #expect(try await send(batch(900), by: caller).status == 200)
            #expect(try await caller.send("POST", "/v1/wakes", APIBench.body()).status == 202)
            // Without a length it is found out while the body is read.
            let key = try #require(bench.keys[.wake]).text
            let chunked =
                "POST /v1/wakes/batch HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(key)"
                + "\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "1388\r\n\(String(repeating: " ", count: 5_000))\r\n"
            let answer = try await HTTPExchange.raw(Array(chunked.utf8), port: caller.port)
            try expectProblem(answer, .overloaded)
            #expect(answer.head.lowercased().contains("retry-after: 1"))
            open.end()
            try await expectRoom(caller)
        }
    }

    /// Waits until the body of another connection has taken the room. A caller that waits for the
    /// word to go on asks for room without taking any, which could be what the other one lacks.
    private func expectFull(_ bench: APIBench, port: Int) async throws {
        for _ in 0..<400 {
            let probe = try OpenExchange(
                try head(bench, 8_000, "Expect: 100-continue\r\n"), port: port)
            let answer = await probe.read(until: "\r\n\r\n").lowercased()
            probe.end()
            if answer.hasPrefix("http/1.1 429 ") {
                #expect(answer.contains("retry-after: 1\r\n"), "\(answer)")
                return
            }
            #expect(answer.hasPrefix("http/1.1 100 "), "\(answer)")
            try await Task.sleep(for: .milliseconds(25))
        }
        Issue.record("A body that is being read took no room.")
    }

    @Test("short device tokens count for what is made of them")
    func multicast() async throws {
        let bench = try narrowBench()
        try await bench.serve { caller in
            func send(_ count: Int) async throws -> HTTPExchange {
                let tokens = Array(repeating: "\"aa\"", count: count).joined(separator: ",")
                return try await caller.send(
                    "POST", "/v1/wakes/multicast",
                    #"{"kind":"background","app":"com.example.app","#
                        + #""payload":{"aps":{"content-available":1}},"#
                        + #""device_tokens":[\#(tokens)]}"#)
            }
            // 900 tokens are less than 5 000 bytes of body, and would be a megabyte of answers.
            try expectProblem(try await send(900), .overloaded)
            let answer = try await send(15)
            #expect(answer.status == 200)
            let items = try #require(try answer.json()["items"] as? [[String: Any]])
            #expect(items.count == 15)
            #expect(items.dropFirst().allSatisfy { $0.count == 2 && $0["wake"] == nil })
            try await expectRoom(caller)
        }
    }

    @Test("room comes back after an error, a body too large, and a caller who is too slow")
    func endings() async throws {
        var bench = try narrowBench()
        bench.configuration.bodySeconds = 1
        bench.configuration.bodyBytesPerSecond = 1_000_000
        try await bench.serve { caller in
            for _ in 0..<3 {
                let text = "[" + String(repeating: " ", count: 15_000)
                try expectProblem(
                    try await caller.send("POST", "/v1/wakes/batch", text), .malformedBody)
            }
            let key = try #require(bench.keys[.wake]).text
            let chunk = "1388\r\n\(String(repeating: " ", count: 5_000))\r\n"
            let long =
                "POST /v1/receipts HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(key)\r\n"
                + "Transfer-Encoding: chunked\r\n\r\n" + String(repeating: chunk, count: 5)
            for _ in 0..<3 {
                _ = try await HTTPExchange.raw(Array(long.utf8), port: caller.port)
            }
            try await expectRoom(caller)
            let slow = try OpenExchange(try unfinished(bench), port: caller.port)
            #expect(await slow.read(until: "request-timeout").contains(" 408 "))
            try await expectRoom(caller)
        }
    }
}
