// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import NIOHPACK
import Testing

@testable import AdminAPI

/// A caller over HTTP/2 that sends any frames, valid or not. It shares no code with the listener
/// but the decoding of header blocks. For one task.
final class HTTP2Caller {
    struct Frame {
        var type: UInt8
        var flags: UInt8 = 0
        var stream = 0
        var payload: [UInt8] = []

        /// The first four bytes of the payload, or those behind them, as a number.
        func number(at offset: Int = 0) -> UInt32 {
            payload[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
        }
    }

    enum Kind {
        static let (data, headers, reset, settings): (UInt8, UInt8, UInt8, UInt8) = (0, 1, 3, 4)
        static let (ping, goAway, window): (UInt8, UInt8, UInt8) = (6, 7, 8)
    }

    static let endStream: UInt8 = 0x1
    static let endHeaders: UInt8 = 0x4

    /// How a stream ended, with what came on it before.
    struct Answer {
        var status = 0
        var headers: [String: String] = [:]
        var body = ""
        /// The code of the reset; `nil` if the answer ended.
        var resetCode: UInt32?

        func json() throws -> [String: Any] {
            try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any] ?? [:]
        }
    }

    private let descriptor: Int32
    private let key: String?
    private var nextStream = 1
    private var received: [UInt8] = []
    private var decoder = HPACKDecoder(
        allocator: ByteBufferAllocator(), maxDynamicTableSize: 1 << 24)
    /// How many fields the server has put into the table of header fields.
    private(set) var headerTableCount = 0
    private var open: [Int: Answer] = [:]
    /// The answers that ended.
    private(set) var answers: [Int: Answer] = [:]
    /// The code of GOAWAY, and the last stream that it names.
    private(set) var goAway: (code: UInt32, lastStream: UInt32)?
    private(set) var goAwayCount = 0
    /// Whether the server closed the connection.
    private(set) var isClosed = false
    /// What the server allowed beyond the first window, for each stream and for all (0).
    private var granted: [Int: Int] = [:]
    private var sent: [Int: Int] = [:]
    /// What the server announced.
    private(set) var settings: [UInt16: UInt32] = [:]
    /// Whether the caller lets the server send more when it has received something.
    var takesAnswers = true

    /// Connects with prior knowledge. `initialWindow` is what the server may send on a stream.
    init(
        port: Int, key: String? = nil, initialWindow: UInt32? = nil, patienceSeconds: Int = 15,
        receiveByteCount: Int32? = nil
    ) throws {
        descriptor = try LoopbackSocket.connect(
            port: port, patienceSeconds: patienceSeconds, receiveByteCount: receiveByteCount)
        self.key = key
        try send(Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8))
        let payload = initialWindow.map { [0, 4] + Self.bytes($0) } ?? []
        try send(Frame(type: Kind.settings, payload: payload))
    }

    deinit { close(descriptor) }

    static func bytes(_ number: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
    }

    func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw POSIXError(.EPIPE) }
            sent += count
        }
    }

    func send(_ frame: Frame) throws { try send(Self.bytes(of: frame)) }

    /// A frame as it is on the wire (RFC 9113 §4.1).
    static func bytes(of frame: Frame) -> [UInt8] {
        bytes(UInt32(frame.payload.count))[1...] + [frame.type, frame.flags]
            + bytes(UInt32(frame.stream)) + frame.payload
    }

    /// Says that nothing more is sent, and goes on reading.
    func closeSendingHalf() { _ = Glibc.shutdown(descriptor, Int32(SHUT_WR)) }

    /// A header block of literals, so that hostile names go through as given.
    static func block(_ fields: [(String, String)]) -> [UInt8] {
        func text(_ text: String) -> [UInt8] {
            var rest = text.utf8.count
            guard rest >= 0x7f else { return [UInt8(rest)] + text.utf8 }
            var bytes: [UInt8] = [0x7f]
            rest -= 0x7f
            while rest >= 0x80 {
                bytes.append(UInt8(rest & 0x7f) | 0x80)
                rest >>= 7
            }
            return bytes + [UInt8(rest)] + text.utf8
        }
        return fields.flatMap { [0x00] + text($0.0) + text($0.1) }
    }

    /// Begins a request with exactly these fields; returns its stream.
    @discardableResult
    func begin(exactly fields: [(String, String)], endsStream: Bool = true) throws -> Int {
        let stream = nextStream
        nextStream += 2
        open[stream] = Answer()
        let flags = Self.endHeaders | (endsStream ? Self.endStream : 0)
        try send(
            Frame(type: Kind.headers, flags: flags, stream: stream, payload: Self.block(fields)))
        return stream
    }

    /// The fields of a request's head.
    func fields(_ method: String, _ path: String) -> [(String, String)] {
        [(":method", method), (":scheme", "http"), (":path", path), (":authority", "localhost")]
            + (key.map { [("authorization", "Bearer \($0)")] } ?? [])
    }

    /// Begins a request; with a body, all of it is sent.
    @discardableResult
    func begin(
        _ method: String, _ path: String, _ body: String? = nil, hasLength: Bool = true,
        headers: [(String, String)] = []
    ) throws -> Int {
        var fields = fields(method, path)
        if let body {
            fields.append(("content-type", "application/json"))
            if hasLength { fields.append(("content-length", String(body.utf8.count))) }
        }
        for header in headers {
            fields.removeAll { $0.0 == header.0 }
            fields.append(header)
        }
        let stream = try begin(exactly: fields, endsStream: body == nil)
        if let body { try sendData(Array(body.utf8), on: stream) }
        return stream
    }

    func sendData(_ bytes: [UInt8], on stream: Int, endsStream: Bool = true) throws {
        for id in [0, stream] { sent[id, default: 0] += bytes.count }
        try send(
            Frame(
                type: Kind.data, flags: endsStream ? Self.endStream : 0, stream: stream,
                payload: bytes))
    }

    /// How many bytes may be sent on a stream.
    func window(of stream: Int) -> Int {
        [0, stream].map { 65_535 + granted[$0, default: 0] - sent[$0, default: 0] }.min() ?? 0
    }

    /// The code with which a stream was reset, also after its answer.
    func resetCode(of stream: Int) -> UInt32? { open[stream]?.resetCode }

    /// Whether the head of an answer came.
    func hasBegun(_ stream: Int) -> Bool { open[stream]?.status ?? 0 > 0 }

    /// One request with its answer.
    func exchange(
        _ method: String, _ path: String, _ body: String? = nil, hasLength: Bool = true,
        headers: [(String, String)] = []
    ) async throws -> Answer {
        try await answer(
            to: begin(method, path, body, hasLength: hasLength, headers: headers))
    }

    /// The answer on a stream, when it has ended; without a status if the connection ends before.
    func answer(to stream: Int) async throws -> Answer {
        try await receive { $0.answers[stream] != nil }
        return answers[stream] ?? Answer()
    }

    /// Reads until something holds, the server closes, or patience is over.
    func receive(until isEnough: (HTTP2Caller) -> Bool) async throws {
        while !isClosed, !isEnough(self) { try await receiveMore() }
    }

    private func receiveMore() async throws {
        let descriptor = descriptor
        let bytes: [UInt8] = await withCheckedContinuation { continuation in
            // The call blocks, so it has a thread of its own.
            Thread.detachNewThread {
                var buffer = [UInt8](repeating: 0, count: 65_536)
                let count = recv(descriptor, &buffer, buffer.count, 0)
                continuation.resume(returning: Array(buffer.prefix(max(0, count))))
            }
        }
        if bytes.isEmpty { isClosed = true }
        received += bytes
        while received.count >= 9 {
            let length = received[..<3].reduce(0) { $0 << 8 | Int($1) }
            guard received.count >= 9 + length else { return }
            let stream = received[5..<9].reduce(0) { $0 << 8 | Int($1) }
            let frame = Frame(
                type: received[3], flags: received[4], stream: stream,
                payload: Array(received[9..<9 + length]))
            received.removeFirst(9 + length)
            try take(frame)
        }
    }

    /// How many fields of a header block are literals for the table (RFC 7541 §6.2.1).
    private static func additions(in block: [UInt8]) -> Int {
        var count = 0
        var place = 0
        func number(_ bits: UInt8) -> Int {
            let most = UInt8(1 << bits) - 1
            var value = Int(block[place] & most)
            place += 1
            guard value == Int(most) else { return value }
            var shift = 0
            repeat {
                value += Int(block[place] & 0x7f) << shift
                shift += 7
                place += 1
            } while block[place - 1] & 0x80 != 0
            return value
        }
        func skipText() { place += number(7) }
        while place < block.count {
            let first = block[place]
            if first & 0x80 != 0 {
                _ = number(7)
            } else if first & 0x40 != 0 {
                count += 1
                if number(6) == 0 { skipText() }
                skipText()
            } else if first & 0x20 != 0 {
                _ = number(5)
            } else {
                if number(4) == 0 { skipText() }
                skipText()
            }
        }
        return count
    }

    private func take(_ frame: Frame) throws {
        switch frame.type {
        case Kind.headers:
            var block = ByteBuffer(bytes: frame.payload)
            let fields = try decoder.decodeHeaders(from: &block)
            headerTableCount += Self.additions(in: frame.payload)
            for (name, value, _) in fields { open[frame.stream]?.headers[name] = value }
            let status = fields.first(name: ":status").flatMap { Int($0) }
            if let status { open[frame.stream]?.status = status }
        case Kind.data:
            open[frame.stream]?.body += String(decoding: frame.payload, as: UTF8.self)
            guard takesAnswers, !frame.payload.isEmpty else { break }
            for stream in [0, frame.stream] {
                try? send(
                    Frame(
                        type: Kind.window, stream: stream,
                        payload: Self.bytes(UInt32(frame.payload.count))))
            }
        case Kind.reset:
            open[frame.stream]?.resetCode = frame.number()
            answers[frame.stream] = answers[frame.stream] ?? open[frame.stream]
        case Kind.settings:
            if frame.flags & 1 == 0 {
                for offset in stride(from: 0, to: frame.payload.count, by: 6) {
                    let name =
                        UInt16(frame.payload[offset]) << 8 | UInt16(frame.payload[offset + 1])
                    settings[name] = frame.number(at: offset + 2)
                }
                try? send(Frame(type: Kind.settings, flags: 1))
            }
        case Kind.ping:
            if frame.flags & 1 == 0 {
                try? send(Frame(type: Kind.ping, flags: 1, payload: frame.payload))
            }
        case Kind.window: granted[frame.stream, default: 0] += Int(frame.number())
        case Kind.goAway:
            goAwayCount += 1
            goAway = (frame.number(at: 4), frame.number())
        default: break
        }
        let ends = frame.type == Kind.headers || frame.type == Kind.data
        if ends, frame.flags & Self.endStream != 0 { answers[frame.stream] = open[frame.stream] }
    }
}

/// Expects a problem document with this code.
func expectProblem(
    _ answer: HTTP2Caller.Answer, _ code: ProblemCode,
    sourceLocation: SourceLocation = #_sourceLocation
) throws {
    #expect(answer.status == code.status, "\(answer)", sourceLocation: sourceLocation)
    let json = try answer.json()
    #expect(json["code"] as? String == code.rawValue, sourceLocation: sourceLocation)
}
