// SPDX-License-Identifier: Apache-2.0

/// What is wrong with a JSON text, and at which byte.
package struct JSONFault: Error, Hashable {
    /// The offset in bytes.
    package let offset: Int
    /// The problem in words, without a full stop.
    package let problem: String
    /// Whether the text is fine so far, and longer than is read.
    package let isTooMuch: Bool

    /// A fault.
    package init(offset: Int, problem: String, isTooMuch: Bool = false) {
        self.offset = offset
        self.problem = problem
        self.isTooMuch = isTooMuch
    }
}

/// Walks over one level of a JSON text and cuts its values out, without a check of what is in
/// them: for texts whose parts are judged one by one, or that are of use in part.
/// ``JSONScanner`` checks a whole text.
///
/// Nested values are skipped by their brackets and strings, without recursion, so that no depth can
/// exhaust a stack.
package struct JSONReader {
    /// The text.
    package let text: [UInt8]
    /// The offset of the next byte.
    package private(set) var index = 0

    /// A reader before the first byte.
    package init(text: [UInt8]) { self.text = text }

    /// Whether all of it was read.
    package var isAtEnd: Bool { index == text.count }
    /// The next byte; `nil` at the end.
    package var peek: UInt8? { index < text.count ? text[index] : nil }

    /// A fault at the next byte.
    package func fault(_ problem: String) -> JSONFault {
        JSONFault(offset: index, problem: problem)
    }

    /// Goes over the next byte if it is this one.
    package mutating func take(_ byte: UInt8) -> Bool {
        guard peek == byte else { return false }
        index += 1
        return true
    }

    /// Goes over the next byte, which must be this one.
    package mutating func expect(_ byte: UInt8, _ problem: String) throws(JSONFault) {
        guard take(byte) else { throw fault(problem) }
    }

    /// Goes over white space (RFC 8259 §2).
    package mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 {
            index += 1
        }
    }

    /// Reads a string with its quotes, verbatim: see ``JSONText/decode(_:)``.
    package mutating func string() throws(JSONFault) -> ArraySlice<UInt8> {
        let start = index
        try expect(UInt8(ascii: "\""), "A string is missing")
        while let byte = peek {
            index += 1
            if byte == UInt8(ascii: "\"") { return text[start..<index] }
            if byte == UInt8(ascii: "\\") { index = min(index + 1, text.count) }
        }
        throw JSONFault(offset: start, problem: "A string has no end")
    }

    /// Reads a value of any kind, verbatim.
    package mutating func value() throws(JSONFault) -> ArraySlice<UInt8> {
        let start = index
        switch peek {
        case UInt8(ascii: "\""):
            return try string()
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            try skipNested()
        default:
            skipScalar()
            guard index > start else { throw fault("A value is missing") }
        }
        return text[start..<index]
    }

    private mutating func skipNested() throws(JSONFault) {
        let start = index
        var depth = 0
        while let byte = peek {
            switch byte {
            case UInt8(ascii: "\""):
                _ = try string()
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: break
            }
            index += 1
            if depth == 0 { return }
        }
        throw JSONFault(offset: start, problem: "An object or array has no end")
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
