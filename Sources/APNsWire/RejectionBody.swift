// SPDX-License-Identifier: Apache-2.0

/// The two members of APNs' error body: `{"reason":"Unregistered","timestamp":1700000000000}`.
///
/// A small reader of its own rather than a JSON library: the body has two known members, this room
/// has no Foundation, and anything else must be survived, not reported.
struct RejectionBody: Hashable {
    /// The value of `reason`, verbatim.
    private(set) var reason: String?
    /// The value of `timestamp`, in milliseconds since the epoch.
    private(set) var timestamp: Int64?

    /// Reads as far as the body is the flat object that Apple describes, and stops there.
    init(_ body: [UInt8]) {
        var reader = Reader(bytes: body)
        guard reader.skip(UInt8(ascii: "{")) else { return }
        while let name = reader.string(), reader.skip(UInt8(ascii: ":")) {
            if let text = reader.string() {
                if name == "reason" { reason = text }
            } else if let scalar = reader.scalar() {
                if name == "timestamp" { timestamp = Int64(scalar) }
            } else {
                return
            }
            guard reader.skip(UInt8(ascii: ",")) else { return }
        }
    }

    private struct Reader {
        let bytes: [UInt8]
        var position = 0

        private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

        mutating func skip(_ byte: UInt8) -> Bool {
            skipWhiteSpace()
            guard next == byte else { return false }
            position += 1
            return true
        }

        /// A string without escapes, or with the escapes of one character; a `\u` escape ends the
        /// reading, since no reason has ever held one.
        mutating func string() -> String? {
            let start = position
            guard skip(UInt8(ascii: "\"")) else { return nil }
            var text: [UInt8] = []
            while let byte = next {
                position += 1
                switch byte {
                case UInt8(ascii: "\""): return String(validating: text, as: UTF8.self)
                case UInt8(ascii: "\\"):
                    guard let escaped = next, escaped != UInt8(ascii: "u") else { return nil }
                    position += 1
                    text.append(escaped)
                default: text.append(byte)
                }
            }
            position = start
            return nil
        }

        /// A number or a word, up to the next delimiter.
        mutating func scalar() -> String? {
            skipWhiteSpace()
            let start = position
            while let byte = next, !Self.delimiters.contains(byte) { position += 1 }
            return start == position
                ? nil : String(decoding: bytes[start..<position], as: UTF8.self)
        }

        private mutating func skipWhiteSpace() {
            while let byte = next, Self.whiteSpace.contains(byte) { position += 1 }
        }

        private static let whiteSpace: [UInt8] = [0x20, 0x09, 0x0a, 0x0d]
        private static let delimiters: [UInt8] = whiteSpace + Array(",}]{[\":".utf8)
    }
}
