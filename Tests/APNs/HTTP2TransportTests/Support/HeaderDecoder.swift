// SPDX-License-Identifier: Apache-2.0

import CLibnghttp2
import Testing

/// How a field stood on the wire (RFC 7541 §6).
struct Representation: Equatable, CustomStringConvertible {
    enum Form: Equatable { case indexed, incremental, withoutIndexing, neverIndexed, sizeUpdate }
    let form: Form
    /// The index of the field or of its name; the size of a size update.
    let index: Int

    var description: String { "\(form) \(index)" }
}

/// Decodes header blocks twice: nghttp2 says what the fields are, a few lines here how they stood.
final class HeaderDecoder {
    private var inflater: OpaquePointer

    init() throws {
        var made: OpaquePointer?
        try #require(nghttp2_hd_inflate_new(&made) == 0)
        inflater = try #require(made)
    }

    deinit { nghttp2_hd_inflate_del(inflater) }

    func change(tableSize: Int) {
        #expect(nghttp2_hd_inflate_change_table_size(inflater, tableSize) == 0)
    }

    func fields(_ block: [UInt8]) throws -> [(name: String, value: String)] {
        var fields: [(String, String)] = []
        var rest = block[...]
        while true {
            var pair = nghttp2_nv()
            var flags: Int32 = 0
            let count = rest.withUnsafeBufferPointer {
                nghttp2_hd_inflate_hd2(inflater, &pair, &flags, $0.baseAddress, $0.count, 1)
            }
            try #require(count >= 0, "nghttp2 cannot decode the block: \(count)")
            rest = rest.dropFirst(count)
            if flags & Int32(NGHTTP2_HD_INFLATE_EMIT.rawValue) != 0 {
                let name = UnsafeBufferPointer(start: pair.name, count: pair.namelen)
                let value = UnsafeBufferPointer(start: pair.value, count: pair.valuelen)
                fields.append(
                    (String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self)))
            }
            if flags & Int32(NGHTTP2_HD_INFLATE_FINAL.rawValue) != 0 { break }
        }
        nghttp2_hd_inflate_end_headers(inflater)
        return fields
    }

    static func representations(_ block: [UInt8]) throws -> [Representation] {
        var reader = Reader(rest: block[...])
        var found: [Representation] = []
        while let first = reader.rest.first {
            let (form, bits): (Representation.Form, Int) =
                switch first {
                case 0x80...: (.indexed, 7)
                case 0x40...: (.incremental, 6)
                case 0x20...: (.sizeUpdate, 5)
                case 0x10...: (.neverIndexed, 4)
                default: (.withoutIndexing, 4)
                }
            let index = try reader.integer(bits: bits)
            found.append(Representation(form: form, index: index))
            guard form != .indexed, form != .sizeUpdate else { continue }
            if index == 0 { try reader.skipString() }
            try reader.skipString()
        }
        return found
    }

    private struct Reader {
        var rest: ArraySlice<UInt8>

        mutating func integer(bits: Int) throws -> Int {
            let limit = (1 << bits) - 1
            var value = Int(try byte()) & limit
            guard value == limit else { return value }
            var shift = 0
            while true {
                let byte = Int(try byte())
                value += (byte & 127) << shift
                shift += 7
                if byte < 128 { return value }
            }
        }

        private mutating func byte() throws -> UInt8 {
            let first = rest.popFirst()
            return try #require(first, "The block ends too early.")
        }

        mutating func skipString() throws {
            let length = try integer(bits: 7)
            try #require(rest.count >= length)
            rest = rest.dropFirst(length)
        }
    }
}
