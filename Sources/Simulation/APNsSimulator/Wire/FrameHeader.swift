// SPDX-License-Identifier: Apache-2.0

import NIOCore

/// The nine bytes in front of every HTTP/2 frame (RFC 9113 §4.1).
struct FrameHeader {
    var length: Int
    var type: UInt8
    var flags: UInt8
    var stream: Int

    static let byteCount = 9

    /// Frame types (RFC 9113 §6).
    enum Kind {
        static let data: UInt8 = 0
        static let headers: UInt8 = 1
        static let priority: UInt8 = 2
        static let resetStream: UInt8 = 3
        static let settings: UInt8 = 4
        static let pushPromise: UInt8 = 5
        static let ping: UInt8 = 6
        static let goAway: UInt8 = 7
        static let windowUpdate: UInt8 = 8
        static let continuation: UInt8 = 9
    }

    /// Flags; the same bit means different things for different types.
    enum Flag {
        static let endStream: UInt8 = 0x1
        static let acknowledgement: UInt8 = 0x1
        static let endHeaders: UInt8 = 0x4
        static let padded: UInt8 = 0x8
        static let priority: UInt8 = 0x20
    }

    func has(_ flag: UInt8) -> Bool { flags & flag != 0 }

    init(length: Int, type: UInt8, flags: UInt8 = 0, stream: Int = 0) {
        self.length = length
        self.type = type
        self.flags = flags
        self.stream = stream
    }

    /// Reads without consuming; `nil` when fewer than nine bytes are there.
    init?(peekingAt buffer: ByteBuffer) {
        let start = buffer.readerIndex
        guard
            let lengthAndType = buffer.getInteger(at: start, as: UInt32.self),
            let flags = buffer.getInteger(at: start + 4, as: UInt8.self),
            let stream = buffer.getInteger(at: start + 5, as: UInt32.self)
        else { return nil }
        length = Int(lengthAndType >> 8)
        type = UInt8(truncatingIfNeeded: lengthAndType)
        self.flags = flags
        self.stream = Int(stream & 0x7fff_ffff)
    }

    func write(to buffer: inout ByteBuffer) {
        buffer.writeInteger(UInt32(length) << 8 | UInt32(type))
        buffer.writeInteger(flags)
        buffer.writeInteger(UInt32(stream))
    }
}
