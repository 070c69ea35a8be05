// SPDX-License-Identifier: Apache-2.0

/// Frames of a server, byte by byte.
package enum ServerFrame {
    package static func frame(
        _ type: UInt8, flags: UInt8 = 0, stream: Int = 0, _ payload: [UInt8] = []
    ) -> [UInt8] {
        let length = payload.count
        let head = [
            UInt8(length >> 16), UInt8(length >> 8 & 255), UInt8(length & 255), type, flags,
        ]
        return head + number(stream) + payload
    }

    package static func number(_ value: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(value >> $0 & 255) }
    }

    package static func settings(_ entries: [(UInt8, Int)] = []) -> [UInt8] {
        frame(4, entries.flatMap { [0, $0.0] + number($0.1) })
    }

    package static let settingsAcknowledgement = frame(4, flags: 1)
    package static func ping(_ byte: UInt8 = 0) -> [UInt8] {
        frame(6, [UInt8](repeating: byte, count: 8))
    }
    package static func windowUpdate(stream: Int = 0, by count: Int = 1) -> [UInt8] {
        frame(8, stream: stream, number(count))
    }
    package static func reset(stream: Int, code: Int) -> [UInt8] {
        frame(3, stream: stream, number(code))
    }
    package static func goAway(last: Int, code: Int = 0, words: String = "") -> [UInt8] {
        frame(7, number(last) + number(code) + Array(words.utf8))
    }
    /// `:status: 200`, entry 8 of the static table.
    package static func accepted(stream: Int) -> [UInt8] {
        frame(1, flags: 5, stream: stream, [0x88])
    }
    /// `:status: 400`, entry 12, without an end.
    package static func refusal(stream: Int) -> [UInt8] {
        frame(1, flags: 4, stream: stream, [0x8c])
    }
    /// `:status: 200` and over 16 KiB of fields, in two frames.
    package static func longHeaderList(stream: Int) -> [UInt8] {
        let fields = (0..<18).map { literal("x-\($0)", String(repeating: "v", count: 1000)) }
        let first = [0x88] + fields[..<9].joined()
        return frame(1, flags: 1, stream: stream, first)
            + frame(9, flags: 4, stream: stream, Array(fields[9...].joined()))
    }
    package static func data(stream: Int, _ bytes: [UInt8], isLast: Bool) -> [UInt8] {
        frame(0, flags: isLast ? 1 : 0, stream: stream, bytes)
    }
    /// A field as a literal without indexing.
    package static func literal(_ name: String, _ value: String) -> [UInt8] {
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
