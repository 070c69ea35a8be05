// SPDX-License-Identifier: Apache-2.0

import Foundation
import Gateway
import GatewayTestKit
import Testing
import WaitKit

@testable import AdminAPI

@Suite("Plain requests, which need no task, over real sockets", .timeLimit(.minutes(10)))
struct DirectRouteHandlerTests {
    private struct Sample: CustomStringConvertible {
        let name: String
        let body: String
        var headers: [String: String] = [:]
        var scope: Scope? = .wake

        var description: String { name }
    }

    private static let samples: [Sample] = [
        Sample(name: "accepted", body: APIBench.body()),
        Sample(
            name: "with diagnostics",
            body: APIBench.body().replacing("\"n\":7", with: "\"aps-url\":\"x\"")),
        Sample(
            name: "first with a key", body: APIBench.body(device: 8),
            headers: ["Idempotency-Key": "one"]),
        Sample(
            name: "repeated", body: APIBench.body(device: 8), headers: ["Idempotency-Key": "one"]),
        Sample(
            name: "another with the same key", body: APIBench.body(device: 9),
            headers: ["Idempotency-Key": "one"]),
        Sample(name: "wrong key", body: APIBench.body(), headers: ["Idempotency-Key": "a b"]),
        Sample(name: "no JSON", body: "{\"kind\":"),
        Sample(name: "an unknown member", body: APIBench.body(device: 7, ",\"kidn\":1")),
        Sample(
            name: "an unknown app",
            body: APIBench.body().replacing("com.example.app", with: "com.example.other")),
        Sample(
            name: "an invalid payload",
            body: APIBench.body().replacing("\"content-available\":1", with: "\"badge\":1")),
        Sample(
            name: "for a user", body: APIBench.body().replacing("device_token", with: "user")),
        Sample(
            name: "another media type", body: APIBench.body(),
            headers: ["Content-Type": "text/plain"]),
        Sample(
            name: "a media type with a parameter", body: APIBench.body(),
            headers: ["Content-Type": "Application/JSON; charset=utf-8"]),
        Sample(
            name: "encoded", body: APIBench.body(), headers: ["Content-Encoding": "gzip"]),
        Sample(name: "no key", body: APIBench.body(), scope: nil),
        Sample(
            name: "an unknown API key", body: APIBench.body(),
            headers: ["Authorization": "Bearer rk_unknown"], scope: nil),
        Sample(name: "a key of another scope", body: APIBench.body(), scope: .read),
        Sample(name: "empty", body: ""),
    ]

    /// How a request is sent. Without its length only the router reads it.
    private enum Way: CaseIterable {
        case withLength, inChunks, http2WithLength, http2WithoutLength
    }

    private func send(
        _ sample: Sample, _ way: Way, _ caller: APIBench.Caller
    ) async throws -> HTTPExchange {
        guard way == .withLength || way == .inChunks else {
            return try await sendHTTP2(sample, hasLength: way == .http2WithLength, caller)
        }
        let inChunks = way == .inChunks
        var lines = ["POST /v1/wakes HTTP/1.1", "Host: localhost", "Connection: close"]
        if let scope = sample.scope {
            lines.append("Authorization: Bearer \(try #require(caller.keys[scope]).text)")
        }
        lines += sample.headers.map { "\($0): \($1)" }
        let size = sample.body.utf8.count
        lines.append(inChunks ? "Transfer-Encoding: chunked" : "Content-Length: \(size)")
        var text = lines.joined(separator: "\r\n") + "\r\n\r\n"
        if !inChunks {
            text += sample.body
        } else {
            if size > 0 { text += String(size, radix: 16) + "\r\n\(sample.body)\r\n" }
            text += "0\r\n\r\n"
        }
        return try await HTTPExchange.raw(Array(text.utf8), port: caller.port)
    }

    private func sendHTTP2(
        _ sample: Sample, hasLength: Bool, _ caller: APIBench.Caller
    ) async throws -> HTTPExchange {
        let key = try sample.scope.map { try #require(caller.keys[$0]).text }
        let http2 = try HTTP2Caller(port: caller.port, key: key)
        var fields = http2.fields("POST", "/v1/wakes")
        fields += sample.headers.map { ($0.key.lowercased(), $0.value) }
        let body = Array(sample.body.utf8)
        if hasLength { fields.append(("content-length", String(body.count))) }
        let stream = try http2.begin(exactly: fields, endsStream: false)
        try http2.sendData(body, on: stream)
        let answer = try await http2.answer(to: stream)
        let head =
            ["HTTP/2 \(answer.status)"]
            + answer.headers.filter { !$0.key.hasPrefix(":") }.map { "\($0): \($1)" }
        return HTTPExchange(
            status: answer.status, head: head.joined(separator: "\r\n"), body: answer.body)
    }

    /// An answer without what differs from one to the next: ids, times, and its length; and without
    /// what only a version of HTTP has.
    private func fixed(_ exchange: HTTPExchange) -> String {
        let names = ["date:", "x-request-id:", "location:", "content-length:"]
        let fields = exchange.head.lowercased().components(separatedBy: "\r\n").dropFirst()
        let lines = fields.filter { $0 != "connection: close" }.map { line in
            names.first { line.hasPrefix($0) } ?? line
        }
        let body = exchange.body
            .replacing(/[0-9a-f]{8}-[0-9a-f-]{27}/, with: "ID")
            .replacing(/\d{4}-\d\d-\d\dT[\d:.]+Z/, with: "TIME")
            .replacing(/\d\d:\d\d(:\d\d)?/, with: "TIME")
        return "\(exchange.status)\n" + lines.sorted().joined(separator: "\n") + "\n" + body
    }

    @Test("Each gets the answer that the router gives")
    func sameAnswers() async throws {
        var answers: [[String]] = []
        var statusLines: [[Substring]] = []
        for way in Way.allCases {
            var texts: [String] = []
            var lines: [Substring] = []
            try await APIBench().serve { caller in
                for sample in Self.samples {
                    let answer = try await send(sample, way, caller)
                    #expect(answer.status >= 200, "\(sample)")
                    texts.append(fixed(answer))
                    lines.append(answer.head.prefix { !$0.isNewline })
                }
                // Both are measured under the route's name.
                let page = try await caller.send("GET", "/metrics")
                #expect(page.body.contains("route=\"/v1/wakes\",method=\"POST\",status=\"2xx\""))
            }
            answers.append(texts)
            statusLines.append(lines)
        }
        // With the reason phrases of HTTP/1.1.
        #expect(statusLines[0] == statusLines[1])
        for (index, sample) in Self.samples.enumerated() {
            for (way, texts) in zip(Way.allCases, answers) {
                #expect(texts[index] == answers[0][index], "\(sample), \(way)")
            }
        }
    }

    private func request(_ line: String, _ key: KeySecret, _ body: String? = nil) -> String {
        "\(line) HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(key.text)\r\n"
            + (body.map { "Content-Length: \($0.utf8.count)\r\n\r\n\($0)" } ?? "\r\n")
    }

    /// How many answers have which status.
    private func statuses(_ answers: String) -> [Int: Int] {
        let lines = answers.matches(of: /HTTP\/1\.1 (\d+)/).compactMap { Int($0.output.1) }
        return Dictionary(lines.map { ($0, 1) }, uniquingKeysWith: +)
    }

    @Test("Requests in one packet are answered in their order, whoever answers them")
    func pipelined() async throws {
        try await APIBench().serve { caller in
            let key = try #require(caller.keys[.admin])
            let plain = request("POST /v1/wakes", key, APIBench.body())
            let wrong = request("POST /v1/wakes", key, "{")
            let last = request("GET /nothing", key).replacing(
                "\r\nHost", with: "\r\nConnection: close\r\nHost")
            let packet =
                [
                    plain, request("GET /healthz", key), plain, plain, wrong,
                    request("POST /v1/wakes?wait=outcome&timeout=1", key, APIBench.body()),
                    wrong, request("GET /v1/apps", key), plain, last,
                ].joined()
            let answer = try await HTTPExchange.raw(Array(packet.utf8), port: caller.port)
            let all = answer.head + "\r\n\r\n" + answer.body
            let statuses = all.matches(of: /HTTP\/1\.1 (\d+)/).compactMap { Int($0.output.1) }
            #expect(
                statuses.enumerated().allSatisfy { index, status in
                    index == 5
                        ? [200, 202].contains(status)
                        : status == [202, 200, 202, 202, 400, 0, 400, 200, 202, 404][index]
                } && statuses.count == 10, "\(statuses)")
        }
    }

    @Test("A caller that sends many without reading gets them all, and so does one that has ended")
    func many() async throws {
        try await APIBench().serve { caller in
            let key = try #require(caller.keys[.wake])
            let count = 500
            let packet = (0..<count).map {
                request("POST /v1/wakes", key, APIBench.body(device: UInt64($0)))
            }.joined()
            let exchange = try OpenExchange("", port: caller.port)
            try exchange.send(packet)
            exchange.closeSendingHalf()
            let answers = await exchange.read()
            #expect(statuses(answers) == [202: count])
        }
    }

    @Test("A caller that does not read is not answered without end, and loses no answer")
    func slowReader() async throws {
        var bench = try APIBench()
        // The time in which nothing is read here is not the caller's.
        bench.configuration.headerSeconds = 1
        bench.configuration.bodySeconds = 1
        try await bench.serve { caller in
            let key = try #require(caller.keys[.wake])
            // Each member is a finding in the answer, so that the answers are large.
            let members = (0..<110).map { ",\"x\($0)\":1" }.joined()
            let count = 900
            let packet = (0..<count).map {
                request(
                    "POST /v1/wakes", key,
                    APIBench.body(device: UInt64($0)).replacing(
                        "available\":1", with: "available\":1\(members)"))
            }.joined()
            let exchange = try OpenExchange(
                "", port: caller.port, receiveByteCount: 65_536)
            let sending = Task.detached {
                try exchange.send(packet)
                exchange.closeSendingHalf()
            }
            var accepted = -1
            var now = try await bench.gateway.counts().accepted
            while now == 0 || now != accepted {
                accepted = now
                try await elapse(.milliseconds(1_500))
                now = try await bench.gateway.counts().accepted
            }
            #expect(accepted < count)
            let answers = await exchange.read()
            try await sending.value
            #expect(statuses(answers) == [202: count])
        }
    }

    @Test("A key without the scope is counted once a request against its rate")
    func rate() async throws {
        let bench = try APIBench(rate: try RequestRate(perSecond: 1, burst: 4))
        try await bench.serve { caller in
            var statuses: [Int] = []
            for _ in 0..<4 {
                statuses.append(
                    try await caller.send("POST", "/v1/wakes", APIBench.body(), as: .read).status)
            }
            #expect(statuses == [403, 403, 403, 403])
        }
    }

    @Test("A shutdown waits for the answer to a request that is being written")
    func shutdown() async throws {
        let store = WatchfulStore(InMemoryWakeStore())
        let bench = try APIBench()
        let gateway = sampleGateway(store: store, sender: bench.sender)
        store.closeGate()
        var answer: Task<HTTPExchange, any Error>?
        var opening: Task<Void, any Error>?
        try await withAPI(gateway, configuration: bench.configuration) { port in
            let caller = APIBench.Caller(port: port, keys: bench.keys)
            answer = Task {
                try await caller.send("POST", "/v1/wakes", APIBench.body(), as: .wake)
            }
            while !store.isWaitingAtGate { try await elapse(.milliseconds(5)) }
            opening = Task {
                // The listener is closed first.
                while let socket = try? LoopbackSocket.connect(port: port, patienceSeconds: 1) {
                    close(socket)
                    try await elapse(.milliseconds(5))
                }
                store.openGate()
            }
        }
        #expect(try await answer?.value.status == 202)
        try await opening?.value
    }
}
