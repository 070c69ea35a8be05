// SPDX-License-Identifier: Apache-2.0

import CHTTP2Shims
import Testing
import TransportTestKit

/// Which header blocks are an answer (RFC 9113 §8.2, §8.3): complete ones with nothing wrong in
/// them.
@Suite("What counts as an answer")
struct AnswerTests {
    /// Frames after a request on stream 1, and what they come to once the connection is gone.
    struct Reply: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let frames: [UInt8]
        /// The status; 0 for no answer.
        let status: UInt16
        /// Whether it is known before the connection ends.
        let endsStream: Bool

        init(_ words: String, _ frames: [UInt8], status: UInt16 = 0, endsStream: Bool = true) {
            testDescription = words
            self.frames = frames
            self.status = status
            self.endsStream = endsStream
        }

        /// A header block that ends the stream.
        static func block(_ words: String, _ payload: [UInt8], status: UInt16 = 0) -> Reply {
            Reply(words, ServerFrame.frame(1, flags: 5, stream: 1, payload), status: status)
        }

        /// `:status: 200` and a field.
        static func field(_ words: String, _ name: String, _ value: String) -> Reply {
            block(words, [0x88] + ServerFrame.literal(name, value))
        }

        private static let open = ServerFrame.frame(1, flags: 4, stream: 1, [0x88])

        private static func data(_ text: String, isLast: Bool = true) -> [UInt8] {
            ServerFrame.data(stream: 1, Array(text.utf8), isLast: isLast)
        }

        static let broken: [Reply] = [
            Reply(
                "HEADERS cut off after 3 bytes",
                Array(
                    ServerFrame.frame(
                        1, flags: 5, stream: 1, [0x88] + ServerFrame.literal("a", "b")
                    ).prefix(12)),
                endsStream: false),
            Reply(
                "a block that CONTINUATION should end",
                ServerFrame.frame(1, flags: 1, stream: 1, [0x88])
                    + ServerFrame.frame(9, stream: 1, ServerFrame.literal("a", "b")),
                endsStream: false),
            block("two :status", [0x88, 0x88]),
            block("two :status that differ", [0x88, 0x8c]),
            block("no :status", ServerFrame.literal("date", "now")),
            block("an empty block", []),
            block(":status behind a field", ServerFrame.literal("date", "now") + [0x88]),
            block("a pseudo-header of requests", [0x88, 0x83]),
            field("an unknown pseudo-header", ":reason", "ok"),
            block(":status of two digits", ServerFrame.literal(":status", "20")),
            block(":status of four digits", ServerFrame.literal(":status", "2000")),
            block(":status with a sign", ServerFrame.literal(":status", "+20")),
            block(":status that is no number", ServerFrame.literal(":status", "abc")),
            block(":status below 100", ServerFrame.literal(":status", "099")),
            block(":status 101, which HTTP/2 does not know", ServerFrame.literal(":status", "101")),
            field("an upper-case field name", "Date", "now"),
            field("an empty field name", "", "x"),
            field("a field name with a space", "a b", "x"),
            field("connection", "connection", "close"),
            field("keep-alive", "keep-alive", "timeout=5"),
            field("proxy-connection", "proxy-connection", "close"),
            field("transfer-encoding", "transfer-encoding", "chunked"),
            field("upgrade", "upgrade", "h2c"),
            field("te", "te", "gzip"),
            field("a value with a line feed", "apns-id", "a\nb"),
            field("a value with a zero", "apns-id", "a\0b"),
            field("a value that begins with a space", "apns-id", " a"),
            field("content-length that is no number", "content-length", "x"),
            block(
                "content-length twice",
                [0x88] + ServerFrame.literal("content-length", "0")
                    + ServerFrame.literal("content-length", "0")),
            field("content-length without a body", "content-length", "5"),
            Reply(
                "a body that is too short",
                ServerFrame.frame(
                    1, flags: 4, stream: 1, [0x88] + ServerFrame.literal("content-length", "5"))
                    + data("{}")),
            Reply(
                "a body that is too long",
                ServerFrame.frame(
                    1, flags: 4, stream: 1, [0x88] + ServerFrame.literal("content-length", "1"))
                    + data("{}")),
            Reply("DATA before HEADERS", data("{}"), endsStream: false),
            Reply(
                "an interim answer that ends the stream",
                ServerFrame.frame(1, flags: 5, stream: 1, ServerFrame.literal(":status", "103"))),
            Reply(
                "an interim answer, and DATA",
                ServerFrame.frame(1, flags: 4, stream: 1, ServerFrame.literal(":status", "103"))
                    + data("{}")),
            Reply("a second answer", open + ServerFrame.refusal(stream: 1)),
            Reply(
                "trailers that do not end the stream",
                open + ServerFrame.frame(1, flags: 4, stream: 1, ServerFrame.literal("a", "b"))),
            Reply(
                "trailers with :status",
                open + ServerFrame.frame(1, flags: 5, stream: 1, [0x88])),
            Reply(
                "an index that no table has",
                ServerFrame.frame(1, flags: 5, stream: 1, [0x88, 0xff, 0x7f]),
                endsStream: false),
            Reply(
                "a literal that is cut off",
                ServerFrame.frame(1, flags: 5, stream: 1, [0x88, 0, 9, 0x61]),
                endsStream: false),
            Reply(
                "Huffman code that is none",
                ServerFrame.frame(
                    1, flags: 5, stream: 1, [0x88, 0, 1, 0x61, 0x84, 0xff, 0xff, 0xff, 0xff]),
                endsStream: false),
            Reply(
                "PUSH_PROMISE",
                ServerFrame.frame(5, flags: 4, stream: 1, [0, 0, 0, 2, 0x88]), endsStream: false),
            Reply("RST_STREAM alone", ServerFrame.reset(stream: 1, code: 0)),
        ]

        static let sound: [Reply] = [
            block("a status alone", [0x88], status: 200),
            Reply(
                "a block in three frames",
                ServerFrame.frame(1, flags: 1, stream: 1, [0x88])
                    + ServerFrame.frame(9, stream: 1, ServerFrame.literal("a", "b"))
                    + ServerFrame.frame(9, flags: 4, stream: 1), status: 200),
            Reply(
                "an interim answer before it",
                ServerFrame.frame(1, flags: 4, stream: 1, ServerFrame.literal(":status", "103"))
                    + ServerFrame.accepted(stream: 1), status: 200),
            block(
                "te: trailers", [0x88] + ServerFrame.literal("te", "trailers"), status: 200),
            block("a status that nobody knows", ServerFrame.literal(":status", "599"), status: 599),
            Reply(
                "a body and trailers",
                ServerFrame.refusal(stream: 1) + data("{}", isLast: false)
                    + ServerFrame.frame(1, flags: 5, stream: 1, ServerFrame.literal("a", "b")),
                status: 400),
            Reply("200 whose stream never ends", open, status: 200, endsStream: false),
            Reply(
                "200 whose stream is reset", open + ServerFrame.reset(stream: 1, code: 2),
                status: 200),
            Reply(
                "200 whose stream is reset with PROTOCOL_ERROR",
                open + ServerFrame.reset(stream: 1, code: 1), status: 200),
            Reply(
                "200 whose stream is refused afterwards",
                open + ServerFrame.reset(stream: 1, code: 7), status: 200),
            Reply(
                "200, and a GOAWAY that does not cover it", open + ServerFrame.goAway(last: 0),
                status: 200),
        ]
    }

    private func outcome(of reply: Reply) throws -> CHTTP2Answer {
        let session = try MemorySession()
        session.hear(ServerFrame.settings())
        let block = try TestBlock([])
        _ = session.start(tag: 1, shared: block)
        _ = try session.frames()
        session.hear(ServerFrame.settingsAcknowledgement)
        let isTaken = session.hear(reply.frames)
        if isTaken { _ = try? session.frames() }
        var ended = session.finished()
        #expect(ended.count == (reply.endsStream ? 1 : 0))
        if ended.isEmpty {
            var early = CHTTP2Answer()
            let hasCome = CHTTP2Session_peek_answer(session.pointer, 0, &early)
            #expect(hasCome == (reply.status != 0))
            CHTTP2Session_abort(session.pointer)
            ended = session.finished()
        }
        return try #require(ended.first)
    }

    /// Guards against "accepted" from blocks of which only the first field was right.
    @Test("what is unfinished or malformed is none", arguments: Reply.broken)
    func broken(reply: Reply) throws {
        let answer = try outcome(of: reply)
        #expect(answer.status == 0)
        #expect(answer.errorCode != 7, "it would be sent again")
    }

    @Test("a complete header block is one, whatever becomes of its stream", arguments: Reply.sound)
    func sound(reply: Reply) throws {
        let answer = try outcome(of: reply)
        #expect(answer.status == reply.status)
    }

    @Test("fields of interim answers and of trailers are not those of the answer")
    func foreignFields() throws {
        let session = try MemorySession()
        session.hear(ServerFrame.settings())
        let block = try TestBlock([])
        _ = session.start(tag: 1, shared: block)
        _ = try session.frames()
        let field = ServerFrame.literal("apns-id", "x")
        session.hear(
            ServerFrame.frame(
                1, flags: 4, stream: 1, ServerFrame.literal(":status", "103") + field)
                + ServerFrame.frame(1, flags: 4, stream: 1, [0x88])
                + ServerFrame.frame(1, flags: 5, stream: 1, field))
        let answer = try #require(session.finished().first)
        #expect(answer.status == 200 && answer.headersLength == 0)
    }
}
