// SPDX-License-Identifier: Apache-2.0

import GatewayTestKit
import Testing

@testable import AdminAPI

@Suite("Floods over HTTP/2, over real sockets", .timeLimit(.minutes(10)))
struct HTTP2FloodTests {
    /// Codes of RFC 9113 §7.
    private static let (cancel, enhanceYourCalm): (UInt32, UInt32) = (8, 11)

    private func key(_ bench: APIBench) throws -> String {
        try #require(bench.keys[.admin]).text
    }

    @Test("A caller that floods with frames that carry no request gets GOAWAY, and is closed")
    func flood() async throws {
        let bench = try APIBench()
        try await bench.serve { caller in
            let one = HTTP2Caller.bytes(1)
            let frames = [
                // Also those that NIO ignores: an unknown stream, and an unknown type.
                HTTP2Caller.Frame(type: HTTP2Caller.Kind.window, payload: one),
                HTTP2Caller.Frame(type: HTTP2Caller.Kind.window, stream: 1, payload: one),
                HTTP2Caller.Frame(type: 2, stream: 5, payload: [0, 0, 0, 0, 1]),
                HTTP2Caller.Frame(type: HTTP2Caller.Kind.settings),
                HTTP2Caller.Frame(type: HTTP2Caller.Kind.ping, payload: one + one),
                HTTP2Caller.Frame(type: HTTP2Caller.Kind.goAway, payload: [0, 0, 0, 0] + one),
                HTTP2Caller.Frame(type: 0x10, payload: one), HTTP2Caller.Frame(type: 0xfe),
            ]
            for frame in frames {
                let http2 = try HTTP2Caller(port: caller.port, key: key(bench))
                #expect(try await http2.exchange("GET", "/v1/apps").status == 200)
                let bytes = HTTP2Caller.bytes(of: frame)
                try await expectCalm(http2, after: 1, "\(frame)") {
                    let many = repeatElement(bytes, count: 2 * FrameBudget.count)
                    try http2.send(Array(many.joined()))
                }
            }
        }
    }

    /// Expects that a flood ends a connection with a GOAWAY that names the last request that was
    /// read: the caller may send all others again (RFC 9113 §6.8), but not this one.
    private func expectCalm(
        _ http2: HTTP2Caller, after stream: Int, _ words: Comment,
        sourceLocation: SourceLocation = #_sourceLocation, flood: () throws -> Void
    ) async throws {
        // The listener may end the connection before it has read all.
        try? flood()
        try await http2.receive { _ in false }
        #expect(http2.goAway?.code == Self.enhanceYourCalm, words, sourceLocation: sourceLocation)
        let last = http2.goAway.map { Int($0.lastStream) }
        #expect(last == stream, words, sourceLocation: sourceLocation)
        #expect(http2.goAwayCount == 1, words, sourceLocation: sourceLocation)
        #expect(http2.isClosed, words, sourceLocation: sourceLocation)
    }

    @Test("Empty parts of a body that does not end are a flood, also padded ones")
    func emptyParts() async throws {
        let bench = try APIBench()
        try await bench.serve { caller in
            for (flags, payload): (UInt8, [UInt8]) in [(0, []), (8, [3, 0, 0, 0])] {
                let http2 = try HTTP2Caller(port: caller.port, key: key(bench))
                let stream = try http2.begin(
                    exactly: http2.fields("POST", "/v1/wakes"), endsStream: false)
                let frame = HTTP2Caller.Frame(
                    type: HTTP2Caller.Kind.data, flags: flags, stream: stream, payload: payload)
                let bytes = HTTP2Caller.bytes(of: frame)
                // A few are none.
                try http2.send(bytes + bytes + bytes)
                #expect(try await http2.exchange("GET", "/v1/apps").status == 200)
                try await expectCalm(http2, after: 3, "\(flags)") {
                    let many = repeatElement(bytes, count: 2 * FrameBudget.count)
                    try http2.send(Array(many.joined()))
                }
            }
        }
    }

    @Test("A caller that resets or spoils its requests gets a GOAWAY that names the last one")
    func spoiled() async throws {
        let bench = try APIBench()
        try await bench.serve { caller in
            for isReset in [true, false] {
                let http2 = try HTTP2Caller(port: caller.port, key: key(bench))
                let answer = try await http2.exchange("POST", "/v1/wakes", APIBench.body())
                #expect(answer.status == 202)
                // The listener may end the connection before it has read all.
                for _ in 0..<2_000 {
                    guard isReset else {
                        // NIO resets what is no request.
                        _ = try? http2.begin(exactly: [(":method", "GET")])
                        continue
                    }
                    guard let stream = try? http2.begin("GET", "/v1/apps") else { break }
                    let code = HTTP2Caller.bytes(Self.cancel)
                    try? http2.send(
                        HTTP2Caller.Frame(
                            type: HTTP2Caller.Kind.reset, stream: stream, payload: code))
                }
                try await http2.receive { _ in false }
                #expect(http2.goAway?.code == Self.enhanceYourCalm)
                #expect(http2.goAway?.lastStream ?? 0 >= 1)
                #expect(http2.goAwayCount == 1)
                #expect(http2.isClosed)
            }
        }
    }

    @Test("A caller may send as many frames of a kind as the manual says")
    func permitted() async throws {
        let bench = try APIBench()
        try await bench.serve { caller in
            let http2 = try HTTP2Caller(port: caller.port, key: key(bench))
            let ping = HTTP2Caller.Frame(
                type: HTTP2Caller.Kind.ping, payload: Array(repeating: 0, count: 8))
            #expect(try await http2.exchange("GET", "/v1/apps").status == 200)
            // It has sent its SETTINGS, and acknowledged those of the listener.
            for _ in 0..<(FrameBudget.controlCount - 2) { try http2.send(ping) }
            let streams = try (0..<FrameBudget.resetCount).map { _ in
                let stream = try http2.begin("GET", "/v1/apps")
                try http2.send(
                    HTTP2Caller.Frame(
                        type: HTTP2Caller.Kind.reset, stream: stream,
                        payload: HTTP2Caller.bytes(Self.cancel)))
                return stream
            }
            #expect(try await http2.exchange("GET", "/healthz").status == 200)
            #expect(http2.goAway == nil)
            try await expectCalm(http2, after: (streams.last ?? 0) + 2, "one more") {
                try http2.send(ping)
            }
        }
    }

    @Test("A caller that takes an answer byte by byte may not send more frames for it")
    func byteByByte() async throws {
        let bench = try APIBench()
        try await bench.serve { caller in
            let http2 = try HTTP2Caller(port: caller.port, key: key(bench), initialWindow: 0)
            let stream = try http2.begin("GET", "/")
            let frame = HTTP2Caller.Frame(
                type: HTTP2Caller.Kind.window, stream: stream, payload: HTTP2Caller.bytes(1))
            let bytes = HTTP2Caller.bytes(of: frame)
            // The listener ends the connection before it has read all.
            try? http2.send(Array(repeatElement(bytes, count: 10_000).joined()))
            try await http2.receive { _ in false }
            #expect(http2.goAway?.code == Self.enhanceYourCalm)
        }
    }

    @Test("A caller that gives windows back in small steps takes long answers whole")
    func smallWindows() async throws {
        let bench = try APIBench()
        try await bench.serve { caller in
            let http2 = try HTTP2Caller(port: caller.port, key: key(bench), initialWindow: 2_048)
            for _ in 0..<16 { try http2.begin("GET", "/") }
            try await http2.receive { $0.answers.count == 16 }
            let byteCount = http2.answers.values.map(\.body.utf8.count).reduce(0, +)
            // Two updates for each window.
            #expect(byteCount / 2_048 * 2 > FrameBudget.count)
            #expect(http2.answers.values.allSatisfy { $0.status == 200 && $0.resetCode == nil })
            #expect(http2.goAway == nil)
        }
    }
}
