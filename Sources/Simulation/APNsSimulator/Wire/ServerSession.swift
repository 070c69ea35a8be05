// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHPACK

/// The server's side of one HTTP/2 connection as a value: bytes go in, events come out, and what
/// is to be sent collects in ``output`` (RFC 9113).
///
/// Why not swift-nio-http2's own handler: it ends the whole connection when a client exceeds the
/// stream limit, where APNs refuses the one stream (`REFUSED_STREAM`); it forbids much of what a
/// server that injects faults must do; and one buffer for all answers of a read is several times
/// cheaper than one write per frame. Only HPACK decoding is taken from it.
struct ServerSession {
    /// What arrived.
    enum Event {
        /// A whole, well-formed header block of a new request.
        case headers(stream: Int, HPACKHeaders, endsStream: Bool)
        /// Body bytes, or the end of the body.
        case data(stream: Int, ByteBuffer, endsStream: Bool)
        /// The request's header list is over ``SessionLimits/headerList``; it was answered with
        /// 431.
        case headerListTooLarge(stream: Int)
        /// RST_STREAM, of an open or of a finished stream.
        case reset(stream: Int, HTTP2ErrorCode)
        /// The stream was over the limit, and was refused with `REFUSED_STREAM`.
        case refused(stream: Int)
        /// The request breaks HTTP/2, and its stream was reset.
        case malformed(stream: Int)
        /// The connection breaks HTTP/2: a GOAWAY is in ``output``, nothing more can be read.
        case failed(Violation)
    }

    /// A connection error: the code and what was wrong.
    struct Violation: Error, Hashable {
        let code: HTTP2ErrorCode
        let problem: String
    }

    /// One request that is not finished yet in both directions.
    struct Stream {
        var receiveWindow = SessionLimits.initialWindow
        var sendWindow: Int
        var isRemoteClosed = false
        /// The rest of the body that `content-length` promised; `nil` when there was none.
        var promisedByteCount: Int?
    }

    /// Bytes to send. The owner takes them away.
    var output = ByteBuffer()
    /// How many streams a client may have open; enforced immediately, with `REFUSED_STREAM`.
    private(set) var streamLimit: Int
    /// The highest stream id seen.
    private(set) var lastStream = 0
    /// The last stream that a sent GOAWAY promised to serve; streams above it are ignored.
    private(set) var goAwayStream: Int?

    var streams: [Int: Stream] = [:]
    var sendWindow = SessionLimits.initialWindow
    var peerInitialWindow = SessionLimits.initialWindow
    /// DATA that waits for a larger window, in order.
    var blockedData: [BlockedData] = []
    /// Whether the next header block must begin with "dynamic table size 0", so that the peer's
    /// limit on that table, which is never used, is met whatever it is.
    var owesTableSizeUpdate = true

    /// How the client left its recent streams.
    var history = StreamHistory()

    private var decoder: HPACKDecoder
    /// Whether the client has begun with HTTP/2's preface.
    private(set) var hasPreface = false
    private var isFailed = false
    private var receiveWindow = SessionLimits.initialWindow
    private var partial: PartialBlock?

    /// DATA held back by flow control.
    struct BlockedData {
        var stream: Int
        var bytes: ByteBuffer
    }

    /// A header block whose CONTINUATION frames are still to come.
    private struct PartialBlock {
        var header: FrameHeader
        var bytes: ByteBuffer
        var frameCount = 1
    }

    /// Begins a connection: the first SETTINGS frame is in ``output``.
    init(streamLimit: Int) {
        self.streamLimit = streamLimit
        decoder = HPACKDecoder(
            allocator: ByteBufferAllocator(), maxDynamicTableSize: SessionLimits.headerTable,
            maxHeaderListSize: SessionLimits.decodedHeaderList)
        writeInitialSettings()
    }

    /// Whether every stream has ended.
    var isIdle: Bool { streams.isEmpty }

    /// Announces and enforces another stream limit.
    mutating func limitStreams(to limit: Int) {
        streamLimit = limit
        writeSettings([(SessionLimits.Setting.maxConcurrentStreams, limit)])
    }

    /// Sends GOAWAY. Streams above `lastStream` are dropped, without a word.
    mutating func goAway(lastStream: Int, code: HTTP2ErrorCode, debugData: [UInt8] = []) {
        goAwayStream = min(goAwayStream ?? .max, lastStream)
        FrameHeader(length: 8 + debugData.count, type: FrameHeader.Kind.goAway).write(to: &output)
        output.writeInteger(UInt32(lastStream))
        output.writeInteger(code.rawValue)
        output.writeBytes(debugData)
        for id in streams.keys where id > lastStream { forget(id) }
    }

    /// Drops what is known of a stream.
    mutating func forget(_ stream: Int) {
        streams[stream] = nil
        if !blockedData.isEmpty { blockedData.removeAll { $0.stream == stream } }
    }

    /// The next event in `input`, `nil` when it needs more bytes. Consumes whole frames only.
    mutating func nextEvent(from input: inout ByteBuffer) -> Event? {
        guard !isFailed else {
            input.clear()
            return nil
        }
        do throws(Violation) {
            guard try readPreface(&input) else { return nil }
            while let header = FrameHeader(peekingAt: input) {
                guard header.length <= SessionLimits.frame else {
                    throw Violation(code: .frameSizeError, problem: "a frame is over 16384 bytes")
                }
                guard input.readableBytes >= FrameHeader.byteCount + header.length else {
                    return nil
                }
                input.moveReaderIndex(forwardBy: FrameHeader.byteCount)
                guard let payload = input.readSlice(length: header.length) else { return nil }
                if let event = try receive(header, payload) { return event }
            }
            return nil
        } catch {
            isFailed = true
            goAway(
                lastStream: lastStream, code: error.code, debugData: Array(error.problem.utf8))
            return .failed(error)
        }
    }

    private mutating func readPreface(_ input: inout ByteBuffer) throws(Violation) -> Bool {
        guard !hasPreface else { return true }
        let preface = SessionLimits.clientPreface
        guard
            input.readableBytesView.prefix(preface.count).elementsEqual(
                preface.prefix(input.readableBytes))
        else {
            throw Violation(
                code: .protocolError, problem: "this is not HTTP/2, and APNs has nothing else")
        }
        guard input.readableBytes >= preface.count else { return false }
        input.moveReaderIndex(forwardBy: preface.count)
        hasPreface = true
        return true
    }

    private mutating func receive(
        _ header: FrameHeader, _ payload: ByteBuffer
    ) throws(Violation) -> Event? {
        if let partial,
            header.type != FrameHeader.Kind.continuation || header.stream != partial.header.stream
        {
            throw Violation(code: .protocolError, problem: "a header block was interrupted")
        }
        switch header.type {
        case FrameHeader.Kind.data: return try receiveData(header, payload)
        case FrameHeader.Kind.headers: return try receiveHeaders(header, payload)
        case FrameHeader.Kind.continuation: return try receiveContinuation(header, payload)
        case FrameHeader.Kind.resetStream: return try receiveReset(header, payload)
        case FrameHeader.Kind.settings: try receiveSettings(header, payload)
        case FrameHeader.Kind.ping: try receivePing(header, payload)
        case FrameHeader.Kind.windowUpdate: return try receiveWindowUpdate(header, payload)
        case FrameHeader.Kind.priority: return try receivePriority(header)
        case FrameHeader.Kind.goAway: try receiveGoAway(header)
        case FrameHeader.Kind.pushPromise:
            throw Violation(code: .protocolError, problem: "a client sent PUSH_PROMISE")
        default: break  // Unknown types ask nothing of anybody (RFC 9113 §4.1).
        }
        return nil
    }
}

/// Requests.
extension ServerSession {
    private mutating func receiveHeaders(
        _ header: FrameHeader, _ payload: ByteBuffer
    ) throws(Violation) -> Event? {
        guard header.stream % 2 == 1 else {
            throw Violation(code: .protocolError, problem: "a client's stream id must be odd")
        }
        var payload = try Self.withoutPadding(header, payload)
        if header.has(FrameHeader.Flag.priority) {
            guard payload.readableBytes >= 5 else {
                throw Violation(code: .frameSizeError, problem: "a HEADERS frame is cut short")
            }
            payload.moveReaderIndex(forwardBy: 5)
        }
        guard header.has(FrameHeader.Flag.endHeaders) else {
            partial = PartialBlock(header: header, bytes: payload)
            return nil
        }
        return try receiveBlock(header, payload)
    }

    private mutating func receiveContinuation(
        _ header: FrameHeader, _ payload: ByteBuffer
    ) throws(Violation) -> Event? {
        guard var block = partial else {
            throw Violation(code: .protocolError, problem: "a CONTINUATION continues nothing")
        }
        partial = nil
        var payload = payload
        block.bytes.writeBuffer(&payload)
        block.frameCount += 1
        guard block.frameCount <= SessionLimits.framesPerHeaderBlock else {
            throw Violation(code: .enhanceYourCalm, problem: "a header block has too many frames")
        }
        guard header.has(FrameHeader.Flag.endHeaders) else {
            partial = block
            return nil
        }
        return try receiveBlock(block.header, block.bytes)
    }

    /// Decodes a whole header block, always: skipping one would spoil the state of HPACK.
    private mutating func receiveBlock(
        _ header: FrameHeader, _ block: ByteBuffer
    ) throws(Violation) -> Event? {
        let fields = try decode(block)
        let id = header.stream
        let endsStream = header.has(FrameHeader.Flag.endStream)
        if let stream = streams[id] {
            // Trailers. APNs defines none; their end of stream still counts.
            guard stream.isRemoteClosed || (endsStream && RequestShape.isTrailers(fields)) else {
                return malformed(id)
            }
            return try receiveBody(id, ByteBuffer(), endsStream: endsStream)
        }
        // What is let through are late trailers of a stream that was answered or reset early.
        guard id > lastStream else { return try receiveAfterClose(of: id, endsStream: endsStream) }
        lastStream = id
        history.opened(id, hasEnded: endsStream)
        if let goAwayStream, id > goAwayStream { return nil }
        guard streams.count < streamLimit else {
            writeReset(id, .refusedStream)
            return .refused(stream: id)
        }
        guard Self.size(of: fields) <= SessionLimits.headerList else {
            streams[id] = Stream(sendWindow: peerInitialWindow, isRemoteClosed: endsStream)
            respondHeaderListTooLarge(to: id)
            return .headerListTooLarge(stream: id)
        }
        guard let shape = RequestShape(fields), !(endsStream && (shape.contentLength ?? 0) > 0)
        else { return malformed(id) }
        streams[id] = Stream(
            sendWindow: peerInitialWindow, isRemoteClosed: endsStream,
            promisedByteCount: shape.contentLength)
        return .headers(stream: id, fields, endsStream: endsStream)
    }

    private mutating func receiveData(
        _ header: FrameHeader, _ payload: ByteBuffer
    ) throws(Violation) -> Event? {
        guard header.stream % 2 == 1, header.stream <= lastStream else {
            throw Violation(code: .protocolError, problem: "DATA came for a stream never opened")
        }
        receiveWindow -= header.length
        guard receiveWindow >= 0 else {
            throw Violation(
                code: .flowControlError, problem: "the connection's window was overrun")
        }
        if receiveWindow <= SessionLimits.initialWindow / 2 {
            writeWindowUpdate(SessionLimits.initialWindow - receiveWindow)
            receiveWindow = SessionLimits.initialWindow
        }
        let payload = try Self.withoutPadding(header, payload)
        guard let window = streams[header.stream]?.receiveWindow else {
            return try receiveAfterClose(
                of: header.stream, endsStream: header.has(FrameHeader.Flag.endStream))
        }
        // A stream's window is not renewed: no push is as long as its first 65535 bytes.
        guard window >= header.length else {
            reset(header.stream, .flowControlError)
            return .malformed(stream: header.stream)
        }
        streams[header.stream]?.receiveWindow = window - header.length
        return try receiveBody(
            header.stream, payload, endsStream: header.has(FrameHeader.Flag.endStream))
    }

    private mutating func receiveBody(
        _ id: Int, _ bytes: ByteBuffer, endsStream: Bool
    ) throws(Violation) -> Event? {
        guard var stream = streams[id] else { return nil }
        guard !stream.isRemoteClosed else {
            reset(id, .streamClosed)
            return .malformed(stream: id)
        }
        if let promised = stream.promisedByteCount {
            let rest = promised - bytes.readableBytes
            guard rest >= 0, !endsStream || rest == 0 else { return malformed(id) }
            stream.promisedByteCount = rest
        }
        stream.isRemoteClosed = endsStream
        streams[id] = stream
        if endsStream { history.ended(id) }
        return .data(stream: id, bytes, endsStream: endsStream)
    }

    /// A header list beyond what is announced is decoded all the same, up to a bound: it concerns
    /// one request only, and skipping it would spoil the state of HPACK.
    private mutating func decode(_ block: ByteBuffer) throws(Violation) -> HPACKHeaders {
        var block = block
        do {
            return try decoder.decodeHeaders(from: &block)
        } catch is NIOHPACKErrors.MaxHeaderListSizeViolation {
            throw Violation(
                code: .enhanceYourCalm,
                problem: "a header list is over \(SessionLimits.decodedHeaderList) bytes")
        } catch {
            // The fields before it are missing then: the request is malformed anyway.
            if error is NIOHPACKErrors.EmptyLiteralHeaderFieldName,
                let rest = HeaderBlock.fromEmptyName(in: block)
            {
                return try decode(rest)
            }
            throw Violation(
                code: .compressionError, problem: "a header block cannot be decoded")
        }
    }

    /// The size of a header list as RFC 9113 §6.5.2 counts it: 32 bytes more for each field.
    private static func size(of fields: HPACKHeaders) -> Int {
        fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 32 }
    }

    /// HEADERS or DATA on a stream that is over (RFC 9113 §5.1). A client that did not end it
    /// itself may have sent them before it saw the answer or the reset; they are passed over.
    private mutating func receiveAfterClose(
        of id: Int, endsStream: Bool
    ) throws(Violation) -> Event? {
        switch history[id] {
        case .unused:
            throw Violation(
                code: .protocolError, problem: "a stream id is below one that was used already")
        case .ended:
            throw Violation(
                code: .streamClosed, problem: "a frame came on a stream that its client had ended")
        case .reset:
            reset(id, .streamClosed)
            return .malformed(stream: id)
        case .open, nil:
            if endsStream { history.ended(id) }
            return nil
        }
    }

    private mutating func malformed(_ id: Int) -> Event {
        reset(id, .protocolError)
        return .malformed(stream: id)
    }

    private static func withoutPadding(
        _ header: FrameHeader, _ payload: ByteBuffer
    ) throws(Violation) -> ByteBuffer {
        guard header.has(FrameHeader.Flag.padded) else { return payload }
        var payload = payload
        guard let padding = payload.readInteger(as: UInt8.self),
            let content = payload.readSlice(length: payload.readableBytes - Int(padding))
        else { throw Violation(code: .protocolError, problem: "a frame is all padding") }
        return content
    }
}
