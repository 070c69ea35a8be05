// SPDX-License-Identifier: Apache-2.0

import StrictJSON

/// A summary of several keys: their lengths and first bytes, one bit for each. It lets a rule for
/// certain keys detect quickly that there are none, the usual case.
struct KeyGlance {
    private(set) var lengths: UInt64 = 0
    private(set) var firstBytes: UInt64 = 0

    /// Adds a key. An escaped one can be any key, so that it sets all bits.
    mutating func look(at key: Int, in document: JSONDocument) {
        let content = document.content(key)
        guard !document.isEscaped(key) else {
            lengths = .max
            firstBytes = .max
            return
        }
        lengths |= Self.bit(ofLength: content.count)
        // For an empty key this is the closing quote, which has no effect.
        firstBytes |= Self.bit(ofFirstByte: document.bytes[content.lowerBound])
    }

    /// The bit of a length in bytes; lengths from 63 on share one.
    static func bit(ofLength length: Int) -> UInt64 { 1 &<< UInt64(min(length, 63)) }

    /// The bit of a first byte: bytes that differ by 64 share one.
    static func bit(ofFirstByte byte: UInt8) -> UInt64 { 1 &<< UInt64(byte) }
}
