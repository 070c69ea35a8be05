// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayTestKit
import Testing
import WaitKit

@testable import AdminAPI

@Suite("Slow, large and broken requests over real sockets", .timeLimit(.minutes(10)))
struct ConnectionGuardTests {
    private func authorization(_ bench: APIBench) throws -> String {
        "Authorization: Bearer \(try #require(bench.keys[.wake]).text)\r\n"
    }

    @Test("A head that does not end gets 408")
    func slowHead() async throws {
        var bench = try APIBench()
        bench.configuration.headerSeconds = 1
        try await bench.serve { caller in
            let answer = try await HTTPExchange.raw(
                Array("GET /healthz HTTP/1.1\r\nHost:".utf8), port: caller.port)
            try expectProblem(answer, .requestTimeout)
            #expect(answer.head.lowercased().contains("connection: close"))
        }
    }

    @Test("A second request has its own time, and no less for what the first one took")
    func slowSecondHead() async throws {
        var bench = try APIBench()
        bench.configuration.headerSeconds = 1
        try await bench.serve { caller in
            let request = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
            let exchange = try OpenExchange(request, port: caller.port)
            let first = await exchange.read(until: "\r\n\r\n")
            #expect(first.hasPrefix("HTTP/1.1 200"))
            // The first request's timer fires while the second head is on its way.
            try await elapse(.milliseconds(700))
            let start = ContinuousClock.now
            try exchange.send("GET /healthz HTTP/1.1")
            let second = await exchange.read(until: "HTTP/1.1 408")
            #expect(second.contains("HTTP/1.1 408"))
            #expect(start.duration(to: .now) >= .milliseconds(950))
        }
    }

    @Test("A body that does not end gets 408")
    func slowBody() async throws {
        var bench = try APIBench()
        bench.configuration.bodySeconds = 1
        let head =
            "POST /v1/wakes HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n"
            + (try authorization(bench)) + "Content-Type: application/json\r\n\r\n{"
        try await bench.serve { caller in
            let answer = try await HTTPExchange.raw(Array(head.utf8), port: caller.port)
            try expectProblem(answer, .requestTimeout)
        }
    }

    @Test("Too large a head gets 431, and what is not HTTP gets 400")
    func broken() async throws {
        try await APIBench().serve { caller in
            let large = try await HTTPExchange.send(
                "GET", "/healthz", headers: ["X-Large": String(repeating: "x", count: 20_000)],
                port: caller.port)
            try expectProblem(large, .headersTooLarge)
            for text in [
                "hello\r\n\r\n", "GET /healthz\r\n\r\n", "GET / HTTP/1.1\r\nA B: c\r\n\r\n",
                "GET /healthz HTTP/1.1\r\nContent-Length: x\r\n\r\n",
                "POST /v1/wakes HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
                "\u{16}\u{3}\u{1}\u{0}",
            ] {
                let answer = try await HTTPExchange.raw(Array(text.utf8), port: caller.port)
                // A request that lacks its key may be answered before its body is seen to be bad.
                #expect([400, 401].contains(answer.status), "\(text): \(answer.head)")
                #expect(answer.head.lowercased().contains("application/problem+json"), "\(text)")
            }
        }
    }

    @Test("Too large a body gets 413, with and without Content-Length")
    func largeBody() async throws {
        let bench = try APIBench()
        let head =
            "POST /v1/wakes HTTP/1.1\r\nHost: localhost\r\n" + (try authorization(bench))
            + "Content-Type: application/json\r\n"
        try await bench.serve { caller in
            let text =
                head + "Content-Length: 70000\r\n\r\n" + String(repeating: "x", count: 70_000)
            try expectProblem(
                try await HTTPExchange.raw(Array(text.utf8), port: caller.port), .bodyTooLarge)
            let chunk = "2000\r\n\(String(repeating: "x", count: 0x2000))\r\n"
            let chunks =
                head + "Transfer-Encoding: chunked\r\n\r\n"
                + String(repeating: chunk, count: 10) + "0\r\n\r\n"
            try expectProblem(
                try await HTTPExchange.raw(Array(chunks.utf8), port: caller.port), .bodyTooLarge)
        }
    }

    @Test("Requests in one packet are answered one by one, in order")
    func pipelined() async throws {
        try await APIBench().serve { caller in
            let one = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
            let last = "GET /nothing HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
            let answer = try await HTTPExchange.raw(
                Array((one + one + last).utf8), port: caller.port)
            let all = answer.head + answer.body
            #expect(all.ranges(of: "HTTP/1.1 200").count == 2)
            #expect(all.ranges(of: "HTTP/1.1 404").count == 1)
        }
    }

    @Test("Deep nesting is refused without exhausting anything")
    func nesting() async throws {
        try await APIBench().serve { caller in
            let deep = String(repeating: "[", count: 20_000) + String(repeating: "]", count: 20_000)
            let body = APIBench.body().replacing("\"n\":7", with: "\"n\":\(deep)")
            try expectProblem(try await caller.send("POST", "/v1/wakes", body), .invalidWake)
            let open = String(repeating: "{\"a\":", count: 10_000)
            try expectProblem(try await caller.send("POST", "/v1/wakes", open), .malformedBody)
        }
    }

    @Test("A method that a path does not take gets 405 with Allow; a path that is none gets 404")
    func methods() async throws {
        try await APIBench().serve { caller in
            for (method, path, allow) in [
                ("GET", "/v1/wakes/batch", "POST"), ("POST", "/healthz", "GET, HEAD"),
                ("PATCH", "/v1/wakes", "GET, HEAD, POST"), ("TRACE", "/readyz", "GET, HEAD"),
                ("DELETE", "/v1/receipts", "POST"),
            ] {
                let answer = try await caller.send(method, path)
                try expectProblem(answer, .methodNotAllowed)
                #expect(answer.head.contains("\(allow)\r\n"), "\(answer.head)")
            }
            try expectProblem(try await caller.send("GET", "/v2/wakes"), .notFound)
            let head = try await caller.send("HEAD", "/healthz")
            #expect(head.status == 200)
            #expect(head.body.isEmpty)
        }
    }

    @Test("An unknown or repeated query parameter is refused")
    func queries() async throws {
        try await APIBench().serve { caller in
            for path in ["/v1/wakes?stat=sent", "/v1/wakes?limit=1&limit=2", "/healthz?x=1"] {
                try expectProblem(try await caller.send("GET", path), .invalidField)
            }
        }
    }
}
