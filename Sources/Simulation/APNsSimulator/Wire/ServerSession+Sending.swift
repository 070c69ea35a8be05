// SPDX-License-Identifier: Apache-2.0

import NIOCore

/// Everything a server sends.
extension ServerSession {
    /// Sends a whole answer. Its stream is over afterwards, unless flow control holds the body
    /// back; the client of an unfinished request is asked not to send the rest (RFC 9113 §8.1).
    mutating func respond(to id: Int, with response: WireResponse) {
        guard streams[id] != nil else { return }
        writeHeaders(id, endsStream: response.body.isEmpty) {
            HeaderBlock.write(response, to: &$0)
        }
        if response.body.isEmpty {
            finish(id)
        } else {
            blockedData.append(.init(stream: id, bytes: ByteBuffer(bytes: response.body)))
            sendBlockedData()
        }
    }

    /// Answers 431, which says of one request what a connection error would say of all
    /// (RFC 9113 §10.5.1). What APNs does is not known.
    mutating func respondHeaderListTooLarge(to id: Int) {
        writeHeaders(id, endsStream: true) { HeaderBlock.write(status: 431, to: &$0) }
        finish(id)
    }

    /// Resets a stream, open or not, and forgets it.
    mutating func reset(_ id: Int, _ code: HTTP2ErrorCode) {
        forget(id)
        writeReset(id, code)
    }

    /// Sends as much of the waiting bodies as the windows allow, in order.
    mutating func sendBlockedData() {
        var waiting: [BlockedData] = []
        for var data in blockedData {
            guard let stream = streams[data.stream] else { continue }
            var room = min(sendWindow, stream.sendWindow)
            sendWindow -= max(0, min(room, data.bytes.readableBytes))
            while room > 0, data.bytes.readableBytes > 0 {
                let count = min(room, SessionLimits.frame, data.bytes.readableBytes)
                guard let part = data.bytes.readSlice(length: count) else { break }
                let ends = data.bytes.readableBytes == 0
                FrameHeader(
                    length: count, type: FrameHeader.Kind.data,
                    flags: ends ? FrameHeader.Flag.endStream : 0, stream: data.stream
                ).write(to: &output)
                output.writeImmutableBuffer(part)
                room -= count
                streams[data.stream]?.sendWindow -= count
            }
            if data.bytes.readableBytes == 0 { finish(data.stream) } else { waiting.append(data) }
        }
        blockedData = waiting
    }

    private mutating func finish(_ id: Int) {
        let hasRequestEnded = streams[id]?.isRemoteClosed ?? true
        streams[id] = nil
        if !hasRequestEnded { writeReset(id, .noError) }
    }

    private mutating func writeHeaders(
        _ id: Int, endsStream: Bool, _ block: (inout ByteBuffer) -> Void
    ) {
        let start = output.writerIndex
        FrameHeader(
            length: 0, type: FrameHeader.Kind.headers,
            flags: FrameHeader.Flag.endHeaders
                | (endsStream ? FrameHeader.Flag.endStream : 0),
            stream: id
        ).write(to: &output)
        if owesTableSizeUpdate {
            output.writeInteger(HeaderBlock.emptyTable)
            owesTableSizeUpdate = false
        }
        block(&output)
        let length = output.writerIndex - start - FrameHeader.byteCount
        output.setInteger(
            UInt32(length) << 8 | UInt32(FrameHeader.Kind.headers), at: start)
    }

    mutating func writeReset(_ id: Int, _ code: HTTP2ErrorCode) {
        FrameHeader(length: 4, type: FrameHeader.Kind.resetStream, stream: id).write(to: &output)
        output.writeInteger(code.rawValue)
    }

    mutating func writeWindowUpdate(_ increment: Int) {
        FrameHeader(length: 4, type: FrameHeader.Kind.windowUpdate).write(to: &output)
        output.writeInteger(UInt32(increment))
    }

    mutating func writeInitialSettings() {
        writeSettings([
            (SessionLimits.Setting.headerTableSize, SessionLimits.headerTable),
            (SessionLimits.Setting.maxConcurrentStreams, streamLimit),
            (SessionLimits.Setting.initialWindowSize, SessionLimits.initialWindow),
            (SessionLimits.Setting.maxFrameSize, SessionLimits.frame),
            (SessionLimits.Setting.maxHeaderListSize, SessionLimits.headerList),
        ])
    }

    mutating func writeSettings(_ settings: [(id: UInt16, value: Int)]) {
        FrameHeader(length: 6 * settings.count, type: FrameHeader.Kind.settings).write(to: &output)
        for (id, value) in settings {
            output.writeMultipleIntegers(id, UInt32(clamping: value))
        }
    }
}
