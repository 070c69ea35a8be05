// SPDX-License-Identifier: Apache-2.0

/// What is wrong with a JSON text, and at which byte.
struct JSONFault: Error, Hashable {
    let offset: Int
    let problem: String
    /// Whether the text is fine so far, and longer than is read.
    var isTooMuch = false
}

/// Walks over a JSON text and cuts values out of it without decoding them. Nested values are
/// skipped by their brackets and strings, without recursion, so that no depth can exhaust a stack.
struct JSONReader {
    let text: [UInt8]
    var index = 0

    var isAtEnd: Bool { index == text.count }
    var peek: UInt8? { index < text.count ? text[index] : nil }

    func fault(_ problem: String) -> JSONFault { JSONFault(offset: index, problem: problem) }

    mutating func take(_ byte: UInt8) -> Bool {
        guard peek == byte else { return false }
        index += 1
        return true
    }

    mutating func expect(_ byte: UInt8, _ problem: String) throws(JSONFault) {
        guard take(byte) else { throw fault(problem) }
    }

    mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 {
            index += 1
        }
    }

    /// From the opening quote to behind the closing one.
    mutating func skipString() throws(JSONFault) {
        let start = index
        index += 1
        while let byte = peek {
            index += 1
            if byte == UInt8(ascii: "\"") { return }
            if byte == UInt8(ascii: "\\") { index = min(index + 1, text.count) }
        }
        throw JSONFault(offset: start, problem: "A string has no end")
    }

    /// One value of any kind, verbatim.
    mutating func value() throws(JSONFault) -> ArraySlice<UInt8> {
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

    private mutating func skipNested() throws(JSONFault) {
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
