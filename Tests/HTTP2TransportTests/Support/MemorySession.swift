// SPDX-License-Identifier: Apache-2.0

import CHTTP2Shims
import CLibnghttp2
import Testing

/// A session without a network: what it says is read frame by frame, what it hears is made by hand.
final class MemorySession {
    let pointer: OpaquePointer
    private var unread: [UInt8] = []
    private var hasSaidPreface = false

    init(streams: UInt32 = 1000) throws {
        pointer = try #require(CHTTP2Session_create(streams, "push.example", "rouse"))
    }

    deinit { CHTTP2Session_destroy(pointer) }

    var state: CHTTP2SessionState { CHTTP2Session_state(pointer) }

    // MARK: Requests

    func start(
        tag: UInt32 = 0, path: String = "/3/device/00", shared: TestBlock,
        headers: [(String, String)] = [], body: [UInt8] = Array("{}".utf8)
    ) -> CHTTP2Started {
        let path = Array(path.utf8)
        CHTTP2Session_begin(pointer, path, path.count, shared.pointer)
        for (name, value) in headers {
            let (name, value) = (Array(name.utf8), Array(value.utf8))
            CHTTP2Session_add_field(pointer, name, name.count, value, value.count)
        }
        return CHTTP2Session_start(pointer, tag, body, body.count)
    }

    // MARK: What it says

    struct Frame {
        let type: UInt8
        let flags: UInt8
        let stream: Int
        let payload: [UInt8]
    }

    /// Everything that it has to say, as if it were written.
    func frames() throws -> [Frame] {
        while true {
            #expect(CHTTP2Session_collect(pointer))
            var length = 0
            let start = CHTTP2Session_staged(pointer, &length)
            if length == 0 { break }
            CHTTP2Session_will_write(pointer)
            unread += UnsafeBufferPointer(start: start, count: length)
            CHTTP2Session_did_write(pointer, length)
        }
        if !hasSaidPreface, unread.count >= 24 {
            #expect(Array(unread.prefix(24)) == Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8))
            unread.removeFirst(24)
            hasSaidPreface = true
        }
        var frames: [Frame] = []
        while unread.count >= 9 {
            let length = Int(unread[0]) << 16 | Int(unread[1]) << 8 | Int(unread[2])
            try #require(unread.count >= 9 + length, "A frame was cut off.")
            let stream = unread[5..<9].reduce(0) { $0 << 8 | Int($1) }
            frames.append(
                Frame(
                    type: unread[3], flags: unread[4], stream: stream,
                    payload: Array(unread[9..<9 + length])))
            unread.removeFirst(9 + length)
        }
        return frames
    }

    // MARK: What it hears

    @discardableResult
    func hear(_ bytes: [UInt8]) -> Bool { CHTTP2Session_receive(pointer, bytes, bytes.count) }

    /// The streams that ended, released.
    func finished() -> [CHTTP2Answer] {
        var all: [CHTTP2Answer] = []
        var answer = CHTTP2Answer()
        while CHTTP2Session_next_finished(pointer, &answer) {
            all.append(answer)
            CHTTP2Session_release(pointer, answer.stream)
        }
        return all
    }
}

/// Shared header fields, coded.
final class TestBlock {
    let pointer: OpaquePointer

    init(_ fields: [(String, String)]) throws {
        pointer = try #require(CHTTP2HeaderBlock_create())
        for (name, value) in fields {
            let (name, value) = (Array(name.utf8), Array(value.utf8))
            #expect(CHTTP2HeaderBlock_append(pointer, name, name.count, value, value.count))
        }
    }

    deinit { CHTTP2HeaderBlock_destroy(pointer) }
}

/// Frames of a server, byte by byte.
enum ServerFrame {
    static func frame(
        _ type: UInt8, flags: UInt8 = 0, stream: Int = 0, _ payload: [UInt8] = []
    ) -> [UInt8] {
        let length = payload.count
        let head = [
            UInt8(length >> 16), UInt8(length >> 8 & 255), UInt8(length & 255), type, flags,
        ]
        return head + number(stream) + payload
    }

    static func number(_ value: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(value >> $0 & 255) }
    }

    static func settings(_ entries: [(UInt8, Int)] = []) -> [UInt8] {
        frame(4, entries.flatMap { [0, $0.0] + number($0.1) })
    }

    static let settingsAcknowledgement = frame(4, flags: 1)
    static func ping(_ byte: UInt8 = 0) -> [UInt8] {
        frame(6, [UInt8](repeating: byte, count: 8))
    }
    static func windowUpdate(stream: Int = 0, by count: Int = 1) -> [UInt8] {
        frame(8, stream: stream, number(count))
    }
    static func reset(stream: Int, code: Int) -> [UInt8] { frame(3, stream: stream, number(code)) }
    static func goAway(last: Int, code: Int = 0, words: String = "") -> [UInt8] {
        frame(7, number(last) + number(code) + Array(words.utf8))
    }
    /// `:status: 200`, entry 8 of the static table.
    static func accepted(stream: Int) -> [UInt8] { frame(1, flags: 5, stream: stream, [0x88]) }
    /// `:status: 400`, entry 12, without an end.
    static func refusal(stream: Int) -> [UInt8] { frame(1, flags: 4, stream: stream, [0x8c]) }
    /// `:status: 200` and over 16 KiB of fields, in two frames.
    static func longHeaderList(stream: Int) -> [UInt8] {
        let fields = (0..<18).map { literal("x-\($0)", String(repeating: "v", count: 1000)) }
        let first = [0x88] + fields[..<9].joined()
        return frame(1, flags: 1, stream: stream, first)
            + frame(9, flags: 4, stream: stream, Array(fields[9...].joined()))
    }
    static func data(stream: Int, _ bytes: [UInt8], isLast: Bool) -> [UInt8] {
        frame(0, flags: isLast ? 1 : 0, stream: stream, bytes)
    }
    /// A field as a literal without indexing.
    static func literal(_ name: String, _ value: String) -> [UInt8] {
        [0] + string(name) + string(value)
    }
    private static func string(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        if bytes.count < 127 { return [UInt8(bytes.count)] + bytes }
        var rest = bytes.count - 127
        var length: [UInt8] = [127]
        while rest >= 128 {
            length.append(UInt8(rest & 127 | 128))
            rest >>= 7
        }
        return length + [UInt8(rest)] + bytes
    }
}
