// SPDX-License-Identifier: Apache-2.0

/// A place in a text as an editor shows it.
package struct TextPosition: Hashable, Sendable {
    /// The line, from 1. Lines end with LF, CR or CR LF.
    package var line: Int
    /// The column in characters (Unicode scalars), from 1. In text that is not UTF-8, a byte that
    /// only continues a character is not counted.
    package var column: Int

    /// The place of an offset in bytes, which may be the end of the text.
    package init(offset: Int, in bytes: [UInt8]) {
        line = 1
        column = 1
        advance(over: 0..<min(offset, bytes.count), of: bytes)
    }

    /// Moves the place over some bytes that follow it.
    package mutating func advance(over range: Range<Int>, of bytes: [UInt8]) {
        for index in range {
            switch bytes[index] {
            case 0x0d where index + 1 < bytes.count && bytes[index + 1] == 0x0a:
                column += 1
            case 0x0a, 0x0d:
                line += 1
                column = 1
            case 0x80...0xbf:
                continue
            default:
                column += 1
            }
        }
    }
}
