// SPDX-License-Identifier: Apache-2.0

import StrictJSON

/// The members of the JSON object in an answer of APNs, one after the other, as far as it is one.
struct AnswerMembers: Sequence, IteratorProtocol {
    private var reader: JSONReader
    private var isOver: Bool

    init(_ body: [UInt8]) {
        reader = JSONReader(text: body)
        reader.skipSpace()
        isOver = !reader.take(UInt8(ascii: "{"))
    }

    /// The next member: its name, and its value verbatim.
    mutating func next() -> (name: String, value: ArraySlice<UInt8>)? {
        guard !isOver else { return nil }
        do throws(JSONFault) {
            reader.skipSpace()
            guard let name = JSONText.decode(try reader.string()) else {
                throw reader.fault("A member's name is not a JSON string")
            }
            reader.skipSpace()
            try reader.expect(UInt8(ascii: ":"), "A colon is missing")
            reader.skipSpace()
            let value = try reader.value()
            reader.skipSpace()
            isOver = !reader.take(UInt8(ascii: ","))
            return (name, value)
        } catch {
            isOver = true
            return nil
        }
    }
}
