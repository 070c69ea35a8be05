// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Testing
import WakeModel

@testable import APNsSimulator

@Suite("Control endpoint", .timeLimit(.minutes(10)))
struct ControlTests {
    static func router() throws -> ControlRouter {
        ControlRouter(
            state: try SimulatorState(configuration: .init()), certificateAuthorityPEM: "PEM")
    }

    static func fault(_ json: String) throws -> Fault {
        try JSONDecoder().decode(FaultDocument.self, from: Data(json.utf8)).fault()
    }

    @Test(
        "every kind of fault can be written in JSON",
        arguments: [
            (#"{"kind":"delay","milliseconds":50}"#, Fault(.delay(milliseconds: 50))),
            (
                #"{"kind":"drip","milliseconds":0,"count":2}"#,
                Fault(.drip(millisecondsPerByte: 0), count: 2)
            ),
            (
                #"{"kind":"reject","reason":"TooManyRequests","share":0.1}"#,
                Fault(.reject(.tooManyRequests), for: .share(0.1))
            ),
            (#"{"kind":"goaway"}"#, Fault(.goAway(.init(reason: nil)))),
            (
                #"{"kind":"goaway","reason":"Shutdown","lastStream":"before","code":"11"}"#,
                Fault(.goAway(.init(code: .enhanceYourCalm, lastStream: .theOneBefore)))
            ),
            (
                #"{"kind":"goaway","lastStream":"7"}"#,
                Fault(.goAway(.init(reason: nil, lastStream: .number(7))))
            ),
            (
                #"{"kind":"reset","code":"REFUSED_STREAM","stage":"headers"}"#,
                Fault(.resetStream(.refusedStream), at: .headers)
            ),
            (#"{"kind":"limit-streams","streams":3}"#, Fault(.limitStreams(3))),
            (#"{"kind":"close","stage":"body"}"#, Fault(.closeConnection, at: .body)),
            (#"{"kind":"never-answer"}"#, Fault(.neverAnswer)),
            (#"{"kind":"refuse-tls"}"#, Fault(.refuseTLS)),
        ])
    func faults(json: String, fault: Fault) throws {
        #expect(try Self.fault(json) == fault)
    }

    @Test(
        "a fault that makes no sense is named",
        arguments: [
            (#"{"kind":"explode"}"#, "kind"), (#"{"kind":"delay"}"#, "milliseconds"),
            (#"{"kind":"delay","milliseconds":-1}"#, "milliseconds"),
            (#"{"kind":"reject"}"#, "reason"), (#"{"kind":"reject","reason":"Foo"}"#, "reason"),
            (#"{"kind":"reset"}"#, "code"),
            (#"{"kind":"reset","code":"OOPS"}"#, "code"),
            (#"{"kind":"goaway","lastStream":"-1"}"#, "lastStream"),
            (#"{"kind":"close","share":1.5}"#, "share"),
            (#"{"kind":"close","stage":"lunch"}"#, "stage"),
            (#"{"kind":"close","count":0}"#, "count"),
            (#"{"kind":"close","deviceToken":"xyz"}"#, "deviceToken"),
        ])
    func badFaults(json: String, field: String) throws {
        let error = #expect(throws: InvalidField.self) { try Self.fault(json) }
        #expect(error?.field == field)
    }

    @Test(
        "a body that says something else than its path takes is refused by its field",
        arguments: [
            ("/faults", #"{"kind":"close","Share":0.1}"#, "Share"),
            ("/faults", #"{"kind":"limit-streams","streams":"a"}"#, "streams"),
            ("/faults", #"{"milliseconds":1}"#, "kind"), ("/faults", "[]", "body"),
            ("/faults", "no JSON", "body"),
            ("/devices", #"{"token":"00ff","topics":"com.example.app"}"#, "topics"),
            ("/devices", #"{"token":"xy"}"#, "token"),
            ("/devices", #"{"token":"00aa","model":{"basis":"exact"}}"#, "model.basis"),
            ("/clock", #"{"advanceSecond":900}"#, "advanceSeconds"),
            ("/goaway", #"{"reason":7}"#, "reason"), ("/goaway", #"{"reason":"Foo"}"#, "reason"),
        ])
    func foreignBodies(path: String, body: String, field: String) throws {
        let refusal = try Self.router().respond(
            method: "POST", path: path, body: Array(body.utf8))
        #expect(refusal.status == 400)
        let problem = try JSONDecoder().decode([String: String].self, from: Data(refusal.body))
        #expect(problem["field"] == field, "\(problem)")
    }

    @Test("a member that is null is one that is missing")
    func nullMembers() throws {
        let body = #"{"token":"00ff","topic":null}"#
        #expect(
            try Self.router().respond(method: "POST", path: "/devices", body: Array(body.utf8))
                == .done)
    }

    @Test("the channels of an app are listed, with what they store")
    func channels() throws {
        let router = try Self.router()
        let app = "com.example.app"
        let id = try #require(router.state.channels.create(of: app, storing: .latest)).value
        let payload = Array("{}".utf8)
        let sent = router.state.channels.perform(
            ChannelCall(bundleID: app, action: .send(to: id, payload, isStored: true)))
        #expect(sent == .done(.init(status: 200)))
        let answer = router.respond(method: "GET", path: "/channels/" + app, body: [])
        #expect(
            String(decoding: answer.body, as: UTF8.self)
                == #"[{"broadcastCount":1,"id":"\#(id)","storage":"latest","#
                + #""storedPayloadBase64":"e30="}]"#)
        #expect(
            router.respond(method: "GET", path: "/channels/none", body: []).body == Array("[]".utf8)
        )
    }

    @Test("a share that other faults leave no room for is refused, with how much they leave")
    func sharesOverOne() throws {
        let router = try Self.router()
        func post(_ share: Double, _ more: String = "") -> ControlRouter.Response {
            let body = #"{"kind":"close","share":\#(share)\#(more)}"#
            return router.respond(method: "POST", path: "/faults", body: Array(body.utf8))
        }
        #expect(post(0.7) == .done)
        let refusal = post(0.4)
        #expect(refusal.status == 400)
        let problem = try JSONDecoder().decode([String: String].self, from: Data(refusal.body))
        #expect(problem["field"] == "share")
        #expect(
            problem["problem"]
                == "is over 1 together with those of the other faults, which leave 0.3")
        #expect(problem["remedy"]?.contains("DELETE /faults") == true)
        // Nothing was added; those that strike connections are counted apart.
        #expect(post(0.3) == .done)
        #expect(post(0.9, #","stage":"connection""#) == .done)
        #expect(router.respond(method: "DELETE", path: "/faults", body: []) == .done)
        #expect(post(1) == .done)
    }

    @Test("devices can be registered and forgotten")
    func devices() throws {
        let router = try Self.router()
        let token = try DeviceToken(hex: "ab")
        let body =
            #"{"token":"AB","topic":"a.b","environment":"sandbox","state":"expired","since":9}"#
        #expect(router.respond(method: "POST", path: "/devices", body: Array(body.utf8)) == .done)
        #expect(
            router.state.currentRules.judge.devices[token]
                == RegisteredDevice(
                    token: token, topic: "a.b", environment: .sandbox,
                    state: .expired(since: .init(millisecondsSinceEpoch: 9))))
        #expect(router.respond(method: "DELETE", path: "/devices/ab", body: []) == .done)
        #expect(router.state.currentRules.judge.devices.isEmpty)
    }

    @Test(
        "bad bodies are answered 400 with field, problem and remedy",
        arguments: [
            ("/devices", #"{"token":"xyz"}"#), ("/devices", #"{"token":"ab","state":"lost"}"#),
            ("/devices", #"{"token":"ab","state":"expired"}"#),
            ("/devices", #"{"token":"ab","environment":"moon"}"#), ("/devices", "[]"),
            ("/faults", "{}"), ("/faults", #"{"kind":"delay"}"#), ("/goaway", "?"),
        ])
    func badBodies(path: String, body: String) throws {
        let response = try Self.router().respond(
            method: "POST", path: path, body: Array(body.utf8))
        #expect(response.status == 400)
        let problem = try JSONDecoder().decode([String: String].self, from: Data(response.body))
        #expect(Set(problem.keys) == ["field", "problem", "remedy"])
    }

    @Test("other paths and methods are not found")
    func notFound() throws {
        for (method, path) in [("GET", "/"), ("PUT", "/faults"), ("GET", "/pushes/1")] {
            #expect(try Self.router().respond(method: method, path: path, body: []).status == 404)
        }
    }

    @Test("curl can script a run from outside, and read what happened")
    func throughCurl() async throws {
        try await WireTests.withSimulator {
            $0.controlPort = 0
        } _: { simulator in
            let base = "http://127.0.0.1:\(try #require(simulator.controlPort))"
            func curl(
                _ method: String, _ path: String, _ body: String? = nil
            ) async throws
                -> String
            {
                try await Command.run(
                    ForeignClientTests.curl,
                    ["-sS", "--fail", "-X", method, base + path]
                        + (body.map { ["--data", $0] } ?? [])
                ).text
            }
            #expect(try await curl("GET", "/ca.pem") == simulator.certificateAuthorityPEM)
            _ = try await curl("POST", "/faults", #"{"kind":"reject","reason":"Shutdown"}"#)
            let client = try await RawClient.connect(to: simulator)
            #expect(try await client.push(Push())?.status == 503)
            _ = try await curl("DELETE", "/faults")
            #expect(try await client.push(Push())?.status == 200)

            let pushes = try JSONDecoder().decode(
                [PushDocument].self, from: Data(try await curl("GET", "/pushes").utf8))
            #expect(pushes.map(\.status) == [503, 200])
            #expect(pushes[0].headers[0] == [":method", "POST"])
            #expect(pushes[0].body == String(decoding: Push().body, as: UTF8.self))
            let counters = try JSONDecoder().decode(
                CountersDocument.self, from: Data(try await curl("GET", "/counters").utf8))
            #expect(counters.answers == ["200": 1, "503": 1])
            _ = try await curl("DELETE", "/pushes")
            #expect(simulator.receivedPushes.isEmpty)

            _ = try await curl("POST", "/goaway")
            #expect(await client.nextFrame(ofType: RawClient.Kind.goAway) != nil)
            let other = try await RawClient.connect(to: simulator)
            await other.synchronise()
            _ = try await curl("DELETE", "/connections")
            #expect(await other.nextFrame { _ in false } == nil)
        }
    }

    @Test("a large answer comes whole also where the connection ends behind it")
    func largeAnswer() async throws {
        try await WireTests.withSimulator {
            $0.controlPort = 0
        } _: { simulator in
            let body = [UInt8](repeating: UInt8(ascii: "a"), count: 8 << 20)
            simulator.state.log.append(
                ReceivedPush(
                    number: 1, connection: 1, stream: 1,
                    receivedAt: .init(millisecondsSinceEpoch: 0), headers: [], body: body))
            let output = try await Command.run(
                ForeignClientTests.curl,
                [
                    "-sS", "--fail", "-H", "Connection: close", "-o", "/dev/null", "-w",
                    "%{size_download}",
                    "http://127.0.0.1:\(try #require(simulator.controlPort))/pushes",
                ])
            #expect(try #require(Int(output.text)) > body.count, "\(output)")
        }
    }

    @Test("run writes the certificate, says where it is, and ends with its task")
    func run() async throws {
        try await Command.withFile("") { path in
            let (lines, continuation) = AsyncStream.makeStream(of: APNsSimulator.ReadyLine.self)
            let task = Task {
                var configuration = APNsSimulator.Configuration()
                configuration.controlPort = 0
                try await APNsSimulator.run(configuration, certificateAuthorityPath: path) {
                    continuation.yield($0)
                }
            }
            var iterator = lines.makeAsyncIterator()
            let line = try #require(await iterator.next())
            #expect(line.certificateAuthorityPath == path)
            #expect(line.environment == "sandbox")
            let output = try await Command.run(
                ForeignClientTests.curl,
                [
                    "-s", "--http2", "--cacert", path,
                    "https://localhost:\(line.port)/3/device/ab",
                ])
            #expect(output.text == #"{"reason":"MethodNotAllowed"}"#)
            #expect(line.controlPort != nil)
            task.cancel()
            try await task.value
        }
    }
}
