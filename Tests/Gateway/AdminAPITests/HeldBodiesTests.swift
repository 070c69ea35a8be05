// SPDX-License-Identifier: Apache-2.0

import GatewayTestKit
import Testing

@testable import AdminAPI

@Suite("The memory for bodies over HTTP/2, over real sockets", .timeLimit(.minutes(10)))
struct HeldBodiesTests {
    private func key(_ bench: APIBench, _ scope: Scope = .admin) throws -> String {
        try #require(bench.keys[scope]).text
    }

    @Test("Bodies of many requests at a time have a common limit, which is given back")
    func memory() async throws {
        var bench = try APIBench()
        bench.configuration.bodyByteCount = 4_000
        bench.configuration.bodyBudgetByteCount = 4_000
        bench.configuration.bodySeconds = 2
        try await bench.serve { caller in
            let http2 = try HTTP2Caller(port: caller.port, key: key(bench))
            var streams: [Int] = []
            for _ in 0..<4 {
                let fields = http2.fields("POST", "/v1/wakes") + [("content-length", "3500")]
                streams.append(try http2.begin(exactly: fields, endsStream: false))
                try http2.sendData(
                    [UInt8](repeating: 32, count: 3_000), on: streams[streams.count - 1],
                    endsStream: false)
            }
            // Two have room, the others have none.
            for stream in streams[2...] {
                try expectProblem(try await http2.answer(to: stream), .overloaded)
            }
            for stream in streams[..<2] {
                try expectProblem(try await http2.answer(to: stream), .requestTimeout)
            }
            try await http2.receive { http2 in streams.allSatisfy { http2.resetCode(of: $0) != nil }
            }
            let answer = try await http2.exchange("POST", "/v1/wakes", APIBench.body())
            #expect(answer.status == 202)
        }
    }

    @Test("Bodies of callers without a key take no room from others")
    func strangersBodies() async throws {
        var bench = try APIBench()
        bench.configuration.bodyByteCount = 4_000
        bench.configuration.bodyBudgetByteCount = 4_000
        try await bench.serve { caller in
            let stranger = try HTTP2Caller(port: caller.port, initialWindow: 0)
            for _ in 0..<8 {
                let fields = stranger.fields("POST", "/v1/wakes")
                let stream = try stranger.begin(exactly: fields, endsStream: false)
                try await stranger.receive { $0.hasBegun(stream) }
                try stranger.sendData(
                    [UInt8](repeating: 32, count: 4_000), on: stream, endsStream: false)
            }
            // The next request comes after those bodies.
            let last = try stranger.begin(
                exactly: stranger.fields("HEAD", "/healthz"), endsStream: true)
            _ = try await stranger.answer(to: last)
            let friend = try HTTP2Caller(port: caller.port, key: key(bench))
            let item = APIBench.body() + "\n"
            let body = String(repeating: item, count: 40)
            let answer = try await friend.exchange(
                "POST", "/v1/wakes/batch", body,
                headers: [("content-type", "application/x-ndjson")])
            #expect(answer.status == 200, "\(answer)")
        }
    }

    @Test("What is held is given back, of whichever body and in whichever order")
    func balance() {
        let budget = BodyBudget(byteCount: 1_000, freeByteCount: 100)
        var held = HeldBodies(within: budget)
        var bodies = [0, 0, 0]
        #expect(held.hold(80, &bodies[0]))
        #expect(budget.takenByteCount == 0)
        #expect(held.hold(90, &bodies[1]))
        #expect(budget.takenByteCount == 70)
        // Only the first part of each body is counted here.
        #expect(held.hold(500, &bodies[2]))
        #expect(bodies == [80, 90, 100])
        #expect(budget.takenByteCount == 170)
        held.release(&bodies[1])
        #expect(budget.takenByteCount == 80)
        held.release(&bodies[2])
        held.release(&bodies[0])
        #expect(bodies == [0, 0, 0])
        #expect(budget.takenByteCount == 0)
    }
}
