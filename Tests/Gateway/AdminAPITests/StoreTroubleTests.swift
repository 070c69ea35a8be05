// SPDX-License-Identifier: Apache-2.0

import Gateway
import GatewayTestKit
import Testing
import WakeModel

@testable import AdminAPI

@Suite("A store in trouble, over real sockets", .timeLimit(.minutes(10)))
struct StoreTroubleTests {
    /// A multicast to one device.
    private static var multicast: String {
        APIBench.body().replacing("device_token\":", with: "device_tokens\":[")
            .replacing(",\"app\"", with: "],\"app\"")
    }

    private func bench(
        _ store: WatchfulStore, limits: GatewayLimits = GatewayLimits()
    ) throws
        -> (Gateway, APIBench)
    {
        let bench = try APIBench()
        return (sampleGateway(store: store, sender: bench.sender, limits: limits), bench)
    }

    @Test("A store that cannot be written is a 503 with Retry-After, and readiness says why")
    func unavailable() async throws {
        let store = WatchfulStore(InMemoryWakeStore())
        let (gateway, bench) = try bench(store)
        try await withAPI(gateway, configuration: bench.configuration) { port in
            let caller = APIBench.Caller(port: port, keys: bench.keys)
            store.fail(with: StoreFailure(kind: .full, message: "The disk is full."))
            for (method, path, body) in [
                ("POST", "/v1/wakes", APIBench.body() as String?),
                ("POST", "/v1/wakes/batch", "[\(APIBench.body())]"),
                ("POST", "/v1/wakes/multicast", Self.multicast),
                ("GET", "/v1/wakes/\(Samples.freshID())", nil), ("GET", "/v1/stats", nil),
                ("GET", "/v1/feedback", nil), ("GET", "/v1/wakes", nil),
            ] {
                let answer = try await caller.send(method, path, body)
                try expectProblem(answer, .unavailable)
                #expect(answer.head.lowercased().contains("retry-after: 5"))
            }
            let unready = try await caller.send("GET", "/readyz", as: nil)
            #expect(unready.status == 503)
            #expect(unready.body.contains("The disk is full."))
            let page = try await caller.send("GET", "/metrics")
            #expect(page.status == 200)
            #expect(page.body.contains("rouse_ready 0\n"))
            store.fail(with: nil)
            #expect(try await caller.send("POST", "/v1/wakes", APIBench.body()).status == 202)
        }
    }

    @Test("What is for operators alone, such as the database's host, is in no answer")
    func cause() async throws {
        let store = WatchfulStore(InMemoryWakeStore())
        let (gateway, bench) = try bench(store)
        try await withAPI(gateway, configuration: bench.configuration) { port in
            let caller = APIBench.Caller(port: port, keys: bench.keys)
            let failure = StoreFailure(
                kind: .unavailable, message: "The database cannot be reached.",
                cause: "It says: db.internal:5432 refuses")
            #expect("\(failure)".contains("db.internal"))
            store.fail(with: failure)
            for (method, path, body) in [
                ("POST", "/v1/wakes", APIBench.body() as String?),
                ("POST", "/v1/wakes/batch", "[\(APIBench.body())]"), ("GET", "/v1/stats", nil),
                ("POST", "/v1/wakes/multicast", Self.multicast), ("GET", "/readyz", nil),
            ] {
                let answer = try await caller.send(method, path, body)
                #expect(answer.status == 503)
                #expect(answer.body.contains("The database cannot be reached."))
                #expect(!answer.body.contains("db.internal"))
            }
        }
    }

    @Test("A store with too much to do is a 429 with Retry-After, whatever it is asked")
    func overloadedStore() async throws {
        let store = WatchfulStore(InMemoryWakeStore())
        let (gateway, bench) = try bench(store)
        let device = "/v1/devices/\(Samples.deviceToken().hex)"
        let wake = "/v1/wakes/\(Samples.freshID())"
        try await withAPI(gateway, configuration: bench.configuration) { port in
            let caller = APIBench.Caller(port: port, keys: bench.keys)
            store.fail(with: StoreFailure(kind: .overloaded, message: "Too much waits."))
            for (method, path, body) in [
                ("POST", "/v1/wakes", APIBench.body()),
                ("POST", "/v1/wakes/batch", "[\(APIBench.body())]"),
                ("POST", "/v1/wakes/multicast", Self.multicast),
                ("DELETE", wake, nil), ("GET", wake, nil), ("GET", "/v1/wakes", nil),
                ("GET", "/v1/stats", nil), ("GET", "/v1/feedback", nil), ("GET", device, nil),
                ("PUT", device + "/signals", #"{"foreground":true}"#),
                ("POST", device + "/registered", #"{"app":"com.example.app"}"#),
                ("DELETE", device, nil),
                ("POST", "/v1/receipts", "{\"id\":\"\(Samples.freshID())\"}"),
                ("POST", "/v1/apps/com.example.app/pause", nil),
                ("POST", "/v1/apps/com.example.app/resume", nil),
            ] as [(String, String, String?)] {
                let answer = try await caller.send(method, path, body)
                try expectProblem(answer, .overloaded)
                #expect(answer.head.lowercased().contains("retry-after: 1"), "\(path)")
            }
        }
    }

    @Test("A wake that is on disk is a 202, although its outcome cannot be read")
    func unreadableOutcome() async throws {
        let store = WatchfulStore(InMemoryWakeStore())
        let (gateway, bench) = try bench(store)
        try await withAPI(gateway, configuration: bench.configuration) { port in
            let caller = APIBench.Caller(port: port, keys: bench.keys)
            store.whenClaimed { [weak store] in
                store?.fail(with: StoreFailure(kind: .corrupt, message: "The file is damaged."))
            }
            let answer = try await caller.send(
                "POST", "/v1/wakes?wait=outcome", APIBench.body(), as: .wake)
            #expect(answer.status == 202, "\(answer.body)")
            let id = try #require(try answer.json()["id"] as? String, "\(answer.body)")
            #expect(answer.head.contains("/v1/wakes/\(id)"))
            store.fail(with: nil)
            #expect(try await caller.send("GET", "/v1/wakes/\(id)").status == 200)
        }
    }

    @Test("An overloaded gateway answers 429 with Retry-After")
    func overload() async throws {
        var limits = GatewayLimits()
        limits.intakeQueueCount = 1
        limits.intakeBatchCount = 1
        let store = WatchfulStore(InMemoryWakeStore())
        let (gateway, bench) = try bench(store, limits: limits)
        store.closeGate()
        try await withAPI(gateway, configuration: bench.configuration) { port in
            let caller = APIBench.Caller(port: port, keys: bench.keys)
            let answers = try await withThrowingTaskGroup(of: HTTPExchange.self) { group in
                for device in 0..<6 {
                    group.addTask {
                        try await caller.send(
                            "POST", "/v1/wakes", APIBench.body(device: UInt64(device)))
                    }
                }
                var answers: [HTTPExchange] = []
                for try await answer in group {
                    answers.append(answer)
                    // One is being written and one waits; the others come back first.
                    if answers.count == 4 { store.openGate() }
                }
                return answers
            }
            let refused = answers.filter { $0.status == 429 }
            #expect(refused.count >= 4)
            for answer in refused {
                try expectProblem(answer, .overloaded)
                #expect(answer.head.lowercased().contains("retry-after: 1"))
            }
        }
    }
}
