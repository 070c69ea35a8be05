// SPDX-License-Identifier: Apache-2.0

import NIOCore

/// HPACK allows a field name to be empty, RFC 9110 §5.1 does not: such a request is malformed, and
/// its stream is reset (RFC 9113 §8.1.1). swift-nio-http2's decoder takes it for an error of HPACK,
/// behind which a connection cannot go on. It stops at that field, with its table as the fields
/// before have left it.
extension HeaderBlock {
    /// The part of a header block from its first field with an empty name on, in which each empty
    /// name is a space. The decoder reads it, so that its table stays the client's, and no request
    /// may have it. An entry counts one byte more in the table than it does at the client.
    ///
    /// - Returns: `nil` if no name is empty. What is cut off remains, for the decoder to refuse.
    static func fromEmptyName(in block: ByteBuffer) -> ByteBuffer? {
        var rest = ArraySlice(block.readableBytesView)
        var found: ByteBuffer?
        while !rest.isEmpty {
            let field = rest
            let value = skipField(of: &rest)
            if let value {
                found = found ?? ByteBuffer()
                found?.writeBytes(field.prefix(1) + [0x01, UInt8(ascii: " ")])
                found?.writeBytes(value)
            } else {
                found?.writeBytes(field.prefix(field.count - rest.count))
            }
        }
        return found
    }

    /// Skips one field, or all of what is cut off (RFC 7541 §6).
    ///
    /// - Returns: The field's value with its length, if its name is empty.
    private static func skipField(of rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        switch rest.first ?? 0 {
        case 0x80...: readInteger(of: &rest, prefix: 7)
        case 0x20..<0x40: readInteger(of: &rest, prefix: 5)
        case let first:
            var value: ArraySlice<UInt8>?
            if readInteger(of: &rest, prefix: first >= 0x40 ? 6 : 4) == 0 {
                let hasName = skipText(of: &rest) != 0
                if !hasName { value = rest }
            }
            skipText(of: &rest)
            return value.map { $0.prefix($0.count - rest.count) }
        }
        return nil
    }

    /// Skips a string and returns its length in bytes (RFC 7541 §5.2).
    @discardableResult
    private static func skipText(of rest: inout ArraySlice<UInt8>) -> Int {
        let length = readInteger(of: &rest, prefix: 7)
        rest = rest.dropFirst(length)
        return length
    }

    /// An integer behind the bits of its first byte that are not its own (RFC 7541 §5.1); the
    /// largest one if it is cut off or larger than any header block.
    @discardableResult
    private static func readInteger(of rest: inout ArraySlice<UInt8>, prefix: Int) -> Int {
        let mask = 1 << prefix - 1
        guard let first = rest.popFirst() else { return .max }
        guard Int(first) & mask == mask else { return Int(first) & mask }
        var value = mask
        for shift in stride(from: 0, through: 21, by: 7) {
            guard let byte = rest.popFirst() else { break }
            value += Int(byte & 0x7f) << shift
            if byte & 0x80 == 0 { return value }
        }
        rest = []
        return .max
    }
}
