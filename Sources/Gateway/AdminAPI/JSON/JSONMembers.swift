// SPDX-License-Identifier: Apache-2.0

import StrictJSON

/// The members of a JSON object with the bytes of their values unchanged.
///
/// APNs must get the payload of a wake byte for byte as the caller sent it, so the enclosing object
/// is not decoded and encoded again. Only its own level is parsed; nested values are skipped by
/// their brackets and strings, and `PayloadRules` validates them.
struct JSONMembers {
    /// The maximum number of members.
    static let maximumCount = 32

    /// The members in the order of the text.
    private(set) var members: [(name: String, value: ArraySlice<UInt8>)] = []

    /// Reads the whole text, which must be one object with at most ``maximumCount`` members.
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
