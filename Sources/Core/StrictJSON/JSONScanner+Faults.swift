// SPDX-License-Identifier: Apache-2.0

/// What the scanner says when the text is not JSON. None of this runs on good text.
extension JSONScanner {
    @inline(never)
    func fault(
        _ category: JSONSyntaxError.Category, at offset: Int, found: String, expected: String,
        hint: String? = nil
    ) -> JSONSyntaxError {
        JSONSyntaxError(
            category: category, offset: offset, found: found, expected: expected, hint: hint,
            pointer: pointerOfOpenPlace)
    }

    /// The fault of the text at the position.
    @inline(never)
    func unexpected(_ expected: StaticString, hint: String? = nil) -> JSONSyntaxError {
        if position < bytes.count, bytes[position] >= 0x80,
            JSONText.multibyteLength(bytes, at: position) == nil
        {
            return badEncoding()
        }
        return fault(
            .grammar, at: position, found: JSONText.describe(bytes, at: position),
            expected: expected.description, hint: hint)
    }

    @inline(never)
    func notANumber() -> JSONSyntaxError {
        fault(
            .notANumber, at: position, found: "NaN or Infinity", expected: "a number",
            hint: "JSON has no such numbers: leave the key out, or send a string.")
    }

    @inline(never)
    func badValue(expected: StaticString) -> JSONSyntaxError {
        let infinities: [StaticString] = ["NaN", "nan", "Infinity", "infinity", "Inf", "inf"]
        if infinities.contains(where: hasWord) { return notANumber() }
        return unexpected(expected, hint: valueHint)
    }

    func isInfinity(at offset: Int) -> Bool {
        offset < bytes.count && [UInt8(ascii: "I"), UInt8(ascii: "i")].contains(bytes[offset])
    }

    /// Throws for a byte order mark, and for text whose zero bytes show it to be UTF-16 or UTF-32.
    func refuseOtherEncodings() throws(JSONSyntaxError) {
        let first = bytes.prefix(3)
        if first == [0xef, 0xbb, 0xbf] {
            throw fault(
                .encoding, at: 0, found: "a byte order mark", expected: "the JSON text itself",
                hint: "Write UTF-8 without a byte order mark.")
        }
        let isMarkedUTF16 = first.starts(with: [0xff, 0xfe]) || first.starts(with: [0xfe, 0xff])
        if isMarkedUTF16 || bytes.prefix(2).contains(0) {
            throw fault(
                .encoding, at: 0, found: "what looks like UTF-16 or UTF-32", expected: "UTF-8",
                hint: "Encode the text as UTF-8.")
        }
    }

    @inline(never)
    func badEncoding() -> JSONSyntaxError {
        let lead = bytes[position]
        let second = position + 1 < bytes.count ? bytes[position + 1] : 0
        let found =
            switch (lead, second) {
            case (0x80...0xbf, _): "a continuation byte without its first byte"
            case (0xc0...0xc1, _), (0xe0, 0x80...0x9f), (0xf0, 0x80...0x8f):
                "an overlong form of a shorter character"
            case (0xed, 0xa0...0xbf): "a surrogate"
            case (0xf4, 0x90...0xbf), (0xf5..., _): "a byte beyond U+10FFFF"
            default: "a cut multibyte character"
            }
        return fault(
            .encoding, at: position, found: "\(found) (0x\(String(lead, radix: 16)))",
            expected: "UTF-8",
            hint: "Encode the text as UTF-8, and never cut it inside a character.")
    }

    var keyHint: String? {
        switch current {
        case UInt8(ascii: "}"): "Remove the comma before the brace."
        case UInt8(ascii: ","): "Remove one of the commas."
        case UInt8(ascii: "'"): "JSON takes double quotes only."
        case UInt8(ascii: "/"), UInt8(ascii: "#"): "JSON has no comments."
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "_"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            "Put the key in double quotes."
        default: curlyQuoteHint
        }
    }

    var valueHint: String? {
        switch current {
        case UInt8(ascii: "}"), UInt8(ascii: "]"): "Give a value, or remove the comma before it."
        case UInt8(ascii: ","): "Give the value that is missing before the comma."
        case UInt8(ascii: "'"): "JSON takes double quotes only."
        case UInt8(ascii: "/"), UInt8(ascii: "#"): "JSON has no comments."
        case UInt8(ascii: "+"): "JSON numbers have no plus sign."
        case UInt8(ascii: "."): "Write a digit before the decimal point."
        case UInt8(ascii: "T"), UInt8(ascii: "F"), UInt8(ascii: "N"), UInt8(ascii: "u"):
            "JSON has the words `true`, `false` and `null`, in lower case."
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"):
            "Put text in double quotes."
        default: curlyQuoteHint
        }
    }

    var separatorHint: String? {
        switch current {
        case UInt8(ascii: "\""), UInt8(ascii: "{"), UInt8(ascii: "["): "A comma is missing."
        case UInt8(ascii: "/"), UInt8(ascii: "#"): "JSON has no comments."
        case 0 where position == bytes.count: "The text was probably cut."
        default: nil
        }
    }

    var trailingHint: String? {
        switch current {
        case UInt8(ascii: "}"), UInt8(ascii: "]"): "There is one closing bracket too many."
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            "A body is one JSON text; send one push for each."
        case 0: "Remove the zero byte: it comes from a C string."
        default: nil
        }
    }

    private var curlyQuoteHint: String? {
        // U+2018 to U+201F are the curly quotes of word processors.
        guard position + 2 < bytes.count, bytes[position] == 0xe2, bytes[position + 1] == 0x80,
            (0x98...0x9f).contains(bytes[position + 2])
        else { return nil }
        return "Use straight double quotes, not typographic ones."
    }

    /// The JSON pointer of the innermost open container, or of the member whose key has been read.
    private var pointerOfOpenPlace: String {
        var chain: [Int] = []
        var container = openContainer
        while container >= 0 {
            chain.append(Int(container))
            container = nodes[Int(container)].next
        }
        chain.reverse()
        var pointer = ""
        for (depth, container) in chain.enumerated() {
            let isInnermost = depth + 1 == chain.count
            let stop = isInnermost ? nodes.count : chain[depth + 1]
            pointer += component(of: stop, inOpen: container, isInnermost: isInnermost)
        }
        return pointer
    }

    /// The step from an open container to its child `stop`; none where the innermost container has
    /// no key that still waits for its value.
    private func component(of stop: Int, inOpen container: Int, isInnermost: Bool) -> String {
        var child = container + 1
        var index = 0
        while child < stop {
            if nodes[container].kind == .object {
                guard child + 1 < stop else {
                    return "/" + JSONPointer.component(forKey: nodes[child], in: bytes)
                }
                child += 1
            }
            child = Int(nodes[child].next)
            index += 1
        }
        return isInnermost ? "" : "/\(index)"
    }
}
