// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTestKit
import Testing

@testable import CurlHTTP

@Suite("The HTTP caller", .timeLimit(.minutes(10)))
struct HTTPCallerTests {
    private func call(
        _ server: OneShotServer, _ change: (inout HTTPCaller.Request) -> Void = { _ in }
    ) throws -> HTTPCaller.Answer {
        var request = HTTPCaller.Request("GET", "http://127.0.0.1:\(server.port)/a?b=c")
        change(&request)
        return try HTTPCaller().call(request)
    }

    @Test("A request arrives as it was made, and its answer comes back")
    func exchange() throws {
        let server = try OneShotServer(
            "HTTP/1.1 429 Busy\r\nRetry-After: 7\r\nContent-Length: 4\r\n\r\nbusy")
        defer { server.stop() }
        let answer = try call(server) {
            $0.method = "POST"
            $0.headers = [("Authorization", "Bearer secret"), ("X-A", "1")]
            $0.body = Array("hello".utf8)
        }
        #expect(answer.status == 429)
        #expect(answer.retryAfterSeconds == 7 && answer.redirectURL == nil)
        #expect(answer.body == Array("busy".utf8))
        let text = try #require(server.received.first)
        #expect(text.hasPrefix("POST /a?b=c HTTP/1.1\r\n"))
        #expect(text.contains("\r\nAuthorization: Bearer secret\r\n"))
        #expect(text.hasSuffix("\r\n\r\nhello"))
        #expect(!text.contains("Expect:"))
    }

    @Test(
        "This machine is known in every notation, and nothing else is taken for it",
        arguments: [
            ("http://127.0.0.1:8080", true), ("https://127.8.9.1/x", true),
            ("http://localhost", true), ("http://LOCALHOST.:80/", true),
            ("http://a.localhost", true), ("http://[::1]:8080", true),
            ("http://[::ffff:127.0.0.1]", true), ("http://127.1", true),
            ("http://2130706433", true), ("http://0x7f000001", true), ("http://0.0.0.0:1", true),
            ("http://[::]:1", true), ("http://127.0.0.1@example.com", false),
            ("http://example.com#@127.0.0.1", false), ("http://localhost.example.com", false),
            ("http://notlocalhost", false), ("http://128.0.0.1", false),
            ("http://[2001:db8::1]", false), ("http://[::ffff:10.0.0.1]", false),
            ("http://127.0.0.1.example", false), ("nonsense", false), ("", false),
        ])
    func loopback(url: String, isLoopback: Bool) {
        #expect(HTTPCaller.isLoopback(url: url) == isLoopback)
    }

    @Test(
        "Redirects are not followed, and every method goes out as it is",
        arguments: ["DELETE", "PUT"])
    func methods(method: String) throws {
        let server = try OneShotServer(
            "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n")
        defer { server.stop() }
        let answer = try call(server) { $0.method = method }
        #expect(answer.status == 302 && answer.redirectURL == "http://127.0.0.1:1/")
        #expect(server.received.first?.hasPrefix(method + " ") == true)
    }

    @Test("A request without a body announces none; a POST says that it is empty")
    func noBody() throws {
        let server = try OneShotServer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        defer { server.stop() }
        for method in ["GET", "DELETE", "POST"] { _ = try call(server) { $0.method = method } }
        let requests = server.received.map { $0.lowercased() }
        try #require(requests.count == 3)
        for request in requests.prefix(2) {
            #expect(!request.contains("content-"), "\(request)")
        }
        #expect(requests[2].contains("\r\ncontent-length: 0\r\n"))
    }

    @Test("A header that would begin another one is refused without showing its value")
    func injection() throws {
        let server = try OneShotServer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        defer { server.stop() }
        let error = #expect(throws: HTTPCaller.Failure.self) {
            try call(server) { $0.headers = [("Authorization", "Bearer a\r\nX-Evil: 1")] }
        }
        #expect(error?.description.contains("Authorization") == true)
        #expect(error?.description.contains("Evil") == false)
        #expect(server.received.isEmpty)
    }

    @Test("An answer that is too large, none at all, and nobody there: each fails in words")
    func failures() throws {
        let large = try OneShotServer(
            "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + String(repeating: "x", count: 100))
        defer { large.stop() }
        let error = #expect(throws: HTTPCaller.Failure.self) {
            try call(large) { $0.answerByteCount = 99 }
        }
        #expect(error?.description == "the answer is too large")
        #expect(try call(large) { $0.answerByteCount = 100 }.body.count == 100)
        #expect(error?.isSent == true)
        for url in ["http://127.0.0.1:1/", "file:///etc/passwd"] {
            let error = #expect(throws: HTTPCaller.Failure.self) {
                try HTTPCaller().call(HTTPCaller.Request("GET", url))
            }
            #expect(error?.isSent == false)
        }
    }

    @Test("One that hangs up or never answers may have seen the request", arguments: ["", nil])
    func silence(answer: String?) throws {
        let server = try OneShotServer(answer)
        defer { server.stop() }
        let error = #expect(throws: HTTPCaller.Failure.self) {
            try call(server) {
                $0.method = "POST"
                $0.body = [1, 2, 3]
                $0.milliseconds = answer == nil ? 200 : 5_000
            }
        }
        #expect(error?.isSent == true)
    }

    @Test("A caller is used again")
    func again() throws {
        let server = try OneShotServer("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        defer { server.stop() }
        let caller = try HTTPCaller()
        for _ in 0..<3 {
            let request = HTTPCaller.Request("GET", "http://127.0.0.1:\(server.port)/")
            #expect(try caller.call(request).body == Array("ok".utf8))
        }
        #expect(server.received.count == 3)
    }
}
