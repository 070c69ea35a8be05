// SPDX-License-Identifier: Apache-2.0

import StrictJSON

/// The items of a batch with their bytes unchanged: the elements of a JSON array, or the lines of
/// NDJSON. Items are not parsed here, so that an invalid one does not affect the others.
struct JSONItems {
    private(set) var items: [ArraySlice<UInt8>] = []

    /// Reads a text that must be one array with at most `limit` elements.
    init(array text: [UInt8], limit: Int) throws(JSONFault) {
        var reader = JSONReader(text: text)
        reader.skipSpace()
        try reader.expect(UInt8(ascii: "["), "The body is not a JSON array")
        reader.skipSpace()
        if !reader.take(UInt8(ascii: "]")) {
            repeat {
                reader.skipSpace()
                guard items.count < limit else {
                    throw Self.tooMany(limit, at: reader.index)
                }
                items.append(try reader.value())
                reader.skipSpace()
            } while reader.take(UInt8(ascii: ","))
            try reader.expect(UInt8(ascii: "]"), "A comma or a closing bracket is missing")
        }
        reader.skipSpace()
        guard reader.isAtEnd else { throw reader.fault("Something follows the array") }
    }

    /// Splits a text into lines, without empty ones; at most `limit`.
    init(lines text: [UInt8], limit: Int) throws(JSONFault) {
        for line in text.split(separator: UInt8(ascii: "\n")) {
            let isBlank = line.allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0d }
            guard !isBlank else { continue }
            guard items.count < limit else {
                throw Self.tooMany(limit, at: line.startIndex)
            }
            items.append(line)
        }
    }

    private static func tooMany(_ limit: Int, at offset: Int) -> JSONFault {
        JSONFault(
            offset: offset, problem: "There are more than \(limit) items", isTooMuch: true)
    }
}
