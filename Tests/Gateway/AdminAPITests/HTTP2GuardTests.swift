// SPDX-License-Identifier: Apache-2.0

import Foundation
import Gateway
import GatewayTestKit
import Testing
import WaitKit

@testable import AdminAPI

@Suite("Requests over HTTP/2, over real sockets", .timeLimit(.minutes(10)))
struct HTTP2GuardTests {
    /// Codes of RFC 9113 §7.
    private static let (noError, protocolError): (UInt32, UInt32) = (0, 1)
    private static let (refusedStream, cancel): (UInt32, UInt32) = (7, 8)

    private func key(_ bench: APIBench, _ scope: Scope = .admin) throws -> String {
        try #require(bench.keys[scope]).text
    }

    @Test("Many requests at a time get their own answers, whoever answers them")
    func multiplexed() async throws {
        let bench = try APIBench()
        try await bench.serve { caller in
            let http2 = try HTTP2Caller(port: caller.port, key: key(bench))
            var expected: [Int: Int] = [:]
            for round in 0..<20 {
                let device = UInt64(round)
                let body = APIBench.body(device: device)
                expected[try http2.begin("POST", "/v1/wakes", body)] = 202
                expected[try http2.begin("POST", "/v1/wakes", "{")] = 400
                expected[try http2.begin("POST", "/v1/wakes", body, hasLength: false)] = 202
                expected[try http2.begin("GET", "/healthz")] = 200
                expected[try http2.begin("GET", "/v1/wakes?limit=1000")] = 200
                expected[try http2.begin("HEAD", "/")] = 200
                expected[try http2.begin("GET", "/nothing")] = 404
                try await http2.receive { $0.answers.count == expected.count }
            }
            #expect(http2.answers.mapValues(\.status) == expected)
            let accepted = http2.answers.values.filter { $0.status == 202 }
            let ids = try accepted.compactMap { try $0.json()["id"] as? String }
            #expect(Set(ids).count == 40)
            #expect(accepted.allSatisfy { $0.headers["x-request-id"] != nil })
        }
    }

    @Test("A batch of several megabytes comes through the windows of flow control")
    func largeBody() async throws {
        let bench = try APIBench()
        try await bench.serve { caller in
            let item = APIBench.body().replacing(
                "\"n\":7", with: "\"n\":\"\(String(repeating: "x", count: 2_000))\"")
            let body = Array(
                ("[" + Array(repeating: item, count: 1_000).joined(separator: ",") + "]").utf8)
            let http2 = try HTTP2Caller(port: caller.port, key: key(bench))
            let fields = http2.fields("POST", "/v1/wakes/batch")
            let stream = try http2.begin(
                exactly: fields + [("content-type", "application/json")], endsStream: false)
            var sent = 0
            // As much as each window allows, and then what the server grants.
            while sent < body.count, http2.answers[stream] == nil {
                let end = min(sent + min(16_384, http2.window(of: stream)), body.count)
                if end > sent {
                    try http2.sendData(
                        Array(body[sent..<end]), on: stream, endsStream: end == body.count)
                    sent = end
                } else {
                    try await http2.receive { $0.window(of: stream) > 0 }
                }
            }
            let answer = try await http2.answer(to: stream)
            #expect(answer.status == 200, "\(answer.body.prefix(300))")
            #expect(try answer.json()["accepted"] as? Int == 1_000, "\(answer.body.prefix(300))")
        }
    }

    @Test("A body that does not end gets 408, from the router's route and the direct one")
    func slowBody() async throws {
        var bench = try APIBench()
        bench.configuration.bodySeconds = 1
        try await bench.serve { caller in
            let http2 = try HTTP2Caller(port: caller.port, key: key(bench))
            for path in ["/v1/wakes", "/v1/wakes/batch"] {
                let fields = http2.fields("POST", path) + [("content-length", "100")]
                let stream = try http2.begin(exactly: fields, endsStream: false)
                try http2.sendData(Array("{".utf8), on: stream, endsStream: false)
                try expectProblem(try await http2.answer(to: stream), .requestTimeout)
            }
            // The connection goes on.
            #expect(try await http2.exchange("GET", "/healthz").status == 200)
        }
    }

    @Test("A head that a proxy could read differently gets 400, and one too large 431")
    func heads() async throws {
        let bench = try APIBench()
        try await bench.serve { caller in
            let http2 = try HTTP2Caller(port: caller.port, key: key(bench))
            let whole = http2.fields("GET", "/healthz")
            let authority = (":authority", "localhost")
            let bad: [[(String, String)]] = [
                http2.fields("GET", "//healthz"), http2.fields("GET", "/health z"),
                http2.fields("GET", "/healthz#"), http2.fields("GET", "*"),
                whole.filter { $0.0 != ":authority" }, whole + [("host", "other.example")],
                whole.filter { $0.0 != ":authority" } + [("host", "a"), ("host", "a")],
                whole.map { $0.0 == ":authority" ? (":authority", "a b") : $0 },
                [(":method", "CONNECT"), authority], whole + [("x-control", "a\u{1}b")],
                whole + [("content-length", "+0")],
            ]
            for fields in bad {
                let answer = try await http2.answer(to: http2.begin(exactly: fields))
                // NIO resets some of them as malformed itself.
                #expect(
                    answer.status == 400 || answer.resetCode == Self.protocolError,
                    "\(fields) \(answer)")
            }
            // Callers that send only Host, or the same in both.
            for fields in [
                whole.filter { $0.0 != ":authority" } + [("host", "localhost")],
                whole + [("host", "localhost")],
            ] {
                #expect(try await http2.answer(to: http2.begin(exactly: fields)).status == 200)
            }
            let long = ("x-long", String(repeating: "x", count: 9_000))
            let many = (0..<101).map { ("x-\($0)", "1") }
            for fields in [whole + [long], whole + many] {
                let answer = try await http2.answer(to: http2.begin(exactly: fields))
                try expectProblem(answer, .headersTooLarge)
            }
            #expect(try await http2.exchange("GET", "/healthz").status == 200)
        }
    }

    @Test("A caller that breaks HTTP/2 gets GOAWAY and its connection ends")
    func broken() async throws {
        let bench = try APIBench()
        try await bench.serve { caller in
            let frames = [
                // DATA on a stream that is not open, and a frame that is too long.
                HTTP2Caller.Frame(type: HTTP2Caller.Kind.data, stream: 5, payload: [1]),
                HTTP2Caller.Frame(
                    type: HTTP2Caller.Kind.ping, payload: Array(repeating: 0, count: 20_000)),
                HTTP2Caller.Frame(
                    type: HTTP2Caller.Kind.headers, flags: 4, stream: 1,
                    payload: [0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
            ]
            for frame in frames {
                let http2 = try HTTP2Caller(port: caller.port, key: key(bench))
                try http2.send(frame)
                try await http2.receive { $0.goAway != nil }
                // Further faults keep nothing open.
                let end = ContinuousClock.now + .seconds(20)
                while !http2.isClosed, .now < end {
                    try? http2.send(
                        HTTP2Caller.Frame(type: HTTP2Caller.Kind.data, stream: 9, payload: [1]))
                    try await elapse(.milliseconds(200))
                    let count = http2.goAwayCount
                    try await http2.receive { $0.goAwayCount > count }
                }
                #expect(http2.goAway?.code ?? 0 != 0)
                #expect(http2.isClosed)
            }
        }
    }

    @Test("A connection without a request ends, with GOAWAY; a caller without a key waits less")
    func silence() async throws {
        var bench = try APIBench()
        // Far enough apart, and long enough for a request, on a machine that is busy.
        bench.configuration.strangerSeconds = 3
        bench.configuration.idleSeconds = 12
        try await bench.serve { caller in
            var start = ContinuousClock.now
            let stranger = try HTTP2Caller(port: caller.port)
            try await stranger.receive { $0.goAway != nil }
            #expect(stranger.goAway?.code == Self.noError)
            #expect(start.duration(to: .now) < .milliseconds(11_500))

            start = .now
            let friend = try HTTP2Caller(port: caller.port, key: key(bench))
            #expect(try await friend.exchange("GET", "/v1/apps").status == 200)
            try await friend.receive { $0.goAway != nil }
            #expect(start.duration(to: .now) > .milliseconds(11_500))
            try await friend.receive { _ in false }
            #expect(friend.isClosed)
        }
    }

    @Test("Bytes that are no request do not keep a connection, nor end it early")
    func slowHead() async throws {
        var bench = try APIBench()
        bench.configuration.headerSeconds = 1
        bench.configuration.idleSeconds = 3
        try await bench.serve { caller in
            let part: [UInt8] = [0, 0, 40, HTTP2Caller.Kind.headers, 5, 0, 0]
            // A late update of a window that nobody needs any more (RFC 9113 §5.1).
            let late: [UInt8] = [0, 0, 4, HTTP2Caller.Kind.window, 0, 0, 0, 0, 1, 0, 0, 0, 9]
            for bytes in [part, late] {
                let http2 = try HTTP2Caller(port: caller.port, key: key(bench))
                #expect(try await http2.exchange("GET", "/v1/apps").status == 200)
                let start = ContinuousClock.now
                try http2.send(bytes)
                try await http2.receive { _ in false }
                #expect(http2.isClosed)
                #expect(start.duration(to: .now) > .milliseconds(2_500))
                #expect(start.duration(to: .now) < .seconds(10))
            }
        }
    }

    @Test("Frames that were under way when many streams were reset are no fault")
    func lateFrames() async throws {
        let bench = try APIBench()
        try await bench.serve { caller in
            let http2 = try HTTP2Caller(port: caller.port, key: key(bench))
            let streams = try (0..<60).map { _ in
                try http2.begin(
                    exactly: http2.fields("POST", "/v1/wakes") + [("content-length", "1000000")],
                    endsStream: false)
            }
            try await http2.receive { http2 in
                streams.allSatisfy { http2.resetCode(of: $0) != nil }
            }
            #expect(streams.allSatisfy { http2.answers[$0]?.status == 413 })
            for stream in streams { try http2.sendData([1, 2, 3], on: stream, endsStream: false) }
            #expect(try await http2.exchange("GET", "/healthz").status == 200)
            #expect(http2.goAway == nil)
        }
    }

    @Test("A caller without a key has few requests at a time, one with a key many at once")
    func crowd() async throws {
        var bench = try APIBench()
        bench.configuration.strangerStreamCount = 3
        bench.configuration.bodySeconds = 5
        try await bench.serve { caller in
            let stranger = try HTTP2Caller(port: caller.port)
            // The window of each answer is closed, so that its stream stays open.
            let closed = try HTTP2Caller(port: caller.port, initialWindow: 0)
            let streams = try (0..<5).map { _ in try closed.begin("GET", "/healthz") }
            try await closed.receive { $0.answers.count == 2 }
            #expect(closed.answers.keys.sorted() == Array(streams[3...]))
            #expect(closed.answers.values.allSatisfy { $0.resetCode == Self.refusedStream })
            #expect(try await stranger.exchange("GET", "/healthz").status == 200)

            let friend = try HTTP2Caller(port: caller.port, key: key(bench))
            for _ in 0..<50 { try friend.begin("GET", "/v1/wakes?limit=1") }
            try await friend.receive { $0.answers.count == 50 }
            #expect(friend.answers.values.allSatisfy { $0.status == 200 })
        }
    }

    @Test("An answer before the end of the request comes, and then the rest is not wanted")
    func early() async throws {
        var bench = try APIBench()
        bench.configuration.bodySeconds = 60
        try await bench.serve { caller in
            let http2 = try HTTP2Caller(port: caller.port, key: "wrong")
            let fields = http2.fields("POST", "/v1/wakes/batch") + [("content-length", "100000")]
            let start = ContinuousClock.now
            let stream = try http2.begin(exactly: fields, endsStream: false)
            try http2.sendData([UInt8](repeating: 32, count: 10_000), on: stream, endsStream: false)
            let answer = try await http2.answer(to: stream)
            try expectProblem(answer, .unauthorized)
            #expect(answer.resetCode == nil)
            try await http2.receive { $0.resetCode(of: stream) != nil }
            #expect(http2.resetCode(of: stream) == Self.noError)
            // Long before the time limit of a body.
            #expect(start.duration(to: .now) < .seconds(15))
            #expect(try await http2.exchange("GET", "/healthz").status == 200)
        }
    }

    @Test("The stream of a caller that does not take its answer is reset; others go on")
    func stalled() async throws {
        var bench = try APIBench()
        bench.configuration.stallSeconds = 1
        try await bench.serve { caller in
            let http2 = try HTTP2Caller(port: caller.port, key: key(bench), initialWindow: 0)
            let streams = [
                try http2.begin("POST", "/v1/wakes", APIBench.body()),
                try http2.begin("GET", "/v1/apps"), try http2.begin("GET", "/v1/events"),
            ]
            for stream in streams {
                let answer = try await http2.answer(to: stream)
                #expect(answer.status > 0)
                #expect(answer.resetCode == Self.cancel)
            }
            let empty = try http2.begin("HEAD", "/healthz")
            #expect(try await http2.answer(to: empty).status == 200)
        }
    }

    @Test("Answers that nobody takes keep no caller with a key out")
    func places() async throws {
        var bench = try APIBench()
        bench.configuration.connectionCount = 4
        bench.configuration.connectionsPerPeerCount = 4
        try await bench.serve { caller in
            let strangers = try (0..<4).map { _ in
                try HTTP2Caller(port: caller.port, initialWindow: 0)
            }
            for stranger in strangers {
                let stream = try stranger.begin("GET", "/")
                try await stranger.receive { $0.hasBegun(stream) }
            }
            for _ in 0..<3 {
                #expect(try await caller.send("GET", "/v1/apps").status == 200)
                let friend = try HTTP2Caller(port: caller.port, key: key(bench))
                #expect(try await friend.exchange("GET", "/v1/apps").status == 200)
            }
        }
    }

    @Test("A caller's large table of header fields costs nothing: few fields are put into it")
    func largeTable() async throws {
        let bench = try APIBench()
        try await bench.serve { caller in
            let http2 = try HTTP2Caller(port: caller.port, key: key(bench))
            // SETTINGS_HEADER_TABLE_SIZE.
            try http2.send(
                HTTP2Caller.Frame(
                    type: HTTP2Caller.Kind.settings, payload: [0, 1] + HTTP2Caller.bytes(1 << 24)))
            var sizes: [Int] = []
            for _ in 0..<30 {
                let stream = try http2.begin("GET", "/v1/apps")
                let body = try http2.begin("POST", "/v1/wakes", APIBench.body())
                _ = try await (http2.answer(to: stream), http2.answer(to: body))
                sizes.append(http2.headerTableCount)
            }
            // Nothing is added once each kind of answer was given.
            #expect(sizes.last == sizes[1], "\(sizes)")
        }
    }

    @Test("A reset ends what the caller waited for")
    func resetByCaller() async throws {
        let bench = try APIBench()
        try await bench.serve { caller in
            let http2 = try HTTP2Caller(port: caller.port, key: key(bench))
            let events = try http2.begin("GET", "/v1/events")
            try await http2.receive { $0.hasBegun(events) }
            let metrics = { try await caller.send("GET", "/metrics").body }
            #expect(try await metrics().contains("rouse_event_streams 1"))
            try http2.send(
                HTTP2Caller.Frame(
                    type: HTTP2Caller.Kind.reset, stream: events,
                    payload: HTTP2Caller.bytes(Self.cancel)))
            var isOver = false
            for _ in 0..<3_000 where !isOver {
                isOver = try await metrics().contains("rouse_event_streams 0")
                if !isOver { try await elapse(.milliseconds(10)) }
            }
            #expect(isOver)
            #expect(try await http2.exchange("GET", "/healthz").status == 200)
        }
    }

    @Test("The end of the caller's side does not take its answers away")
    func halfClosed() async throws {
        let bench = try APIBench()
        try await bench.serve { caller in
            let http2 = try HTTP2Caller(port: caller.port, key: key(bench))
            try await http2.receive { !$0.settings.isEmpty }
            for device in 0..<50 {
                try http2.begin("POST", "/v1/wakes", APIBench.body(device: UInt64(device)))
            }
            http2.closeSendingHalf()
            try await http2.receive { _ in false }
            #expect(http2.answers.count == 50)
            #expect(http2.answers.values.allSatisfy { $0.status == 202 })
        }
    }

    @Test("A slow reader gets all of its answers, also after it has closed its side")
    func slowReader() async throws {
        let bench = try APIBench()
        try await bench.serve { caller in
            let http2 = try HTTP2Caller(
                port: caller.port, key: key(bench), initialWindow: 1 << 20,
                receiveByteCount: 4_096)
            try http2.send(
                HTTP2Caller.Frame(
                    type: HTTP2Caller.Kind.window, payload: HTTP2Caller.bytes(1 << 24)))
            try await http2.receive { !$0.settings.isEmpty }
            for _ in 0..<20 { try http2.begin("GET", "/") }
            http2.closeSendingHalf()
            http2.takesAnswers = false
            // The answers fill the socket before the first byte is read.
            try await elapse(.milliseconds(1_000))
            try await http2.receive { _ in false }
            let counts = http2.answers.values.map(\.body.utf8.count)
            #expect(http2.answers.count == 20)
            #expect(Set(counts).count == 1 && counts[0] > 100_000, "\(counts)")
        }
    }

    @Test("One caller's many requests leave each connection one")
    func share() async throws {
        var bench = try APIBench()
        bench.configuration.connectionCount = 8
        try await bench.serve { caller in
            let busy = try HTTP2Caller(port: caller.port, key: key(bench))
            // Before a caller has acknowledged the settings, NIO allows 100.
            _ = try await busy.exchange("GET", "/healthz")
            let streams = try (0..<200).map { _ in
                try busy.begin(
                    exactly: busy.fields("POST", "/v1/wakes") + [("content-length", "10")],
                    endsStream: false)
            }
            // All but one have 16 for each place.
            try await busy.receive { $0.answers.count == 200 - 8 * 16 }
            let refused = streams.filter { busy.resetCode(of: $0) == Self.refusedStream }
            #expect(refused == Array(streams[129...]))
            let other = try HTTP2Caller(port: caller.port, key: key(bench))
            for _ in 0..<3 { #expect(try await other.exchange("GET", "/v1/apps").status == 200) }
        }
    }

    @Test("On a reserved place only health is answered, and the connection ends")
    func reserve() async throws {
        var bench = try APIBench()
        bench.configuration.connectionCount = 1
        try await bench.serve { caller in
            let first = try HTTP2Caller(port: caller.port, key: key(bench))
            let events = try first.begin("GET", "/v1/events")
            try await first.receive { $0.hasBegun(events) }
            let second = try HTTP2Caller(port: caller.port, key: key(bench))
            #expect(try await second.exchange("GET", "/healthz").status == 200)
            let third = try HTTP2Caller(port: caller.port, key: key(bench))
            try expectProblem(try await third.exchange("GET", "/v1/apps"), .unavailable)
            try await third.receive { _ in false }
            #expect(third.isClosed)
        }
    }
}
