// SPDX-License-Identifier: Apache-2.0

import CHTTP2Shims
import SeedKit

/// Drives HTTP/2 sessions in memory with frames that are half right, for the sanitizers: what a
/// server may do to the C side without a network in between.
///
/// Each session starts requests, receives frames in random pieces (some with a byte changed), has
/// requests cancelled, is written in pieces, and is ended at some point. The counts must match:
/// every request that was started is finished or was cancelled.
struct FrameFuzz {
    /// Requests so far, and their outcomes.
    private(set) var started = 0
    private(set) var finished = 0
    private(set) var cancelled = 0
    private(set) var sessions = 0
    /// Of all bytes that came back, so that each of them is read.
    private(set) var checksum: UInt8 = 0

    private var random: SeededGenerator
    private static let streams: UInt32 = 24
    private static let stepsPerSession = 300

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    /// Whether every request has its end.
    var isBalanced: Bool { started == finished + cancelled }

    /// Runs one session from its beginning to its end.
    mutating func runSession() {
        guard let session = CHTTP2Session_create(Self.streams, "push.example", "rouse"),
            let block = makeBlock()
        else { return }
        sessions += 1
        var open: [UInt32: UInt32] = [:]
        let before = started
        var isBroken = false
        hear(Frame.settings([(3, 1000)]), in: session)
        for step in 0..<Self.stepsPerSession where !isBroken {
            switch random.below(10) {
            case 0...3: isBroken = !start(UInt32(step), on: session, with: block, open: &open)
            case 4...6:
                guard started > before else { continue }
                isBroken = !hear(frame(upTo: 2 * (started - before) - 1), in: session)
            case 7: isBroken = !write(session)
            case 8: cancelOne(on: session, open: &open)
            default: if random.below(4) == 0 { _ = CHTTP2Session_ping(session) }
            }
            settle(session, open: &open)
        }
        if random.below(2) == 0 {
            CHTTP2Session_farewell(session)
            _ = write(session)
        }
        settle(session, open: &open)
        CHTTP2Session_abort(session)
        settle(session, open: &open)
        CHTTP2HeaderBlock_destroy(block)
        CHTTP2Session_destroy(session)
    }

    // MARK: This side

    private mutating func makeBlock() -> OpaquePointer? {
        guard let block = CHTTP2HeaderBlock_create() else { return nil }
        for name in ["authorization", "apns-topic", "apns-priority"].prefix(random.below(4)) {
            let value = text(upTo: 300)
            _ = CHTTP2HeaderBlock_append(
                block, Array(name.utf8), name.utf8.count, value, value.count)
        }
        return block
    }

    private mutating func text(upTo limit: Int) -> [UInt8] {
        [UInt8](repeating: UInt8(0x21 + random.below(0x5e)), count: random.below(limit) + 1)
    }

    /// False when the session broke.
    private mutating func start(
        _ tag: UInt32, on session: OpaquePointer, with block: OpaquePointer,
        open: inout [UInt32: UInt32]
    ) -> Bool {
        let body = text(upTo: random.below(8) == 0 ? 40_000 : 200)
        let state = CHTTP2Session_state(session)
        guard state.openStreams < min(Self.streams, state.peerStreamLimit),
            CHTTP2Session_may_start(session, body.count)
        else { return true }
        let path = text(upTo: 80)
        CHTTP2Session_begin(session, path, path.count, block)
        for name in ["apns-id", "apns-expiration", "apns-collapse-id"].prefix(random.below(4)) {
            let value = text(upTo: 60)
            CHTTP2Session_add_field(
                session, Array(name.utf8), name.utf8.count, value, value.count)
        }
        let begun = CHTTP2Session_start(session, tag, body, body.count)
        guard begun.stream >= 0 else { return false }
        started += 1
        open[UInt32(begun.stream)] = tag
        return true
    }

    /// Takes what the session has to say, in pieces. False when the session broke.
    private mutating func write(_ session: OpaquePointer) -> Bool {
        for _ in 0..<random.below(4) + 1 {
            guard CHTTP2Session_collect(session) else { return false }
            var length = 0
            _ = CHTTP2Session_staged(session, &length)
            if length == 0 { return true }
            CHTTP2Session_will_write(session, length)
            CHTTP2Session_did_write(session, random.below(length) + 1)
        }
        return true
    }

    private mutating func cancelOne(on session: OpaquePointer, open: inout [UInt32: UInt32]) {
        guard let stream = open.keys.min() else { return }
        CHTTP2Session_cancel(session, stream)
        open[stream] = nil
        cancelled += 1
    }

    private mutating func settle(_ session: OpaquePointer, open: inout [UInt32: UInt32]) {
        var answer = CHTTP2Answer()
        while CHTTP2Session_next_finished(session, &answer) {
            if open.removeValue(forKey: answer.stream) == answer.tag { finished += 1 }
            // SAFETY: the stream is released after this; a sanitizer sees if the answer promises
            // more than there is.
            for byte in UnsafeRawBufferPointer(
                start: answer.headers, count: Int(answer.headersLength))
            {
                checksum &+= byte
            }
            for byte in UnsafeRawBufferPointer(start: answer.body, count: Int(answer.bodyLength)) {
                checksum &+= byte
            }
            CHTTP2Session_release(session, answer.stream)
        }
    }

    // MARK: The peer

    @discardableResult
    private mutating func hear(_ bytes: [UInt8], in session: OpaquePointer) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = Array(rest.prefix(random.below(rest.count) + 1))
            rest = rest.dropFirst(piece.count)
            guard CHTTP2Session_receive(session, piece, piece.count) else { return false }
        }
        return true
    }

    /// A frame about one of the streams up to `last`; one in 40 has a byte changed.
    private mutating func frame(upTo last: Int) -> [UInt8] {
        var bytes = honestFrame(stream: 1 + 2 * random.below((last + 1) / 2))
        if random.below(40) == 0 {
            bytes[random.below(bytes.count)] = UInt8(random.below(256))
        }
        return bytes
    }

    private mutating func honestFrame(stream: Int) -> [UInt8] {
        switch random.below(16) {
        case 0...4: return Frame.make(1, flags: 5, stream: stream, [0x88])
        case 5...6:
            let value = text(upTo: random.below(6) == 0 ? 6000 : 100)
            return Frame.make(
                1, flags: 4, stream: stream, [0x8c] + Frame.literal("apns-id", value))
                + Frame.make(0, flags: 1, stream: stream, text(upTo: 120))
        case 7: return Frame.make(0, stream: stream, text(upTo: 5000))
        case 8:
            // One in 16 does not end.
            return Frame.make(1, flags: 1, stream: stream, [0x88])
                + Frame.make(
                    9, flags: random.below(16) == 0 ? 0 : 4, stream: stream,
                    Frame.literal("date", text(upTo: 120)))
        case 9: return Frame.make(3, stream: stream, Frame.number(random.below(14)))
        case 10: return setting()
        case 11: return Frame.make(6, [UInt8](repeating: 7, count: 8))
        case 12: return Frame.make(8, stream: random.below(2) * stream, Frame.number(1000))
        case 13: return Frame.make(1, flags: 4, stream: stream, [0x08, 3, 0x31, 0x30, 0x33])
        case 14: return Frame.make(0xbb, stream: stream, text(upTo: 40))
        default: return rareFrame(stream: stream)
        }
    }

    private mutating func setting() -> [UInt8] {
        switch random.below(3) {
        case 0: Frame.settings([(1, [0, 64, 4096, 1 << 20][random.below(4)])])
        case 1: Frame.settings([(3, [1, 10, 1000][random.below(3)])])
        default: Frame.settings([(4, [0, 100, 65_535, 1 << 20][random.below(4)])])
        }
    }

    /// What ends most sessions.
    private mutating func rareFrame(stream: Int) -> [UInt8] {
        switch random.below(16) {
        case 0:
            Frame.make(
                7,
                Frame.number(random.below(80)) + Frame.number(random.below(14))
                    + text(upTo: 400))
        case 1: Frame.make(UInt8(random.below(20)), stream: stream, text(upTo: 40))
        case 2: Frame.settings([(UInt8(random.below(8)), Int(random.next() % (1 << 32)))])
        default: Frame.make(6, flags: 1, [UInt8](repeating: 9, count: 8))
        }
    }
}

/// Frames of a server, byte by byte.
private enum Frame {
    static func make(
        _ type: UInt8, flags: UInt8 = 0, stream: Int = 0, _ payload: [UInt8] = []
    ) -> [UInt8] {
        let length = payload.count
        let lengthBytes = [length >> 16, length >> 8, length].map { UInt8($0 & 255) }
        return lengthBytes + [type, flags] + number(stream) + payload
    }

    static func number(_ value: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(value >> $0 & 255) }
    }

    static func settings(_ entries: [(UInt8, Int)]) -> [UInt8] {
        make(4, entries.flatMap { [0, $0.0] + number($0.1) })
    }

    /// A field as a literal without indexing, its value of up to 16 KB.
    static func literal(_ name: String, _ value: [UInt8]) -> [UInt8] {
        var length: [UInt8] = [UInt8(min(value.count, 127))]
        if value.count >= 127 {
            let rest = value.count - 127
            length += rest < 128 ? [UInt8(rest)] : [UInt8(rest & 127 | 128), UInt8(rest >> 7)]
        }
        return [0, UInt8(name.utf8.count)] + Array(name.utf8) + length + value
    }
}
