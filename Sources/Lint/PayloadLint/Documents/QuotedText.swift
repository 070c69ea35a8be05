// SPDX-License-Identifier: Apache-2.0

/// The value of a JSON string, with the place of each piece in the file.
struct QuotedText {
    /// The value, with escapes resolved. An unpaired surrogate is U+FFFD.
    private(set) var bytes: [UInt8] = []
    /// The places of its pieces.
    private(set) var segments: [PlaceMap.Segment] = []

    /// Reads the content between the quotes of a valid string.
    init(_ content: Range<Int>, of file: [UInt8]) {
        var index = content.lowerBound
        begin(at: index)
        while index < content.upperBound {
            guard file[index] == UInt8(ascii: "\\"), index + 1 < content.upperBound else {
                bytes.append(file[index])
                index += 1
                continue
            }
            index += appendEscape(at: index, in: file[..<content.upperBound])
            begin(at: index)
        }
    }

    private mutating func begin(at index: Int) {
        segments.append(PlaceMap.Segment(payloadStart: bytes.count, fileStart: index))
    }

    /// Appends the character of an escape. Returns the length of the escape.
    private mutating func appendEscape(at index: Int, in file: ArraySlice<UInt8>) -> Int {
        switch file[index + 1] {
        case UInt8(ascii: "u"):
            guard let lead = unit(at: index + 2, in: file) else { return 2 }
            var scalar = UInt32(lead)
            var length = 6
            if UTF16.isLeadSurrogate(lead), let trail = unit(at: index + 8, in: file),
                file[index + 6] == UInt8(ascii: "\\"), UTF16.isTrailSurrogate(trail)
            {
                scalar = 0x10000 + (scalar - 0xd800) << 10 + (UInt32(trail) - 0xdc00)
                length = 12
            }
            bytes += String(Unicode.Scalar(scalar) ?? "\u{fffd}").utf8
            return length
        case UInt8(ascii: "b"): bytes.append(0x08)
        case UInt8(ascii: "f"): bytes.append(0x0c)
        case UInt8(ascii: "n"): bytes.append(0x0a)
        case UInt8(ascii: "r"): bytes.append(0x0d)
        case UInt8(ascii: "t"): bytes.append(0x09)
        default: bytes.append(file[index + 1])
        }
        return 2
    }

    private func unit(at index: Int, in file: ArraySlice<UInt8>) -> UInt16? {
        guard index + 4 <= file.endIndex else { return nil }
        return UInt16(String(decoding: file[index..<index + 4], as: UTF8.self), radix: 16)
    }
}
