// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayTestKit
import Testing

@testable import AdminAPI

@Suite(
    "Requests that two programs could read differently, over real sockets", .timeLimit(.minutes(10))
)
struct FramingCheckTests {
    private static let host = "Host: localhost\r\n"

    private static let refused = [
        "GET /healthz HTTP/1.1\r\n\r\n",
        "GET /healthz HTTP/1.1\r\n\(host)Host: other\r\n\r\n",
        "GET /healthz HTTP/1.1\r\n\(host)host: localhost\r\n\r\n",
        "GET /healthz HTTP/1.0\r\n\(host)Host: localhost\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nHost:\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nHost: a b\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nHost: a@b\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nHost: a/b\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nHost: a:b\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nHost: a:99999\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nHost: [::1\r\n\r\n",
        "GET /healthz HTTP/1.2\r\n\(host)\r\n",
        "GET /healthz HTTP/2.0\r\n\(host)\r\n",
        "GET /healthz HTTP/0.9\r\n\(host)\r\n",
        "POST /v1/wakes HTTP/1.0\r\n\(host)Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST /v1/wakes HTTP/1.1\r\n\(host)Transfer-Encoding: identity, chunked\r\n\r\n0\r\n\r\n",
        "POST /v1/wakes HTTP/1.1\r\n\(host)Transfer-Encoding: identity\r\n"
            + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST /v1/wakes HTTP/1.1\r\n\(host)Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
        "POST /v1/wakes HTTP/1.1\r\n\(host)Transfer-Encoding: gzip\r\n\r\n0\r\n\r\n",
        "POST /v1/wakes HTTP/1.1\r\n\(host)Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n"
            + "0\r\n\r\n",
        "POST /v1/wakes HTTP/1.1\r\n\(host)Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
            + "0\r\n\r\n",
        "POST /v1/wakes HTTP/1.1\r\n\(host)Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
        "POST /v1/wakes HTTP/1.1\r\n\(host)Content-Length: 2, 2\r\n\r\n{}",
        "POST /v1/wakes HTTP/1.1\r\n\(host)Content-Length: +2\r\n\r\n{}",
        "POST /v1/wakes HTTP/1.1\r\n\(host)Content-Length: -2\r\n\r\n{}",
        "POST /v1/wakes HTTP/1.1\r\n\(host)Content-Length: 0x2\r\n\r\n{}",
        "POST /v1/wakes HTTP/1.1\r\n\(host)Content-Length: 1 2\r\n\r\n{}",
        "POST /v1/wakes HTTP/1.1\r\n\(host)Content-Length:\r\n\r\n{}",
        "POST /v1/wakes HTTP/1.1\r\n\(host)Content-Length: 99999999999999999999\r\n\r\n{}",
        "POST /v1/wakes HTTP/1.1\r\n\(host)Content-Length : 2\r\n\r\n{}",
        "GET //healthz HTTP/1.1\r\n\(host)\r\n",
        "GET /v1//stats HTTP/1.1\r\n\(host)\r\n",
        "GET /healthz// HTTP/1.1\r\n\(host)\r\n",
        "GET http://localhost//healthz HTTP/1.1\r\n\(host)\r\n",
        "GET http:///healthz HTTP/1.1\r\n\(host)\r\n",
        "GET http://a@b/healthz HTTP/1.1\r\n\(host)\r\n",
        "GET healthz HTTP/1.1\r\n\(host)\r\n",
        "GET ftp://localhost/healthz HTTP/1.1\r\n\(host)\r\n",
        "GET * HTTP/1.1\r\n\(host)\r\n",
        "CONNECT localhost:80 HTTP/1.1\r\n\(host)\r\n",
        "GET /healthz#a HTTP/1.1\r\n\(host)\r\n",
        "GET /healthz HTTP/1.1\r\n\(host)X: a\r\n b\r\n\r\n",
        "GET /healthz HTTP/1.1\n\(host)\n",
        "GET /healthz HTTP/1.1\r\nHost: localhost\nX: a\r\n\r\n",
        "GET /healthz HTTP/1.1\r\n\(host)X: a\rb\r\n\r\n",
        "GET /healthz HTTP/1.1\r\n\(host)X: a\0b\r\n\r\n",
        "GET /healthz HTTP/1.1\r\n\(host)X\r\n\r\n",
        "GET /healthz HTTP/1.1\r\n\(host): a\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n",
    ]

    @Test("They are refused, and the connection ends", arguments: refused)
    func refusal(text: String) async throws {
        try await APIBench().serve { caller in
            let answer = try await HTTPExchange.raw(Array(text.utf8), port: caller.port)
            try expectProblem(answer, .malformedRequest)
            #expect(answer.head.lowercased().contains("connection: close"))
            #expect(answer.head.ranges(of: "HTTP/1.1").count == 1, "\(answer)")
        }
    }

    @Test(
        "What NIO's parser refuses is said as far as it tells",
        arguments: [
            ("Content-Length: 1\r\nContent-Length: 2\r\n\r\n", "Send Content-Length once"),
            ("Content-Length: x\r\n\r\n", "Send Content-Length once"),
            ("Transfer-Encoding: chunked\r\n\r\nzz\r\n", "A chunk of the body"),
            ("X : a\r\n\r\n", "A header field has a character"),
        ])
    func words(fields: String, words: String) async throws {
        try await APIBench().serve { caller in
            let text = "POST /v1/wakes HTTP/1.1\r\n\(Self.host)\(fields)"
            let answer = try await HTTPExchange.raw(Array(text.utf8), port: caller.port)
            try expectProblem(answer, .malformedRequest)
            #expect(answer.body.contains(words), "\(answer.body)")
        }
    }

    @Test(
        "What is allowed in another form is answered",
        arguments: [
            "GET /healthz HTTP/1.0\r\n\r\n",
            "GET /healthz HTTP/1.0\r\n\(host)\r\n",
            "GET /healthz HTTP/1.1\r\nhOST: localhost:8080\r\nConnection: close\r\n\r\n",
            "GET /healthz HTTP/1.1\r\nHost: [::1]:8080\r\nConnection: close\r\n\r\n",
            "GET http://localhost/healthz HTTP/1.1\r\n\(host)Connection: close\r\n\r\n",
            "GET HTTP://other:80/healthz HTTP/1.1\r\n\(host)Connection: close\r\n\r\n",
            "GET /healthz HTTP/1.1\r\n\(host)Connection: close\r\nUpgrade: h2c\r\n\r\n",
            "GET /healthz HTTP/1.1\r\n\(host)Transfer-Encoding: CHUNKED\r\n"
                + "Connection: close\r\n\r\n"
                + "2;a=b\r\n{}\r\n0\r\nX: trailer\r\n\r\n",
        ])
    func allowed(text: String) async throws {
        try await APIBench().serve { caller in
            let answer = try await HTTPExchange.raw(Array(text.utf8), port: caller.port)
            #expect(answer.status == 200, "\(answer.head)\(answer.body)")
            #expect(answer.body.contains("alive"))
        }
    }

    @Test("An interim answer is for HTTP/1.1 only, and an upgrade is answered and not made")
    func interim() async throws {
        let bench = try APIBench()
        let key = try #require(bench.keys[.wake]).text
        let body = APIBench.body()
        let rest =
            "\(Self.host)Authorization: Bearer \(key)\r\nContent-Type: application/json\r\n"
            + "Expect: 100-continue\r\nConnection: close\r\n"
            + "Content-Length: \(body.utf8.count)\r\n\r\n"
            + body
        try await bench.serve { caller in
            for (version, count) in [("1.1", 2), ("1.0", 1)] {
                let answer = try await HTTPExchange.raw(
                    Array("POST /v1/wakes HTTP/\(version)\r\n\(rest)".utf8), port: caller.port)
                let all = answer.head + "\r\n\r\n" + answer.body
                #expect(all.ranges(of: "HTTP/1.1 ").count == count, "\(all)")
                #expect(all.contains("HTTP/1.1 202"), "\(all)")
            }
            // Nobody reads on behind a request that asks for another protocol.
            let upgrade =
                "GET /healthz HTTP/1.1\r\n\(Self.host)Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n"
            let last = "GET /healthz HTTP/1.1\r\n\(Self.host)Connection: close\r\n\r\n"
            let answer = try await HTTPExchange.raw(
                Array((upgrade + last).utf8), port: caller.port)
            #expect(answer.status == 200)
            #expect(answer.head.lowercased().contains("connection: close"), "\(answer.head)")
            #expect((answer.head + answer.body).ranges(of: "HTTP/1.1").count == 1, "\(answer)")
        }
    }

    @Test("Requests before a refused one on a connection have their answers")
    func pipelined() async throws {
        try await APIBench().serve { caller in
            let good = "GET /healthz HTTP/1.1\r\n\(Self.host)\r\n"
            for bad in ["GET //healthz HTTP/1.1\r\n\(Self.host)\r\n", "hello\r\n\r\n"] {
                let answer = try await HTTPExchange.raw(
                    Array((good + good + bad + good).utf8), port: caller.port)
                let all = answer.head + answer.body
                #expect(all.ranges(of: "HTTP/1.1 200").count == 2, "\(all)")
                #expect(all.ranges(of: "HTTP/1.1 400").count == 1, "\(all)")
            }
        }
    }

    @Test(
        "A request that says it is the last one is, and so is its answer",
        arguments: [
            "GET /healthz HTTP/1.1\r\n\(host)Connection: close\r\n\r\n",
            "GET /healthz HTTP/1.1\r\n\(host)Connection: Close\r\n\r\n",
            "GET /healthz HTTP/1.1\r\n\(host)Connection: keep-alive, close\r\n\r\n",
            "GET /healthz HTTP/1.1\r\n\(host)Connection: te\r\nConnection: close\r\n\r\n",
            "GET /healthz HTTP/1.0\r\n\r\n",
            "GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
        ])
    func last(text: String) async throws {
        var bench = try APIBench()
        // None of the listener's own times ends the connection while this test looks.
        bench.configuration.strangerSeconds = 60
        bench.configuration.headerSeconds = 60
        bench.configuration.idleSeconds = 60
        try await bench.serve { caller in
            for behind in ["", "GET /healthz HTTP/1.1\r\n\(Self.host)\r\n", "hello\r\n\r\n"] {
                let start = ContinuousClock.now
                let answer = try await HTTPExchange.raw(
                    Array((text + behind).utf8), port: caller.port, patienceSeconds: 30)
                #expect(start.duration(to: .now) < .seconds(20), "It was not closed: \(answer)")
                #expect(answer.status == 200)
                #expect(answer.head.lowercased().contains("connection: close"), "\(answer.head)")
                #expect((answer.head + answer.body).ranges(of: "HTTP/1.1").count == 1, "\(answer)")
            }
        }
    }

    @Test("A stream for a caller of HTTP/1.0 has no chunks, and ends with its connection")
    func oldStream() async throws {
        let bench = try APIBench()
        let key = try #require(bench.keys[.read]).text
        try await bench.serve { caller in
            let answer = try await HTTPExchange.raw(
                Array(
                    "GET /v1/events?seconds=1 HTTP/1.0\r\nAuthorization: Bearer \(key)\r\n\r\n"
                        .utf8), port: caller.port)
            #expect(answer.status == 200, "\(answer)")
            let head = answer.head.lowercased()
            #expect(!head.contains("transfer-encoding"), "\(head)")
            #expect(head.contains("connection: close"), "\(head)")
            #expect(answer.body.hasPrefix("retry:"), "\(answer.body)")
        }
    }

    @Test("The refusal of a request for a head alone has no body")
    func head() async throws {
        try await APIBench().serve { caller in
            for text in [
                "HEAD /healthz HTTP/1.1\r\nHost: a b\r\n\r\n",
                "HEAD //healthz HTTP/1.1\r\n\(Self.host)\r\n",
                "HEAD /v1/nothing HTTP/1.1\r\n\(Self.host)Connection: close\r\n\r\n",
            ] {
                let answer = try await HTTPExchange.raw(Array(text.utf8), port: caller.port)
                #expect((400..<500).contains(answer.status), "\(answer)")
                #expect(answer.head.lowercased().contains("content-length: "), "\(answer.head)")
                #expect(answer.body.isEmpty, "\(answer.body)")
            }
        }
    }

    @Test("A request line of any length is refused, and read no further than it has to be")
    func longLine() async throws {
        try await APIBench().serve { caller in
            for count in [20_000, 200_000, 2_000_000] {
                let path = "/" + String(repeating: "a", count: count)
                let answer = try await HTTPExchange.raw(
                    Array("GET \(path) HTTP/1.1\r\n\(Self.host)\r\n".utf8), port: caller.port)
                #expect([400, 414, 431].contains(answer.status), "\(count): \(answer.head)")
            }
        }
    }
}
