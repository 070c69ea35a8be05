// SPDX-License-Identifier: Apache-2.0

import StrictJSON

/// The members of a JSON object, each with the very bytes of its value.
///
/// The payload of a wake must reach APNs byte for byte as its author wrote it, so the object that
/// carries it is not decoded and encoded again. Only its own level is read: what lies inside a
/// nested value is skipped by its brackets and strings, and is for `PayloadRules` to judge.
struct JSONMembers {
    /// The most members that are read.
    static let maximumCount = 32

    /// The members in their order.
    private(set) var members: [(name: String, value: ArraySlice<UInt8>)] = []

    /// Reads the whole text, which must be one object.
    init(_ text: [UInt8]) throws(JSONFault) {
        var reader = JSONReader(text: text)
        reader.skipSpace()
        guard !reader.isAtEnd else { throw reader.fault("The body is empty") }
        try reader.expect(UInt8(ascii: "{"), "The body is not a JSON object")
        reader.skipSpace()
        if !reader.take(UInt8(ascii: "}")) {
            repeat {
                try readMember(&reader)
            } while reader.take(UInt8(ascii: ","))
            try reader.expect(UInt8(ascii: "}"), "A comma or a closing brace is missing")
        }
        reader.skipSpace()
        guard reader.isAtEnd else { throw reader.fault("Something follows the object") }
    }

    private mutating func readMember(_ reader: inout JSONReader) throws(JSONFault) {
        reader.skipSpace()
        let start = reader.index
        guard reader.peek == UInt8(ascii: "\"") else {
            throw reader.fault("A member's name is missing")
        }
        guard let name = JSONText.decode(try reader.string()) else {
            throw JSONFault(offset: start, problem: "A member's name is not a JSON string")
        }
        guard !members.contains(where: { $0.name == name }) else {
            throw JSONFault(offset: start, problem: "Duplicate member")
        }
        guard members.count < Self.maximumCount else {
            throw JSONFault(offset: start, problem: "There are too many members")
        }
        reader.skipSpace()
        try reader.expect(UInt8(ascii: ":"), "A colon is missing")
        reader.skipSpace()
        members.append((name, try reader.value()))
        reader.skipSpace()
    }
}
