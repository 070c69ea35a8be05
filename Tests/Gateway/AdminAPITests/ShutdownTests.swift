// SPDX-License-Identifier: Apache-2.0

import Gateway
import GatewayTestKit
import ServiceLifecycle
import Testing
import WaitKit

@testable import AdminAPI

@Suite("The end of the API, over real sockets", .timeLimit(.minutes(10)))
struct ShutdownTests {
    /// How long these tests wait for what is to come at once, in seconds.
    private static let patienceSeconds = 30

    @Test("A body that does not end holds a shutdown for its time only, and fails nothing")
    func endlessBody() async throws {
        var bench = try APIBench()
        bench.configuration.bodySeconds = 3_600
        bench.configuration.shutdownSeconds = 1
        let secret = try #require(bench.keys[.wake]).text
        let (group, run, port) = try await start(bench)
        let request = try OpenExchange(
            "POST /v1/wakes/batch HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n"
                + "Content-Type: application/json\r\nAuthorization: Bearer \(secret)\r\n"
                + "Expect: 100-continue\r\n\r\n[", port: port)
        #expect(await request.read(until: "100").contains("HTTP/1.1 100"))

        await group.triggerGracefulShutdown()
        let hasEnded = await withTaskGroup(of: Bool.self) { race in
            race.addTask {
                _ = await run.result
                return true
            }
            race.addTask {
                // Cancelled, when the shutdown is the first.
                try? await elapse(.seconds(Self.patienceSeconds))
                guard !Task.isCancelled else { return true }
                // So that the other one ends too.
                request.end()
                return false
            }
            let isFirst = await race.next()
            race.cancelAll()
            return isFirst
        }
        #expect(hasEnded == true, "The shutdown waited for a body that does not end.")
        try await run.value
        #expect(!bench.gateway.readiness.obstacles.isEmpty, "The gateway did not end.")
    }

    /// Runs a gateway and its API; returns what shuts them down, their end, and the port.
    private func start(
        _ bench: APIBench
    ) async throws -> (ServiceGroup, Task<Void, any Error>, Int) {
        let (ports, continuation) = AsyncStream<Int>.makeStream()
        let api = AdminAPI(
            configuration: bench.configuration, gateway: bench.gateway, logger: .silent)
        let service = api.service(on: .tcp(host: "127.0.0.1", port: 0)) { address in
            if case .tcp(_, let port) = address { continuation.yield(port) }
        }
        let group = ServiceGroup(
            configuration: .init(
                services: [.init(service: bench.gateway), .init(service: service)],
                logger: .silent))
        let run = Task { try await group.run() }
        return (group, run, try #require(await ports.first { _ in true }))
    }

    @Test("Over HTTP/2 a shutdown loses no answer of a slow reader, and takes no request more")
    func slowReader() async throws {
        var bench = try APIBench()
        // On a busy machine the reader needs longer than a shutdown usually waits.
        bench.configuration.shutdownSeconds = 3_600
        let secret = try #require(bench.keys[.wake]).text
        let (group, run, port) = try await start(bench)
        let caller = try HTTP2Caller(
            port: port, key: secret, initialWindow: 1 << 30, receiveByteCount: 4_096)
        try caller.send(
            HTTP2Caller.Frame(type: HTTP2Caller.Kind.window, payload: HTTP2Caller.bytes(1 << 30)))
        _ = try await caller.exchange("GET", "/healthz")
        caller.takesAnswers = false
        // Some megabytes, which fill the socket.
        let streams = try (0..<40).map { _ in try caller.begin("GET", "/") }
        try await elapse(.milliseconds(500))
        await group.triggerGracefulShutdown()
        try await elapse(.milliseconds(200))
        let late = try (0..<5).map {
            try caller.begin("POST", "/v1/wakes", APIBench.body(device: UInt64($0)))
        }
        try await elapse(.milliseconds(700))
        try await caller.receive { _ in false }
        let last = try #require(caller.goAway?.lastStream)
        let answered = streams.filter { UInt32($0) <= last }
        let counts = Set(answered.compactMap { caller.answers[$0]?.body.utf8.count })
        let statuses = answered.map { caller.answers[$0]?.status ?? 0 }
        #expect(statuses.allSatisfy { $0 == 200 }, "\(statuses)")
        #expect(counts.count == 1 && counts.allSatisfy { $0 > 100_000 }, "\(counts)")
        // None, unless the shutdown came late on a busy machine.
        let inTime = late.filter { UInt32($0) <= last }
        let accepted = inTime.map { caller.answers[$0]?.status ?? 0 }
        #expect(accepted.allSatisfy { $0 == 202 }, "\(accepted)")
        #expect(try await bench.gateway.counts().accepted == inTime.count)
        try await run.value
    }

    @Test("Over HTTP/2 a shutdown ends a connection without a request, which nobody need close")
    func idle() async throws {
        let bench = try APIBench()
        let (group, run, port) = try await start(bench)
        let caller = try HTTP2Caller(port: port, key: try #require(bench.keys[.wake]).text)
        let answered = try caller.begin("GET", "/healthz")
        #expect(try await caller.answer(to: answered).status == 200)
        await group.triggerGracefulShutdown()
        try await caller.receive { _ in false }
        #expect(caller.goAway?.code == 0)
        #expect(caller.goAway?.lastStream == UInt32(answered))
        #expect(caller.goAwayCount == 1)
        try await run.value
    }

    @Test("Over HTTP/2 a shutdown answers what came before its GOAWAY, and refuses the rest")
    func http2() async throws {
        let bench = try APIBench()
        let secret = try #require(bench.keys[.wake]).text
        let (group, run, port) = try await start(bench)
        let caller = try HTTP2Caller(port: port, key: secret)
        let body = Array(APIBench.body().utf8)
        // One that the guard answers, and one that the router answers.
        let streams = try [[("content-length", "\(body.count)")], []].map { more in
            let fields = caller.fields("POST", "/v1/wakes") + more
            let stream = try caller.begin(exactly: fields, endsStream: false)
            try caller.sendData(Array(body.prefix(10)), on: stream, endsStream: false)
            return stream
        }
        #expect(try await caller.exchange("GET", "/healthz").status == 200)
        await group.triggerGracefulShutdown()
        try await caller.receive { $0.goAway != nil }
        #expect(caller.goAway?.code == 0)
        let late = try caller.begin("GET", "/healthz")
        for stream in streams {
            try caller.sendData(Array(body.dropFirst(10)), on: stream)
            #expect(try await caller.answer(to: stream).status == 202)
        }
        // REFUSED_STREAM, or no word: it is above the last stream of the GOAWAY.
        let answer = try await caller.answer(to: late)
        #expect(answer.status == 0)
        #expect(UInt32(late) > caller.goAway?.lastStream ?? 0)
        try await caller.receive { _ in false }
        #expect(caller.isClosed)
        try await run.value
    }

    @Test(
        "A wait that a shutdown ends says so, of a wake that waits and of one that is under way",
        arguments: [true, false])
    func waitInAShutdown(isPending: Bool) async throws {
        var bench = try APIBench(sender: ScriptedSender { _ in isPending ? Samples.accepted : nil })
        bench.configuration.shutdownSeconds = 20
        var answer: Task<HTTPExchange, any Error>?
        try await bench.serve { caller in
            if isPending { _ = try await caller.send("POST", "/v1/wakes?wait=outcome", body(1)) }
            answer = Task {
                try await caller.send(
                    "POST", "/v1/wakes?wait=outcome&timeout=50", body(2), as: .wake,
                    patienceSeconds: Self.patienceSeconds)
            }
            for _ in 0..<(Self.patienceSeconds * 100) {
                let counts = try await bench.gateway.counts()
                if counts.accepted == (isPending ? 2 : 1) { break }
                try await elapse(.milliseconds(10))
            }
        }
        let wake = try #require(try await answer?.value)
        #expect(wake.status == 202, "\(wake.body)")
        let waiting = try #require(try wake.json()["waiting"] as? [String: Any])
        let reasons = try #require(waiting["reasons"] as? [[String: Any]])
        #expect(
            reasons.map { $0["reason"] as? String }
                == (isPending ? ["spacing", "stopping"] : ["stopping"]), "\(wake.body)")
        #expect(
            try wake.json()["state"] as? String == (isPending ? "pending" : "claimed"),
            "\(wake.body)")
    }

    private func body(_ number: Int) -> String {
        APIBench.body(#","ref":"n\#(number)""#)
    }
}
