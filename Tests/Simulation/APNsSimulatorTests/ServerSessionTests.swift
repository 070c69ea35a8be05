// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHPACK
import Testing

@testable import APNsSimulator

@Suite("Server session")
struct ServerSessionTests {
    typealias Frame = RawClient.Frame
    typealias Kind = RawClient.Kind

    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    static let settings = RawClient.bytes(
        of: Frame(type: Kind.settings, flags: 0, stream: 0, payload: []))
    static let fields = [(":method", "POST"), (":scheme", "https"), (":path", "/3/device/ab")]

    static func headers(
        _ stream: Int, flags: UInt8 = 0x4, _ fields: [(String, String)] = fields
    ) -> [UInt8] {
        RawClient.bytes(
            of: Frame(
                type: Kind.headers, flags: flags, stream: stream, payload: RawClient.block(fields)))
    }

    static func data(_ stream: Int, _ text: String, flags: UInt8 = 0x1) -> [UInt8] {
        RawClient.bytes(
            of: Frame(type: Kind.data, flags: flags, stream: stream, payload: Array(text.utf8)))
    }

    /// Feeds the bytes in pieces of this size and describes the events, one line each.
    static func events(
        _ bytes: [UInt8], piece: Int = .max, session: inout ServerSession
    ) -> [String] {
        var input = ByteBuffer()
        var lines: [String] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            input.writeBytes(rest.prefix(piece))
            rest = rest.dropFirst(piece)
            while let event = session.nextEvent(from: &input) { lines.append(describe(event)) }
        }
        return lines
    }

    static func events(_ bytes: [UInt8]) -> [String] {
        var session = ServerSession(streamLimit: 100)
        return events(preface + settings + bytes, session: &session)
    }

    static func describe(_ event: ServerSession.Event) -> String {
        switch event {
        case .headers(let stream, let fields, let ends):
            "headers \(stream) \(fields.count)\(ends ? " end" : "")"
        case .data(let stream, let bytes, let ends):
            "data \(stream) \(String(buffer: bytes))\(ends ? " end" : "")"
        case .headerListTooLarge(let stream): "too large \(stream)"
        case .reset(let stream, let code): "reset \(stream) \(code)"
        case .refused(let stream): "refused \(stream)"
        case .malformed(let stream): "malformed \(stream)"
        case .failed(let violation): "failed \(violation.code)"
        }
    }

    @Test("bytes may come in any pieces", arguments: [1, 2, 3, 7, 10, 100])
    func pieces(size: Int) {
        let bytes =
            Self.preface + Self.settings + Self.headers(1) + Self.data(1, "abc", flags: 0)
            + Self.headers(3) + Self.data(3, "xyz") + Self.data(1, "def")
        var whole = ServerSession(streamLimit: 100)
        var cut = ServerSession(streamLimit: 100)
        let expected = Self.events(bytes, session: &whole)
        #expect(expected.count == 5)
        #expect(Self.events(bytes, piece: size, session: &cut) == expected)
        #expect(cut.output == whole.output)
    }

    @Test("padding and priority are taken off")
    func padding() {
        let block = RawClient.block(Self.fields)
        let headers = RawClient.bytes(
            of: Frame(
                type: Kind.headers, flags: 0x4 | 0x8 | 0x20, stream: 1,
                payload: [3] + [0, 0, 0, 0, 16] + block + [0, 0, 0]))
        let data = RawClient.bytes(
            of: Frame(type: Kind.data, flags: 0x9, stream: 1, payload: [2] + "abc".utf8 + [0, 0]))
        #expect(Self.events(headers + data) == ["headers 1 3", "data 1 abc end"])
    }

    @Test("a header block in several frames is one")
    func continuation() {
        let block = RawClient.block(Self.fields)
        let first = Frame(
            type: Kind.headers, flags: 0x1, stream: 1, payload: Array(block.prefix(9)))
        let second = Frame(
            type: Kind.continuation, flags: 0x4, stream: 1, payload: Array(block.dropFirst(9)))
        #expect(
            Self.events(RawClient.bytes(of: first) + RawClient.bytes(of: second))
                == ["headers 1 3 end"])
        #expect(
            Self.events(RawClient.bytes(of: first) + Self.data(1, "x"))
                == ["failed PROTOCOL_ERROR"])
    }

    @Test("trailers end a request")
    func trailers() {
        #expect(
            Self.events(
                Self.headers(1) + Self.data(1, "abc", flags: 0)
                    + Self.headers(1, flags: 0x5, [("x", "y")]))
                == ["headers 1 3", "data 1 abc", "data 1  end"])
    }

    @Test(
        "trailers are held to the rules for fields",
        arguments: [
            (":path", "/"), ("X-Upper", "1"), ("connection", "close"), ("a", "b\r"), ("", "b"),
        ])
    func malformedTrailers(name: String, value: String) {
        #expect(
            Self.events(Self.headers(1) + Self.headers(1, flags: 0x5, [(name, value)]))
                == ["headers 1 3", "malformed 1"])
    }

    @Test("an empty field name spoils its request and not the table of header fields")
    func emptyName() {
        func headers(_ stream: Int, _ more: [UInt8]) -> [UInt8] {
            RawClient.bytes(
                of: Frame(
                    type: Kind.headers, flags: 0x5, stream: stream,
                    payload: RawClient.block(Self.fields) + more))
        }
        // Each a field with a new name that the table takes, the third in Huffman coding.
        let first: [UInt8] = [0x40, 0x01, 0x70, 0x01, 0x71]
        let nameless: [UInt8] = [0x40, 0x00, 0x7f, 0x01] + Array(repeating: 0x62, count: 128)
        let huffman: [UInt8] = [0x40, 0x80, 0x01, 0x63]
        let last: [UInt8] = [0x40, 0x01, 0x78, 0x01, 0x79]
        var session = ServerSession(streamLimit: 100)
        // Index 62 is the last field, 65 the first.
        let bytes =
            Self.preface + Self.settings + headers(1, first + nameless + huffman + last)
            + headers(3, [0xbe]) + headers(5, [0xbf]) + headers(7, [0xc0])
            + headers(9, [0xc1]) + headers(11, [0xc2])
        #expect(
            Self.events(bytes, session: &session) == [
                "malformed 1", "headers 3 4 end", "malformed 5", "malformed 7", "headers 9 4 end",
                "failed COMPRESSION_ERROR",
            ])
        session = ServerSession(streamLimit: 100)
        #expect(
            Self.events(
                Self.preface + Self.settings + headers(1, Array(nameless.dropLast())),
                session: &session) == ["failed COMPRESSION_ERROR"])
    }

    @Test(
        "the body must be as long as content-length says",
        arguments: [
            ("3", "abc", "data 1 abc end"), ("4", "abc", "malformed 1"),
            ("2", "abc", "malformed 1"),
        ])
    func contentLength(length: String, body: String, event: String) {
        let headers = Self.headers(1, Self.fields + [("content-length", length)])
        #expect(Self.events(headers + Self.data(1, body)).last == event)
    }

    @Test(
        "what breaks the connection ends it with the right code",
        arguments: [
            (Frame(type: 0, flags: 0, stream: 1, payload: []), "PROTOCOL_ERROR"),
            (Frame(type: 0, flags: 0, stream: 0, payload: []), "PROTOCOL_ERROR"),
            (Frame(type: 1, flags: 4, stream: 2, payload: []), "PROTOCOL_ERROR"),
            (Frame(type: 1, flags: 4, stream: 1, payload: [0x80]), "COMPRESSION_ERROR"),
            (Frame(type: 3, flags: 0, stream: 1, payload: [0, 0, 0, 8]), "PROTOCOL_ERROR"),
            (Frame(type: 3, flags: 0, stream: 1, payload: [0]), "FRAME_SIZE_ERROR"),
            (Frame(type: 4, flags: 0, stream: 1, payload: []), "PROTOCOL_ERROR"),
            (Frame(type: 4, flags: 0, stream: 0, payload: [0]), "FRAME_SIZE_ERROR"),
            (
                Frame(type: 4, flags: 0, stream: 0, payload: [0, 4, 0xff, 0xff, 0xff, 0xff]),
                "FLOW_CONTROL_ERROR"
            ),
            (Frame(type: 5, flags: 4, stream: 1, payload: [0, 0, 0, 2]), "PROTOCOL_ERROR"),
            (Frame(type: 6, flags: 0, stream: 0, payload: [0]), "FRAME_SIZE_ERROR"),
            (Frame(type: 8, flags: 0, stream: 0, payload: [0, 0, 0, 0]), "PROTOCOL_ERROR"),
            (Frame(type: 8, flags: 0, stream: 1, payload: [0, 0, 0, 1]), "PROTOCOL_ERROR"),
            (Frame(type: 2, flags: 0, stream: 0, payload: [0, 0, 0, 0, 0]), "PROTOCOL_ERROR"),
            (Frame(type: 2, flags: 0, stream: 1, payload: [0, 0, 0, 0]), "FRAME_SIZE_ERROR"),
            (
                Frame(type: 7, flags: 0, stream: 1, payload: [0, 0, 0, 0, 0, 0, 0, 0]),
                "PROTOCOL_ERROR"
            ),
            (Frame(type: 4, flags: 1, stream: 0, payload: [0]), "FRAME_SIZE_ERROR"),
            (Frame(type: 4, flags: 0, stream: 0, payload: [0, 2, 0, 0, 0, 2]), "PROTOCOL_ERROR"),
            (
                Frame(type: 4, flags: 0, stream: 0, payload: [0, 5, 0, 0, 0x3f, 0xff]),
                "PROTOCOL_ERROR"
            ),
            (Frame(type: 4, flags: 0, stream: 0, payload: [0, 5, 1, 0, 0, 0]), "PROTOCOL_ERROR"),
            (
                Frame(type: 6, flags: 0, stream: 1, payload: [0, 0, 0, 0, 0, 0, 0, 0]),
                "PROTOCOL_ERROR"
            ),
            (
                Frame(type: 8, flags: 0, stream: 0, payload: [0x7f, 0xff, 0xff, 0xff]),
                "FLOW_CONTROL_ERROR"
            ),
            (Frame(type: 9, flags: 4, stream: 1, payload: []), "PROTOCOL_ERROR"),
            (Frame(type: 0, flags: 8, stream: 1, payload: [9]), "PROTOCOL_ERROR"),
            (
                Frame(type: 6, flags: 0, stream: 0, payload: Array(repeating: 0, count: 16_385)),
                "FRAME_SIZE_ERROR"
            ),
        ])
    func violations(frame: Frame, code: String) {
        #expect(Self.events(RawClient.bytes(of: frame)) == ["failed \(code)"])
        #expect(Self.events(RawClient.bytes(of: frame) + Self.headers(1)) == ["failed \(code)"])
    }

    @Test("PRIORITY, GOAWAY and unknown frames are passed over")
    func ignored() {
        let frames = [(2, 1, 5), (2, 9, 5), (7, 0, 8), (10, 0, 8), (200, 3, 8)].map {
            RawClient.bytes(
                of: Frame(
                    type: $0, flags: 0, stream: $1, payload: Array(repeating: 0, count: $2)))
        }
        #expect(Self.events(frames.flatMap { $0 } + Self.headers(1)) == ["headers 1 3"])
    }

    static let reset = Frame(type: Kind.reset, flags: 0, stream: 1, payload: [0, 0, 0, 8])

    @Test(
        "what comes on a stream that is over is judged by who ended it",
        arguments: [
            (headers(1, flags: 0x5) + data(1, "x"), "failed STREAM_CLOSED"),
            (headers(1, flags: 0x5) + headers(1, flags: 0x5), "failed STREAM_CLOSED"),
            (headers(1) + RawClient.bytes(of: reset) + data(1, "x"), "malformed 1"),
            (
                headers(1) + RawClient.bytes(of: reset) + headers(1, flags: 0x5),
                "malformed 1"
            ),
            (headers(5, flags: 0x5) + headers(3, flags: 0x5), "failed PROTOCOL_ERROR"),
            (headers(5, flags: 0x5) + data(3, "x"), "failed PROTOCOL_ERROR"),
            (headers(5, flags: 0x5) + data(2, "x"), "failed PROTOCOL_ERROR"),
        ])
    func afterClose(bytes: [UInt8], event: String) {
        var session = ServerSession(streamLimit: 100)
        var input = ByteBuffer(bytes: Self.preface + Self.settings + bytes)
        var last: String?
        while let event = session.nextEvent(from: &input) {
            last = Self.describe(event)
            if case .headers(let stream, _, endsStream: true) = event {
                session.respond(to: stream, with: .init(status: 200, apnsID: "id"))
            }
        }
        #expect(last == event)
    }

    @Test("a client that was answered early may finish what it was sending, once")
    func lateBody() {
        var session = ServerSession(streamLimit: 100)
        _ = Self.events(Self.preface + Self.settings + Self.headers(1), session: &session)
        session.respond(to: 1, with: .init(status: 413, apnsID: "id"))
        #expect(
            Self.events(Self.data(1, "x", flags: 0) + Self.data(1, "y"), session: &session) == [])
        #expect(Self.events(Self.data(1, "z"), session: &session) == ["failed STREAM_CLOSED"])
    }

    @Test("no more than the recent streams are remembered")
    func history() {
        var history = StreamHistory()
        history.opened(1, hasEnded: true)
        history.opened(7, hasEnded: false)
        #expect(history[1] == .ended)
        #expect(history[3] == .unused)
        #expect(history[2] == nil)
        #expect(history[7] == .open)
        #expect(history[9] == nil)
        history.opened(1_000_001, hasEnded: false)
        #expect(history[7] == nil)
        #expect(history[999_999] == .unused)
        history.ended(1_000_001)
        history.wasReset(999_999)
        #expect(history[1_000_001] == .ended)
        #expect(history[999_999] == .reset)
    }

    @Test(
        "a header list that is too large costs its own stream alone", arguments: [9000, 100_000])
    func largeHeaderList(size: Int) {
        let value = String(repeating: "x", count: size / 10)
        let fields = Self.fields + (0..<10).map { ("x-\($0)", value) }
        var block = RawClient.block(fields)[...]
        var bytes: [UInt8] = []
        while !block.isEmpty {
            let part = block.prefix(16_384)
            block = block.dropFirst(16_384)
            bytes += RawClient.bytes(
                of: Frame(
                    type: bytes.isEmpty ? Kind.headers : Kind.continuation,
                    flags: (bytes.isEmpty ? 0x1 : 0) | (block.isEmpty ? 0x4 : 0), stream: 1,
                    payload: Array(part)))
        }
        var session = ServerSession(streamLimit: 100)
        _ = Self.events(Self.preface + Self.settings, session: &session)
        session.output.clear()
        #expect(
            Self.events(bytes + Self.headers(3), session: &session) == [
                "too large 1", "headers 3 3",
            ])
        #expect(String(buffer: session.output).hasSuffix("431"))
    }

    @Test("a header list beyond all measure ends the connection")
    func hugeHeaderList() {
        // One large entry in the table, and then references to it.
        let entry: [UInt8] =
            [0x40] + RawClient.block([("x", String(repeating: "x", count: 4000))]).dropFirst()
        let block = RawClient.block(Self.fields) + entry + Array(repeating: 0xbe, count: 300)
        let frame = Frame(type: Kind.headers, flags: 0x5, stream: 1, payload: block)
        #expect(Self.events(RawClient.bytes(of: frame)) == ["failed ENHANCE_YOUR_CALM"])
    }

    @Test("a request needs a path that says something")
    func emptyPath() {
        #expect(
            Self.events(
                Self.headers(1, [(":method", "POST"), (":scheme", "https"), (":path", "")]))
                == ["malformed 1"])
    }

    @Test("something else than HTTP/2 is told so")
    func noPreface() {
        var session = ServerSession(streamLimit: 1)
        #expect(
            Self.events(Array("GET / HTTP/1.1\r\n".utf8), session: &session)
                == ["failed PROTOCOL_ERROR"])
    }

    @Test("a client that overruns the connection's window is stopped; within it, it is renewed")
    func receiveWindow() {
        let frame = Self.data(1, String(repeating: "x", count: 16_384), flags: 0)
        let lines = Self.events(Self.headers(1) + frame + frame + frame + frame)
        #expect(lines.last == "malformed 1")  // The stream's own window is not renewed.
        let many = (0..<40).flatMap {
            Self.headers(2 * $0 + 1) + Self.data(2 * $0 + 1, String(repeating: "x", count: 4096))
        }
        #expect(Self.events(many).allSatisfy { !$0.hasPrefix("failed") })
    }

    @Test("an answer waits for the client's window, and for nothing else")
    func sendWindow() throws {
        var session = ServerSession(streamLimit: 100)
        let window = RawClient.bytes(
            of: Frame(type: Kind.settings, flags: 0, stream: 0, payload: [0, 4, 0, 0, 0, 4]))
        _ = Self.events(Self.preface + window + Self.headers(1, flags: 0x5), session: &session)
        session.output.clear()
        session.respond(
            to: 1, with: .init(status: 400, apnsID: "id", body: Array("123456789".utf8)))
        #expect(String(buffer: session.output).hasSuffix("1234"))
        #expect(!session.isIdle)
        session.output.clear()
        let update = RawClient.bytes(
            of: Frame(type: 8, flags: 0, stream: 1, payload: [0, 0, 0, 100]))
        _ = Self.events(update, session: &session)
        #expect(String(buffer: session.output).hasSuffix("56789"))
        #expect(session.isIdle)
    }

    @Test("streams above a GOAWAY are dropped without a word")
    func goAway() {
        var session = ServerSession(streamLimit: 100)
        _ = Self.events(
            Self.preface + Self.settings + Self.headers(1) + Self.headers(3), session: &session)
        session.goAway(lastStream: 1, code: .noError)
        session.output.clear()
        let lines = Self.events(
            Self.data(3, "x") + Self.headers(5) + Self.data(1, "y"), session: &session)
        #expect(lines == ["data 1 y end"])
        #expect(session.output.readableBytes == 0)
    }

    @Test(
        "every status decodes with another's decoder, with and without a unique id",
        arguments: [200, 400, 403, 404, 405, 410, 413, 429, 500, 503])
    func headerBlocks(status: Int) throws {
        let long = String(repeating: "x", count: 300)
        for uniqueID in [nil, "u", long] {
            var buffer = ByteBuffer()
            HeaderBlock.write(
                .init(status: status, apnsID: "the-id", apnsUniqueID: uniqueID), to: &buffer)
            var decoder = HPACKDecoder(allocator: ByteBufferAllocator())
            let fields = try decoder.decodeHeaders(from: &buffer)
            #expect(fields.first(name: ":status") == "\(status)")
            #expect(fields.first(name: "apns-id") == "the-id")
            #expect(fields.first(name: "apns-unique-id") == uniqueID)
        }
    }
}
