// SPDX-License-Identifier: Apache-2.0

import CHTTP2Shims
import Testing
import TransportTestKit

@Suite("An HTTP/2 session in memory")
struct SessionTests {
    private func session() throws -> (MemorySession, TestBlock) {
        let session = try MemorySession()
        session.hear(ServerFrame.settings([(3, 1000)]))
        return (session, try TestBlock([("apns-topic", "com.example.app")]))
    }

    @Test("it says SETTINGS first, without push, and takes the peer's")
    func settings() throws {
        let session = try MemorySession()
        #expect(session.state.peerStreamLimit == 100)
        let first = try #require(try session.frames().first)
        #expect(first.type == 4)
        #expect(first.payload.starts(with: [0, 2, 0, 0, 0, 0]))
        session.hear(ServerFrame.settings([(3, 7)]))
        #expect(session.state.hasSettings)
        #expect(session.state.peerStreamLimit == 7)
        #expect(try session.frames().contains { $0.type == 4 && $0.flags == 1 })
    }

    @Test("a request is HEADERS and DATA; its answer comes back with its tag")
    func request() throws {
        let (session, block) = try session()
        let body = Array(#"{"aps":{}}"#.utf8)
        let started = session.start(tag: 77, shared: block, body: body)
        #expect(started.stream == 0 && !started.isFull)
        #expect(!CHTTP2Session_is_written(session.pointer, 0))
        let frames = try session.frames().filter { $0.type < 2 }
        #expect(frames.map(\.type) == [1, 0])
        #expect(frames.map(\.flags) == [4, 1])
        #expect(frames.allSatisfy { $0.stream == 1 })
        #expect(frames[1].payload == body)
        #expect(CHTTP2Session_is_written(session.pointer, 0))
        session.hear(ServerFrame.accepted(stream: 1))
        let answer = try #require(session.finished().first)
        #expect(answer.tag == 77 && answer.status == 200 && answer.isWhole && answer.isWritten)
        #expect(answer.errorCode == 0)
        #expect(session.state.openStreams == 0)
    }

    @Test("refusals, resets and GOAWAY end streams with their codes")
    func endings() throws {
        let (session, block) = try session()
        for tag in UInt32(0)..<4 { _ = session.start(tag: tag, shared: block) }
        _ = try session.frames()
        session.hear(ServerFrame.reset(stream: 1, code: 7))
        session.hear(ServerFrame.reset(stream: 3, code: 2))
        session.hear(ServerFrame.goAway(last: 5, code: 0, words: #"{"reason":"Shutdown"}"#))
        let ended = session.finished()
        #expect(ended.map(\.tag) == [0, 1, 3])
        #expect(ended.map(\.errorCode) == [7, 2, 7])
        #expect(session.state.goAwayReceived && session.state.goAwayLastStream == 5)
        let words = String(cString: CHTTP2Session_goaway_words(session.pointer))
        #expect(words == #"{"reason":"Shutdown"}"#)
        #expect(!CHTTP2Session_may_start(session.pointer, 10))
        session.hear(ServerFrame.accepted(stream: 5))
        #expect(session.finished().map(\.status) == [200])
    }

    @Test("what was not handed to TLS is told from what was")
    func written() throws {
        let (session, block) = try session()
        _ = session.start(tag: 1, shared: block)
        _ = try session.frames()
        _ = session.start(tag: 2, shared: block)
        CHTTP2Session_abort(session.pointer)
        let ended = session.finished()
        #expect(ended.map(\.tag) == [1, 2])
        #expect(ended.map(\.isWritten) == [true, false])
    }

    @Test("of what is collected, what begins beyond the bytes handed to TLS was not written")
    func partlyWritten() throws {
        let (session, block) = try session()
        _ = try session.frames()
        for tag in UInt32(1)...3 { _ = session.start(tag: tag, shared: block) }
        let length = session.stagedCount
        // The first is the longest, so that the third begins behind two thirds of them.
        CHTTP2Session_will_write(session.pointer, length * 2 / 3)
        CHTTP2Session_did_write(session.pointer, length * 2 / 3)
        let first = (0...2).map { CHTTP2Session_is_written(session.pointer, $0) }
        #expect(first == [true, true, false])
        _ = session.start(tag: 4, shared: block)
        CHTTP2Session_will_write(session.pointer, length / 3)
        #expect((2...3).map { CHTTP2Session_is_written(session.pointer, $0) } == [true, false])
        CHTTP2Session_abort(session.pointer)
        #expect(session.finished().map(\.isWritten) == [true, true, true, false])
    }

    @Test("a request that passes the threshold is collected to its end")
    func wholeRequests() throws {
        let (session, block) = try session()
        _ = try session.frames()
        // Heads so long that it is one of them that passes it.
        let path = "/3/device/" + String(repeating: "0", count: 1000)
        var isFull = false
        while !isFull { isFull = session.start(path: path, shared: block).isFull }
        let length = session.stagedCount
        #expect(length >= Int(CHTTP2_WRITE_THRESHOLD))
        CHTTP2Session_will_write(session.pointer, length)
        CHTTP2Session_did_write(session.pointer, length)
        #expect(try session.frames().isEmpty)
    }

    @Test("a body of 4096 bytes is taken, one of 4097 resets its stream", arguments: [4096, 4097])
    func bodies(size: Int) throws {
        let (session, block) = try session()
        _ = session.start(shared: block)
        _ = try session.frames()
        session.hear(ServerFrame.refusal(stream: 1))
        let bytes = [UInt8](repeating: 0x41, count: size)
        for start in stride(from: 0, to: size, by: 1000) {
            let end = min(start + 1000, size)
            session.hear(
                ServerFrame.data(
                    stream: 1, Array(bytes[start..<end]), isLast: end == size && size == 4096))
        }
        let resets = try session.frames().filter { $0.type == 3 }
        #expect(resets.count == (size == 4096 ? 0 : 1))
        let answer = try #require(session.finished().first)
        #expect(answer.isTooLarge == (size != 4096))
        if size == 4096 { #expect(answer.bodyLength == 4096 && answer.status == 400) }
    }

    @Test("a header list over 16 KiB resets its stream")
    func headerList() throws {
        let (session, block) = try session()
        _ = session.start(shared: block)
        _ = try session.frames()
        var payload: [UInt8] = [0x88]
        let value = String(repeating: "v", count: 1000)
        for number in 0..<15 { payload += ServerFrame.literal("x-\(number)", value) }
        session.hear(ServerFrame.frame(1, flags: 0, stream: 1, payload))
        let more = (15..<20).flatMap { ServerFrame.literal("x-\($0)", value) }
        session.hear(ServerFrame.frame(9, flags: 4, stream: 1, more))
        #expect(try session.frames().contains { $0.type == 3 })
        #expect(session.finished().map(\.isTooLarge) == [true])
    }

    @Test("an interim answer is passed over; a final one before the body's end resets the rest")
    func interimAndEarly() throws {
        let (session, block) = try session()
        let body = [UInt8](repeating: 0x42, count: 70_000)
        _ = session.start(shared: block, body: body)
        let sent = try session.frames().filter { $0.type == 0 }.map(\.payload.count).reduce(0, +)
        #expect(sent == 65_535)
        let interim = [0x08, 3] + Array("103".utf8) + ServerFrame.literal("apns-id", "early")
        session.hear(ServerFrame.frame(1, flags: 4, stream: 1, interim))
        session.hear(
            ServerFrame.frame(1, flags: 5, stream: 1, [0x8c] + ServerFrame.literal("date", "now")))
        #expect(try session.frames().contains { $0.type == 3 })
        let answer = try #require(session.finished().first)
        #expect(answer.status == 400 && answer.isWhole)
        #expect(answer.headersLength == 3 + 4 + 3)
    }

    @Test("a body that the windows hold back goes on when they open")
    func flowControl() throws {
        let (session, block) = try session()
        let body = (0..<70_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        _ = session.start(shared: block, body: body)
        var sent = try session.frames().filter { $0.type == 0 }.flatMap(\.payload)
        #expect(!CHTTP2Session_may_start(session.pointer, 1))
        session.hear(ServerFrame.windowUpdate(by: 10_000))
        session.hear(ServerFrame.windowUpdate(stream: 1, by: 10_000))
        sent += try session.frames().filter { $0.type == 0 }.flatMap(\.payload)
        #expect(sent == body)
        #expect(CHTTP2Session_may_start(session.pointer, 1))
    }

    @Test("a cancelled stream is reset and heard of no more")
    func cancelled() throws {
        let (session, block) = try session()
        _ = session.start(shared: block)
        _ = try session.frames()
        CHTTP2Session_cancel(session.pointer, 0)
        let resets = try session.frames().filter { $0.type == 3 }
        #expect(resets.map(\.payload) == [[0, 0, 0, 8]])
        #expect(session.finished().isEmpty && session.state.openStreams == 0)
        session.hear(ServerFrame.accepted(stream: 1))
        #expect(session.finished().isEmpty)
    }

    @Test("many streams cancelled before a byte left do no harm")
    func cancelledUnwritten() throws {
        let session = try MemorySession(streams: 2)
        let block = try TestBlock([])
        for _ in 0..<500 {
            let started = session.start(shared: block)
            CHTTP2Session_cancel(session.pointer, UInt32(started.stream))
            #expect(CHTTP2Session_collect(session.pointer))
        }
        #expect(try session.frames().count { $0.type == 1 } == 500)
    }

    @Test("frames that bring no answer nearer are counted, answers are not")
    func counted() throws {
        let (session, block) = try session()
        _ = session.start(shared: block)
        _ = try session.frames()
        let before = session.state.controlFrames
        session.hear(ServerFrame.ping())
        session.hear(ServerFrame.windowUpdate())
        session.hear(ServerFrame.frame(0xfe, [1, 2, 3]))
        session.hear(ServerFrame.reset(stream: 1, code: 8))
        #expect(session.state.controlFrames == before + 4)
        _ = session.start(shared: block)
        _ = try session.frames()
        session.hear(ServerFrame.accepted(stream: 3))
        #expect(session.state.controlFrames == before + 4)
    }

    @Test(
        "nonsense ends the session",
        arguments: [
            ServerFrame.frame(0, flags: 1, stream: 0, [1]), ServerFrame.frame(6, [1, 2, 3]),
            ServerFrame.frame(1, flags: 5, stream: 2, [0x88]),
            ServerFrame.frame(5, flags: 4, stream: 1, [0, 0, 0, 2, 0x88]),
        ])
    func nonsense(bytes: [UInt8]) throws {
        let (session, block) = try session()
        _ = session.start(shared: block)
        _ = try session.frames()
        // From here on our SETTINGS hold, which forbid PUSH_PROMISE.
        session.hear(ServerFrame.settingsAcknowledgement)
        let isTaken = session.hear(bytes)
        _ = try session.frames()
        #expect(!isTaken || session.state.goAwaySent)
    }
}
