// SPDX-License-Identifier: Apache-2.0

extension JSONScanner {
    /// The largest integer that every parser holds exactly: 2^53 − 1 (RFC 8259 §6).
    static let maximumSafeInteger: UInt64 = 9_007_199_254_740_991

    /// Reads a number. Its text stays as it is: 1, 1.0 and 1e0 are three different numbers here.
    mutating func scanNumber() throws(JSONSyntaxError) {
        let start = position
        if current == UInt8(ascii: "-") { position += 1 }
        let firstDigit = position
        if current == UInt8(ascii: "0") {
            position += 1
            guard !isDigit(current) else {
                throw unexpected(
                    "the end of the number", hint: "JSON numbers have no leading zeros.")
            }
        } else {
            try skipDigits("a digit")
        }
        let integerEnd = position
        var traits: JSONNode.Traits = []
        if current == UInt8(ascii: ".") {
            position += 1
            traits.insert(.notInteger)
            try skipDigits("a digit after the decimal point")
        }
        var exponent = 0
        if current | 0x20 == UInt8(ascii: "e") {
            position += 1
            traits.insert(.notInteger)
            exponent = try scanExponent()
        }
        let isExtreme =
            traits.contains(.notInteger)
            ? integerEnd - firstDigit + exponent > 308
            : isOutsideSafeRange(firstDigit..<integerEnd)
        if isExtreme { traits.insert(.extremeNumber) }
        append(.number, from: start, to: position, traits: traits)
    }

    /// The exponent, held at ±1 000 000: only its being far out of range matters.
    private mutating func scanExponent() throws(JSONSyntaxError) -> Int {
        let isNegative = current == UInt8(ascii: "-")
        if isNegative || current == UInt8(ascii: "+") { position += 1 }
        let start = position
        try skipDigits("a digit of the exponent")
        var value = 0
        for index in start..<position where value < 1_000_000 {
            value = value * 10 + Int(bytes[index] - UInt8(ascii: "0"))
        }
        value = min(value, 1_000_000)
        return isNegative ? -value : value
    }

    private mutating func skipDigits(_ expected: StaticString) throws(JSONSyntaxError) {
        guard isDigit(current) else { throw unexpected(expected) }
        while isDigit(current) { position += 1 }
    }

    private func isDigit(_ byte: UInt8) -> Bool {
        byte &- UInt8(ascii: "0") < 10
    }

    private func isOutsideSafeRange(_ digits: Range<Int>) -> Bool {
        guard digits.count >= 16 else { return false }
        guard digits.count == 16 else { return true }
        let value = digits.reduce(UInt64(0)) { $0 * 10 + UInt64(bytes[$1] - UInt8(ascii: "0")) }
        return value > Self.maximumSafeInteger
    }
}
