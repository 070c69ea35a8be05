// SPDX-License-Identifier: Apache-2.0

import NIOCore

/// The frames that concern the connection: SETTINGS, PING, WINDOW_UPDATE, RST_STREAM, PRIORITY,
/// GOAWAY.
extension ServerSession {
    mutating func receiveReset(
        _ header: FrameHeader, _ payload: ByteBuffer
    ) throws(Violation) -> Event? {
        guard let code = payload.getInteger(at: payload.readerIndex, as: UInt32.self),
            header.length == 4
        else { throw Violation(code: .frameSizeError, problem: "RST_STREAM has not 4 bytes") }
        guard header.stream % 2 == 1, header.stream <= lastStream else {
            throw Violation(code: .protocolError, problem: "RST_STREAM for a stream never opened")
        }
        forget(header.stream)
        history.wasReset(header.stream)
        return .reset(stream: header.stream, HTTP2ErrorCode(rawValue: code))
    }

    mutating func receiveSettings(
        _ header: FrameHeader, _ payload: ByteBuffer
    ) throws(Violation) {
        guard header.stream == 0 else {
            throw Violation(code: .protocolError, problem: "SETTINGS came on a stream")
        }
        let isAcknowledgement = header.has(FrameHeader.Flag.acknowledgement)
        guard header.length % 6 == 0, !isAcknowledgement || header.length == 0 else {
            throw Violation(code: .frameSizeError, problem: "SETTINGS has a wrong length")
        }
        guard !isAcknowledgement else { return }
        var payload = payload
        while let (id, value) = payload.readMultipleIntegers(as: (UInt16, UInt32).self) {
            switch id {
            case SessionLimits.Setting.headerTableSize: owesTableSizeUpdate = true
            case SessionLimits.Setting.initialWindowSize: try setInitialWindow(Int(value))
            case SessionLimits.Setting.enablePush where value > 1:
                throw Violation(code: .protocolError, problem: "ENABLE_PUSH is neither 0 nor 1")
            case SessionLimits.Setting.maxFrameSize
            where !SessionLimits.peerFrames.contains(Int(value)):
                throw Violation(code: .protocolError, problem: "MAX_FRAME_SIZE is out of range")
            default: break  // The rest limits frames that this server never makes.
            }
        }
        FrameHeader(
            length: 0, type: FrameHeader.Kind.settings, flags: FrameHeader.Flag.acknowledgement
        ).write(to: &output)
        sendBlockedData()
    }

    private mutating func setInitialWindow(_ size: Int) throws(Violation) {
        guard size <= SessionLimits.maximumWindow else {
            throw Violation(code: .flowControlError, problem: "INITIAL_WINDOW_SIZE is too large")
        }
        let change = size - peerInitialWindow
        peerInitialWindow = size
        for id in streams.keys { streams[id]?.sendWindow += change }
    }

    mutating func receivePing(_ header: FrameHeader, _ payload: ByteBuffer) throws(Violation) {
        guard header.stream == 0 else {
            throw Violation(code: .protocolError, problem: "PING came on a stream")
        }
        guard header.length == 8 else {
            throw Violation(code: .frameSizeError, problem: "PING has not 8 bytes")
        }
        guard !header.has(FrameHeader.Flag.acknowledgement) else { return }
        FrameHeader(
            length: 8, type: FrameHeader.Kind.ping, flags: FrameHeader.Flag.acknowledgement
        ).write(to: &output)
        output.writeImmutableBuffer(payload)
    }

    mutating func receiveWindowUpdate(
        _ header: FrameHeader, _ payload: ByteBuffer
    ) throws(Violation) -> Event? {
        guard header.length == 4,
            let raw = payload.getInteger(at: payload.readerIndex, as: UInt32.self)
        else { throw Violation(code: .frameSizeError, problem: "WINDOW_UPDATE has not 4 bytes") }
        let increment = Int(raw & 0x7fff_ffff)
        guard header.stream <= lastStream else {
            throw Violation(
                code: .protocolError, problem: "WINDOW_UPDATE came for a stream never opened")
        }
        if header.stream == 0 {
            guard increment > 0 else {
                throw Violation(code: .protocolError, problem: "WINDOW_UPDATE adds nothing")
            }
            guard sendWindow + increment <= SessionLimits.maximumWindow else {
                throw Violation(
                    code: .flowControlError, problem: "the connection's window grew out of range")
            }
            sendWindow += increment
        } else if let window = streams[header.stream]?.sendWindow {
            guard increment > 0, window + increment <= SessionLimits.maximumWindow else {
                reset(header.stream, increment > 0 ? .flowControlError : .protocolError)
                return .malformed(stream: header.stream)
            }
            streams[header.stream]?.sendWindow = window + increment
        }
        sendBlockedData()
        return nil
    }

    /// PRIORITY says nothing that APNs listens to (facts §1.3); only its form is checked. A stream
    /// that depends on itself is passed over too: RFC 9113 §5.3 took that rule away.
    mutating func receivePriority(_ header: FrameHeader) throws(Violation) -> Event? {
        guard header.stream > 0 else {
            throw Violation(code: .protocolError, problem: "PRIORITY came on no stream")
        }
        guard header.length != 5 else { return nil }
        // A stream that is not open cannot be reset (RFC 9113 §5.1).
        guard streams[header.stream] != nil else {
            throw Violation(code: .frameSizeError, problem: "PRIORITY has not 5 bytes")
        }
        reset(header.stream, .frameSizeError)
        return .malformed(stream: header.stream)
    }

    /// A client that goes away may still be answered.
    func receiveGoAway(_ header: FrameHeader) throws(Violation) {
        guard header.stream == 0 else {
            throw Violation(code: .protocolError, problem: "GOAWAY came on a stream")
        }
    }
}
