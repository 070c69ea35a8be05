// SPDX-License-Identifier: Apache-2.0

import StrictJSON
import Testing

extension JSONScannerCases {
    /// A text of which RFC 8259 leaves open whether a parser takes it, and what this one does.
    package struct Defined: Sendable, CustomTestStringConvertible {
        package let name: String
        package let bytes: [UInt8]
        package let isAccepted: Bool

        init(_ name: String, _ bytes: [UInt8], accepted isAccepted: Bool) {
            self.name = name
            self.bytes = bytes
            self.isAccepted = isAccepted
        }

        init(_ name: String, _ text: String, accepted isAccepted: Bool) {
            self.init(name, Array(text.utf8), accepted: isAccepted)
        }

        package var testDescription: String { name }
    }

    private static func nested(_ depth: Int) -> String {
        String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }

    package static let defined: [Defined] = [
        Defined("number, huge exponent", "[1e999]", accepted: true),
        Defined("number, negative huge exponent", "[-1e999]", accepted: true),
        Defined("number, exponent of many digits", "[1e00000000000000000001]", accepted: true),
        Defined("number, tiny", "[1e-999]", accepted: true),
        Defined(
            "number, integer beyond 64 bits", "[123456789012345678901234567890]", accepted: true),
        Defined(
            "number, negative integer beyond 64 bits", "[-98765432109876543210]", accepted: true),
        Defined(
            "number, fraction of many digits", "[0." + String(repeating: "1", count: 400) + "]",
            accepted: true),
        Defined("number, minus zero", "[-0]", accepted: true),
        Defined("string, lone lead surrogate escape", #"["\ud800"]"#, accepted: true),
        Defined("string, lone trail surrogate escape", #"["\udc00"]"#, accepted: true),
        Defined("string, surrogates in the wrong order", #"["\udc00\ud800"]"#, accepted: true),
        Defined("string, lead surrogate and a letter", #"["\ud800a"]"#, accepted: true),
        Defined("string, escaped non-character", #"["\uffff"]"#, accepted: true),
        Defined(
            "string, non-character in UTF-8", [0x5b, 0x22, 0xef, 0xbf, 0xbf, 0x22, 0x5d],
            accepted: true),
        Defined("string, delete character", "[\"\u{7f}\"]", accepted: true),
        Defined("string, escaped zero", #"["\u0000"]"#, accepted: true),
        Defined("string, byte of Latin-1", [0x5b, 0x22, 0xe9, 0x22, 0x5d], accepted: false),
        Defined(
            "string, overlong character", [0x5b, 0x22, 0xc0, 0x80, 0x22, 0x5d], accepted: false),
        Defined(
            "string, surrogate in UTF-8", [0x5b, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x5d],
            accepted: false),
        Defined(
            "string, beyond Unicode", [0x5b, 0x22, 0xf4, 0x90, 0x80, 0x80, 0x22, 0x5d],
            accepted: false),
        Defined("string, cut character", [0x5b, 0x22, 0xe0, 0xff, 0x22, 0x5d], accepted: false),
        Defined("structure, byte order mark", [0xef, 0xbb, 0xbf, 0x7b, 0x7d], accepted: false),
        Defined(
            "structure, UTF-16 little-endian", [0xff, 0xfe, 0x5b, 0, 0x5d, 0], accepted: false),
        Defined("structure, UTF-16 big-endian", [0, 0x5b, 0, 0x5d], accepted: false),
        Defined("structure, 500 arrays", nested(500), accepted: true),
        Defined("structure, 512 arrays", nested(512), accepted: true),
        Defined("structure, 513 arrays", nested(513), accepted: false),
        Defined(
            "structure, 100 000 open arrays", String(repeating: "[", count: 100_000),
            accepted: false),
        Defined(
            "structure, 50 000 open objects", String(repeating: "{\"\":", count: 50_000),
            accepted: false),
        Defined("object, duplicate key", #"{"a":1,"a":2}"#, accepted: true),
        Defined("object, duplicate key and value", #"{"a":1,"a":1}"#, accepted: true),
        Defined("object, keys that differ by an escape", #"{"a":1,"\u0061":2}"#, accepted: true),
        Defined("object, prototype key", #"{"__proto__":{}}"#, accepted: true),
        Defined("root, number", "1", accepted: true),
        Defined("root, string", #""a""#, accepted: true),
    ]
}
