// SPDX-License-Identifier: Apache-2.0

/// JSON literals.
enum JSONLiteral {
    /// A string literal. Control characters are escaped.
    static func string(_ text: String) -> String {
        var literal = "\""
        literal.reserveCapacity(text.utf8.count + 2)
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": literal += "\\\""
            case "\\": literal += "\\\\"
            case "\n": literal += "\\n"
            case "\r": literal += "\\r"
            case "\t": literal += "\\t"
            case _ where Excerpt.isControl(scalar): literal += escape(scalar)
            default: literal.unicodeScalars.append(scalar)
            }
        }
        literal += "\""
        return literal
    }

    private static func escape(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
}
