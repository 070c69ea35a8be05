// SPDX-License-Identifier: Apache-2.0

import Foundation
import Gateway
import GatewayTestKit
import HTTPTypes
import Testing
import WakeModel

@testable import AdminAPI

@Suite("Access over real sockets", .timeLimit(.minutes(10)))
struct AccessTests {
    @Test("Every route asks for its scope, and the admin may all")
    func scopes() async throws {
        let bench = try APIBench()
        let routes = RouteTable(
            Services(
                gateway: bench.gateway, configuration: bench.configuration,
                metrics: AdminMetrics(MetricsRegistry()),
                connections: ListenerConnections(places: 1, placesOfPeer: 1),
                streams: ConnectionCount(), audit: AuditLog(.silent), readings: { [] })
        ).routes
        try await bench.serve { caller in
            // A stream does not end; see below.
            for route in routes where route.path != "/v1/events" {
                let path = route.path.replacing("{id}", with: "\(Samples.freshID())")
                    .replacing("{token}", with: Samples.deviceToken().hex)
                    .replacing("{topic}", with: "com.example.app")
                let method = route.method.rawValue
                let body = route.operation.body == nil ? nil : "{}"
                guard case .scope(let scope) = route.access else {
                    let open = try await caller.send(method, path, body, as: nil)
                    #expect(open.status != 401, "\(path)")
                    continue
                }
                try expectProblem(
                    try await caller.send(method, path, body, as: nil), .unauthorized)
                for other in Scope.allCases {
                    let answer = try await caller.send(method, path, body, as: other)
                    let mayCall = other == scope || other == .admin
                    #expect(
                        (answer.status == 403) == !mayCall,
                        "\(method) \(path) as \(other): \(answer.status) \(answer.body)")
                    #expect(answer.status != 401 && answer.status < 500, "\(answer.body)")
                }
            }
        }
    }

    @Test("A key has so many streams, and leaves the others to others")
    func streamsOfKey() async throws {
        var limits = GatewayLimits()
        limits.eventSubscriberCountOfCaller = 2
        let bench = try APIBench(limits: limits)
        try await bench.serve { caller in
            let secret = try #require(bench.keys[.read]).text
            let streams = try (0..<2).map { _ in
                try EventReader(port: caller.port, secret: secret)
            }
            for stream in streams {
                let beginning = await stream.read { $0.hasBegun }
                try #require(beginning.hasBegun)
            }
            let third = try await caller.send("GET", "/v1/events?seconds=1", as: .read)
            try expectProblem(third, .overloaded)
            #expect(third.head.lowercased().contains("retry-after: 3"), "\(third.head)")
            let other = try await caller.send("GET", "/v1/events?seconds=1", as: .admin)
            #expect(other.status == 200, "\(other.body)")
            withExtendedLifetime(streams) {}
        }
    }

    @Test("A request takes from its key's rate for each receipt")
    func receipts() async throws {
        let bench = try APIBench(rate: try RequestRate(perSecond: 1, burst: 50))
        try await bench.serve { caller in
            let receipt = #"{"id":"\#(Samples.freshID())"}"#
            let list = Array(repeating: receipt, count: 500).joined(separator: ",")
            let first = try await caller.send(
                "POST", "/v1/receipts", #"{"receipts":[\#(list)]}"#, as: .device)
            #expect(first.status == 200, "\(first.body)")
            try expectProblem(
                try await caller.send("POST", "/v1/receipts", receipt, as: .device), .rateLimited)
        }
    }

    @Test("The stream of events is for readers and the admin alone", arguments: Scope.allCases)
    func events(scope: Scope) async throws {
        let bench = try APIBench()
        let secret = try #require(bench.keys[scope]).text
        try await bench.serve { caller in
            try expectProblem(
                try await caller.send("GET", "/v1/events", as: nil), .unauthorized)
            let stream = try OpenExchange(
                "GET /v1/events HTTP/1.1\r\nHost: localhost\r\n"
                    + "Authorization: Bearer \(secret)\r\n\r\n", port: caller.port)
            defer { stream.end() }
            let head = await stream.read(until: "\r\n\r\n").lowercased()
            if scope == .read || scope == .admin {
                #expect(head.hasPrefix("http/1.1 200"), "\(head)")
                #expect(head.contains("content-type: text/event-stream"), "\(head)")
            } else {
                #expect(head.hasPrefix("http/1.1 403"), "\(head)")
                #expect(head.contains("insufficient_scope"), "\(head)")
            }
        }
    }

    @Test("What is no bearer key is refused, with a challenge")
    func challenges() async throws {
        let bench = try APIBench()
        let secret = try #require(bench.keys[.wake]).text
        try await bench.serve { caller in
            for header in ["Bearer wrong", "Basic \(secret)", "Bearer", "Bearer ", secret] {
                let answer = try await caller.send(
                    "POST", "/v1/wakes", APIBench.body(), as: nil,
                    headers: ["Authorization": header])
                try expectProblem(answer, .unauthorized)
                #expect(answer.head.lowercased().contains("www-authenticate: bearer"))
                #expect(!answer.body.contains(secret))
            }
            let lowered = try await caller.send(
                "POST", "/v1/wakes", APIBench.body(), as: nil,
                headers: ["Authorization": "bearer \(secret)"])
            #expect(lowered.status == 202, "\(lowered.body)")
            let poor = try await caller.send("GET", "/v1/stats", as: .wake)
            try expectProblem(poor, .forbidden)
            #expect(poor.head.contains("insufficient_scope"))
        }
    }

    @Test("A key that has used up its rate gets 429 with Retry-After; another key does not")
    func rates() async throws {
        let bench = try APIBench(rate: try RequestRate(perSecond: 1, burst: 3))
        try await bench.serve { caller in
            var refused: [HTTPExchange] = []
            // A machine so busy that requests take seconds gives room between them.
            for _ in 0..<50 where refused.count < 2 {
                let answer = try await caller.send("GET", "/v1/apps", as: .read)
                if answer.status != 200 { refused.append(answer) }
            }
            #expect(refused.count == 2)
            for answer in refused {
                try expectProblem(answer, .rateLimited)
                #expect(answer.head.lowercased().contains("retry-after: 1"))
            }
            #expect(try await caller.send("GET", "/v1/apps", as: .admin).status == 200)
        }
    }

    @Test("Whoever may not call is answered before the body is read")
    func beforeBody() async throws {
        try await APIBench().serve { caller in
            // A body is promised and never sent.
            let head =
                "POST /v1/wakes HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60000\r\n"
                + "Content-Type: application/json\r\n\r\n{"
            let answer = try await HTTPExchange.raw(Array(head.utf8), port: caller.port)
            try expectProblem(answer, .unauthorized)
            #expect(answer.head.lowercased().contains("connection: close"))
        }
    }

    @Test("A body that is announced is asked for, by whoever may send it")
    func expectation() async throws {
        let bench = try APIBench()
        let secret = try #require(bench.keys[.wake]).text
        try await bench.serve { caller in
            let body = APIBench.body()
            let head =
                "POST /v1/wakes HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                + "Expect: 100-continue\r\nContent-Type: application/json\r\n"
                + "Content-Length: \(body.utf8.count)\r\nAuthorization: Bearer \(secret)\r\n\r\n"
            let answer = try await HTTPExchange.raw(Array((head + body).utf8), port: caller.port)
            #expect(answer.status == 100)
            #expect(answer.body.contains("HTTP/1.1 202"), "\(answer.body)")
        }
    }
}
