// SPDX-License-Identifier: Apache-2.0

import Foundation
import Gateway
import GatewayTestKit
import Synchronization
import Testing
import WakeModel

@testable import AdminAPI

@Suite("Wakes for users, over real sockets", .timeLimit(.minutes(10)))
struct UserRoutesTests {
    private static func register(
        _ device: UInt64, _ user: String, _ caller: APIBench.Caller, kind: String = "background",
        app: String = "com.example.app"
    ) async throws {
        let answer = try await caller.send(
            "POST", "/v1/devices/\(Samples.deviceToken(device).hex)/registered",
            #"{"app":"\#(app)","kind":"\#(kind)","user":\#(user)}"#, as: .device)
        #expect(answer.status == 200, "\(answer.body)")
    }

    private static func body(_ user: String, _ more: String = "") -> String {
        #"{"kind":"background","app":"com.example.app","user":"\#(user)","#
            + #""payload":{"aps":{"content-available":1}}\#(more)}"#
    }

    private static func items(_ json: [String: Any]) throws -> [[String: Any]] {
        try #require(json["items"] as? [[String: Any]])
    }

    private static func ids(_ json: [String: Any]) throws -> [String?] {
        try items(json).map { ($0["wake"] as? [String: Any])?["id"] as? String }
    }

    @Test("A wake for a user reaches each device of the app and kind, with an answer for each")
    func all() async throws {
        let sender = ScriptedSender()
        try await APIBench(sender: sender).serve { caller in
            for device in 1...3 as ClosedRange<UInt64> {
                try await Self.register(device, #""u-1""#, caller)
            }
            try await Self.register(4, #""u-1""#, caller, kind: "voip")
            try await Self.register(5, #""u-2""#, caller)
            let answer = try await caller.send("POST", "/v1/wakes", Self.body("u-1"), as: .wake)
            #expect(answer.status == 207, "\(answer.body)")
            let json = try answer.json()
            #expect(json["accepted"] as? Int == 3 && json["refused"] as? Int == 0)
            #expect(json["status"] as? Int == 202)
            #expect(Set(try Self.ids(json)).count == 3)
            let digests = Set((1...3).map { Samples.deviceToken($0).description })
            #expect(Set(try Self.items(json).compactMap { $0["device"] as? String }) == digests)
            await sender.waitUntilSent(3)
            #expect(
                Set(sender.sent.map(\.deviceToken))
                    == Set((1...3).map { Samples.deviceToken($0) }))
            let id = try #require(try Self.ids(json)[0])
            #expect(try await caller.send("GET", "/v1/wakes/\(id)").status == 200)
            let call = try await caller.send(
                "POST", "/v1/wakes",
                #"{"kind":"voip","app":"com.example.app","user":"u-1","payload":"#
                    + #"{"callUUID":"0f8fad5b-d9cb-469f-a165-70867728950e","caller":"Ann"}}"#)
            #expect(try call.json()["accepted"] as? Int == 1, "\(call.body)")
        }
    }

    @Test("The devices of a user are listed, move, are removed and are forgotten")
    func registrations() async throws {
        try await APIBench().serve { caller in
            // A slash, a space and letters beyond ASCII.
            let user = #""team/a b é""#
            let path = "/v1/users/team%2Fa%20b%20%C3%A9/devices"
            func list(_ path: String) async throws -> Set<String> {
                let answer = try await caller.send("GET", path, as: .read)
                #expect(answer.status == 200, "\(answer.body)")
                let devices = try #require(try answer.json()["devices"] as? [[String: Any]])
                return Set(devices.compactMap { $0["device_token"] as? String })
            }
            func tokens(_ devices: UInt64...) -> Set<String> {
                Set(devices.map { Samples.deviceToken($0).hex })
            }
            #expect(try await list(path) == [])
            for device in 1...4 as ClosedRange<UInt64> {
                try await Self.register(device, user, caller)
            }
            #expect(try await list(path) == tokens(1, 2, 3, 4))
            #expect(try await list(path + "?app=com.example.app") == tokens(1, 2, 3, 4))
            try await Self.register(1, #""u-2""#, caller)
            try await Self.register(2, "null", caller)
            #expect(try await list(path) == tokens(3, 4))
            #expect(try await list("/v1/users/u-2/devices") == tokens(1))
            let device = try await caller.send("GET", "/v1/devices/\(Samples.deviceToken(1).hex)")
            #expect(device.body.contains(#""user":"u-2""#), "\(device.body)")
            let forgotten = try await caller.send(
                "DELETE", "/v1/devices/\(Samples.deviceToken(3).hex)", as: .device)
            #expect(forgotten.status == 200)
            #expect(try await list(path) == tokens(4))
            let one = "/v1/users/u-2/devices/\(Samples.deviceToken(1).hex)"
            let removed = try await caller.send("DELETE", one, as: .device)
            #expect(try removed.json()["removed"] as? Int == 1, "\(removed.body)")
            try expectProblem(try await caller.send("DELETE", one, as: .device), .noDevices)
            let all = try await caller.send("DELETE", path, as: .device)
            #expect(try all.json()["removed"] as? Int == 1, "\(all.body)")
            #expect(try await list(path) == [])
            #expect(try await caller.send("DELETE", path, as: .read).status == 403)
            #expect(try await caller.send("GET", path, as: .wake).status == 403)
        }
    }

    @Test("A user without a device is told apart from a push that is wrong")
    func noDevices() async throws {
        try await APIBench().serve { caller in
            let none = try await caller.send("POST", "/v1/wakes", Self.body("u-1"))
            try expectProblem(none, .noDevices)
            #expect(try none.json()["field"] as? String == "user")
            let bad = Self.body("u-1").replacing("\"content-available\":1", with: "\"alert\":1")
            try expectProblem(try await caller.send("POST", "/v1/wakes", bad), .invalidWake)
            let other = Self.body("u-1").replacing("example.app", with: "example.none")
            try expectProblem(try await caller.send("POST", "/v1/wakes", other), .unknownApp)
            for user in ["", " a", "a\\n", String(repeating: "x", count: 257)] {
                try expectProblem(
                    try await caller.send("POST", "/v1/wakes", Self.body(user)), .invalidField)
            }
            for more in [#","device_token":"aa""#, #","device_tokens":["aa"]"#, #","users":1"#] {
                try expectProblem(
                    try await caller.send("POST", "/v1/wakes", Self.body("u-1", more)),
                    .invalidField)
            }
            for path in ["%zz", "%", "%0a", "%ff", String(repeating: "x", count: 257)] {
                let answer = try await caller.send("GET", "/v1/users/\(path)/devices")
                #expect(answer.status == 400, "\(path) \(answer.body)")
            }
            #expect(try await caller.send("GET", "/v1/stats").json()["accepted"] as? Int == 0)
            // A wait is for one wake: here the answer comes at once.
            try await Self.register(1, #""u-1""#, caller)
            let waiting = try await caller.send(
                "POST", "/v1/wakes?wait=outcome", Self.body("u-1"))
            #expect(waiting.status == 207, "\(waiting.body)")
        }
    }

    @Test("A repetition is answered for the devices of the first time, whatever came since")
    func repetition() async throws {
        try await APIBench().serve { caller in
            for device in 1...2 as ClosedRange<UInt64> {
                try await Self.register(device, #""u-1""#, caller)
            }
            let key = ["Idempotency-Key": "k-1"]
            func ask(_ body: String = Self.body("u-1")) async throws -> HTTPExchange {
                try await caller.send("POST", "/v1/wakes", body, headers: key)
            }
            let first = try await ask().json()
            try await Self.register(2, #""u-2""#, caller)
            try await Self.register(3, #""u-1""#, caller)
            let second = try await ask().json()
            #expect(try Self.ids(first) == Self.ids(second))
            #expect(try Self.items(second).allSatisfy { $0["replayed"] as? Bool == true })
            _ = try await caller.send("DELETE", "/v1/users/u-1/devices")
            #expect(try await Self.ids(ask().json()) == Self.ids(first))
            try expectProblem(try await ask(Self.body("u-1", #","ref":"a""#)), .idempotencyConflict)
            try expectProblem(
                try await caller.send("POST", "/v1/wakes", APIBench.body(), headers: key),
                .idempotencyConflict)
            #expect(try await caller.send("GET", "/v1/stats").json()["accepted"] as? Int == 2)
        }
    }

    @Test(
        "A request that was overtaken by an equal one is answered for the devices of that one",
        arguments: [false, true])
    func overtaken(inBatch: Bool) async throws {
        let store = WatchfulStore(InMemoryWakeStore())
        let bench = try APIBench()
        let gateway = sampleGateway(store: store, sender: bench.sender)
        try await withAPI(gateway, configuration: bench.configuration) { port in
            let caller = APIBench.Caller(port: port, keys: bench.keys)
            @Sendable func ask() async throws -> [String: Any] {
                let text = Self.body("u-1")
                let answer = try await caller.send(
                    "POST", inBatch ? "/v1/wakes/batch" : "/v1/wakes",
                    inBatch ? "[\(APIBench.body(device: 9)),\(text)]" : text,
                    headers: ["Idempotency-Key": "k-1"])
                let json = try answer.json()
                return inBatch ? try #require(Self.items(json).last) : json
            }
            for device in 1...3 as ClosedRange<UInt64> {
                try await Self.register(device, #""u-1""#, caller)
            }
            let first = Mutex<[String?]>([])
            store.onceUsersAreResolved {
                // What goes wrong here leaves `first` empty.
                try? await Self.register(3, "null", caller)
                let ids = (try? await Self.ids(ask())) ?? []
                first.withLock { $0 = ids }
            }
            let second = try await ask()
            #expect(second["accepted"] as? Int == 2 && second["refused"] as? Int == 0)
            #expect(try Self.items(second).allSatisfy { $0["replayed"] as? Bool == true })
            #expect(first.withLock { $0.count } == 2)
            #expect(try Self.ids(second) == first.withLock { $0 })
            #expect(
                try await caller.send("GET", "/v1/stats").json()["accepted"] as? Int
                    == (inBatch ? 3 : 2))
        }
    }

    @Test("Items of a batch may be for users")
    func batch() async throws {
        let sender = ScriptedSender()
        try await APIBench(sender: sender).serve { caller in
            for device in 1...2 as ClosedRange<UInt64> {
                try await Self.register(device, #""u-1""#, caller)
            }
            let bad = Self.body("u-1").replacing("\"content-available\":1", with: "\"alert\":1")
            let text = [
                APIBench.body(device: 9), Self.body("u-1"), Self.body("u-9"), bad, "7",
                Self.body("u-1", #","spread_seconds":9"#),
            ].joined(separator: ",")
            for isAgain in [false, true] {
                let answer = try await caller.send(
                    "POST", "/v1/wakes/batch", "[\(text)]", headers: ["Idempotency-Key": "b"])
                #expect(answer.status == 200, "\(answer.body)")
                let json = try answer.json()
                #expect(json["accepted"] as? Int == 2 && json["refused"] as? Int == 4)
                let items = try Self.items(json)
                #expect(items.map { $0["status"] as? Int } == [202, 202, 404, 400, 400, 400])
                #expect(items[1]["accepted"] as? Int == 2)
                #expect(
                    try Self.items(items[1]).allSatisfy {
                        ($0["replayed"] as? Bool ?? false) == isAgain
                    })
                let problem = try #require(items[2]["problem"] as? [String: Any])
                #expect(problem["code"] as? String == "no-devices")
            }
            await sender.waitUntilSent(3)
            #expect(try await caller.send("GET", "/v1/stats").json()["accepted"] as? Int == 3)
        }
    }

    @Test("Each device counts in the rate of the key")
    func rate() async throws {
        let bench = try APIBench(rate: try RequestRate(perSecond: 1, burst: 10))
        try await bench.serve { caller in
            for device in 1...9 as ClosedRange<UInt64> {
                try await Self.register(device, #""u-1""#, caller)
            }
            for _ in 0..<2 {
                let answer = try await caller.send("POST", "/v1/wakes", Self.body("u-1"), as: .wake)
                #expect(answer.status == 207)
            }
            let third = try await caller.send("POST", "/v1/wakes", Self.body("u-1"), as: .wake)
            try expectProblem(third, .rateLimited)
        }
    }

    @Test("A store that fails refuses all of it, and shows no more than it should")
    func failingStore() async throws {
        let store = WatchfulStore(InMemoryWakeStore())
        let bench = try APIBench()
        let gateway = sampleGateway(store: store, sender: bench.sender)
        try await withAPI(gateway, configuration: bench.configuration) { port in
            let caller = APIBench.Caller(port: port, keys: bench.keys)
            try await Self.register(1, #""u-1""#, caller)
            for (failure, code) in [
                (
                    StoreFailure(kind: .full, message: "Full.", cause: "secret"),
                    ProblemCode.unavailable
                ),
                (StoreFailure(kind: .overloaded, message: "Much.", cause: "secret"), .overloaded),
            ] {
                store.fail(with: failure)
                for (method, path, body) in [
                    ("POST", "/v1/wakes", Self.body("u-1") as String?),
                    ("POST", "/v1/wakes/batch", "[\(Self.body("u-1"))]"),
                    ("GET", "/v1/users/u-1/devices", nil), ("DELETE", "/v1/users/u-1/devices", nil),
                ] {
                    let answer = try await caller.send(method, path, body)
                    try expectProblem(answer, code)
                    #expect(!answer.body.contains("secret"))
                }
            }
        }
    }
}
