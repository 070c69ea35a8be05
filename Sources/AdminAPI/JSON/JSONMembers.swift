// SPDX-License-Identifier: Apache-2.0

/// The members of a JSON object, each with the very bytes of its value.
///
/// The payload of a wake must reach APNs byte for byte as its author wrote it, so the object that
/// carries it is not decoded and encoded again. Only its own level is read: what lies inside a
/// nested value is skipped by its brackets and strings, and is for `PayloadRules` to judge.
struct JSONMembers {
    /// The most members that are read.
    static let maximumCount = 32

    /// What is wrong with the text, and at which byte.
    struct Fault: Error, Hashable {
        let offset: Int
        let problem: String
    }

    /// The members in their order.
    private(set) var members: [(name: String, value: ArraySlice<UInt8>)] = []

    /// Reads the whole text, which must be one object.
    init(_ text: [UInt8]) throws(Fault) {
        var reader = Reader(text: text)
        reader.skipSpace()
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

    private mutating func readMember(_ reader: inout Reader) throws(Fault) {
        reader.skipSpace()
        let start = reader.index
        guard reader.peek == UInt8(ascii: "\"") else {
            throw reader.fault("A member's name is missing")
        }
        try reader.skipString()
        guard let name = JSONText.decode(reader.text[start..<reader.index]) else {
            throw Fault(offset: start, problem: "A member's name is not a JSON string")
        }
        guard !members.contains(where: { $0.name == name }) else {
            throw Fault(offset: start, problem: "A member stands there twice")
        }
        guard members.count < Self.maximumCount else {
            throw Fault(offset: start, problem: "There are too many members")
        }
        reader.skipSpace()
        try reader.expect(UInt8(ascii: ":"), "A colon is missing")
        reader.skipSpace()
        members.append((name, try reader.value()))
        reader.skipSpace()
    }

    /// Walks over the text.
    private struct Reader {
        let text: [UInt8]
        var index = 0

        var isAtEnd: Bool { index == text.count }
        var peek: UInt8? { index < text.count ? text[index] : nil }

        func fault(_ problem: String) -> Fault { Fault(offset: index, problem: problem) }

        mutating func take(_ byte: UInt8) -> Bool {
            guard peek == byte else { return false }
            index += 1
            return true
        }

        mutating func expect(_ byte: UInt8, _ problem: String) throws(Fault) {
            guard take(byte) else { throw fault(problem) }
        }

        mutating func skipSpace() {
            while let byte = peek, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 {
                index += 1
            }
        }

        /// From the opening quote to behind the closing one.
        mutating func skipString() throws(Fault) {
            let start = index
            index += 1
            while let byte = peek {
                index += 1
                if byte == UInt8(ascii: "\"") { return }
                if byte == UInt8(ascii: "\\") { index = min(index + 1, text.count) }
            }
            throw Fault(offset: start, problem: "A string has no end")
        }

        /// One value of any kind, as it stands.
        mutating func value() throws(Fault) -> ArraySlice<UInt8> {
            let start = index
            switch peek {
            case UInt8(ascii: "\""):
                try skipString()
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                try skipNested()
            default:
                skipScalar()
                guard index > start else { throw fault("A value is missing") }
            }
            return text[start..<index]
        }

        private mutating func skipNested() throws(Fault) {
            let start = index
            var depth = 0
            while let byte = peek {
                switch byte {
                case UInt8(ascii: "\""):
                    try skipString()
                    continue
                case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
                case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
                default: break
                }
                index += 1
                if depth == 0 { return }
            }
            throw Fault(offset: start, problem: "An object or array has no end")
        }

        /// A number or a word: up to white space or punctuation.
        private mutating func skipScalar() {
            while let byte = peek {
                switch byte {
                case 0x20, 0x0a, 0x0d, 0x09, UInt8(ascii: ","), UInt8(ascii: "}"),
                    UInt8(ascii: "]"), UInt8(ascii: ":"), UInt8(ascii: "\""), UInt8(ascii: "{"),
                    UInt8(ascii: "["):
                    return
                default: index += 1
                }
            }
        }
    }
}
