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

    /// How many bytes are collected.
    var stagedCount: Int {
        var length = 0
        _ = CHTTP2Session_staged(pointer, &length)
        return length
    }

    /// Everything that it has to say, as if it were written.
    func frames() throws -> [Frame] {
        while true {
            #expect(CHTTP2Session_collect(pointer))
            var length = 0
            let start = CHTTP2Session_staged(pointer, &length)
            if length == 0 { break }
            CHTTP2Session_will_write(pointer, length)
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
