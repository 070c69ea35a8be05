// SPDX-License-Identifier: Apache-2.0

/// The value of a scalar in YAML 1.2's core schema (YAML 1.2.2 §10.3.2).
enum YAMLScalar: Hashable {
    case text(String)
    /// A number, Boolean or null, in JSON notation.
    case word(String)

    /// Reads a scalar: only a plain one without a tag can be other than text.
    init(_ scalar: YAMLNode.Scalar) {
        guard scalar.style == .plain else {
            self = .text(scalar.string)
            return
        }
        self.init(plain: scalar.string)
    }

    /// Reads a plain scalar.
    init(plain text: String) {
        switch text {
        case "", "~", "null", "Null", "NULL": self = .word("null")
        case "true", "True", "TRUE": self = .word("true")
        case "false", "False", "FALSE": self = .word("false")
        // Not valid in JSON, which the rules report.
        case ".nan", ".NaN", ".NAN": self = .word("NaN")
        case ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF": self = .word("Infinity")
        case "-.inf", "-.Inf", "-.INF": self = .word("-Infinity")
        default: self = Self.number(text).map { .word($0) } ?? .text(text)
        }
    }

    /// The value in JSON notation.
    var literal: String.UTF8View {
        switch self {
        case .text(let text): JSONLiteral.string(text).utf8
        case .word(let word): word.utf8
        }
    }

    /// A number in JSON notation: the same digits, without `+` and leading zeros, and with a zero
    /// before a leading point; `nil` if the text is not a number.
    private static func number(_ text: String) -> String? {
        if text.hasPrefix("0x") { return UInt64(text.dropFirst(2), radix: 16).map { "\($0)" } }
        if text.hasPrefix("0o") { return UInt64(text.dropFirst(2), radix: 8).map { "\($0)" } }
        var rest = text.utf8[...]
        let isNegative = rest.first == UInt8(ascii: "-")
        if isNegative || rest.first == UInt8(ascii: "+") { rest = rest.dropFirst() }
        let whole = digits(&rest)
        var fraction: Substring.UTF8View?
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            fraction = digits(&rest)
        }
        guard !whole.isEmpty || fraction?.isEmpty == false else { return nil }
        let exponent = rest
        guard rest.isEmpty || isExponent(rest) else { return nil }
        let significant = whole.drop { $0 == UInt8(ascii: "0") }
        var number = isNegative ? "-" : ""
        number += significant.isEmpty ? "0" : String(Substring(significant))
        if let fraction { number += "." + (fraction.isEmpty ? "0" : String(Substring(fraction))) }
        return number + String(Substring(exponent))
    }

    /// Removes and returns the leading digits of a text.
    private static func digits(_ text: inout Substring.UTF8View) -> Substring.UTF8View {
        let digits = text.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        text = text[digits.endIndex...]
        return digits
    }

    /// Whether a text is an exponent: `e`, an optional sign, digits.
    private static func isExponent(_ text: Substring.UTF8View) -> Bool {
        guard text.first == UInt8(ascii: "e") || text.first == UInt8(ascii: "E") else {
            return false
        }
        var rest = text.dropFirst()
        if rest.first == UInt8(ascii: "-") || rest.first == UInt8(ascii: "+") {
            rest = rest.dropFirst()
        }
        return !digits(&rest).isEmpty && rest.isEmpty
    }
}

extension YAMLNode {
    /// Whether it is a null, or a key's missing value, in the text.
    package var isNull: Bool {
        scalar.map { $0.style == .plain && YAMLScalar(plain: $0.string) == .word("null") } ?? false
    }

    /// A whole number; `_` may be between its digits.
    package var integer: Int? { numeral.flatMap { Int($0) } }

    /// A number; `_` may be between its digits.
    package var number: Double? { numeral.flatMap { Double($0) } }

    /// `true` or `false`, or a word that YAML 1.1 has for it.
    package var boolean: Bool? {
        guard let scalar, scalar.style != .text else { return nil }
        return switch scalar.string.lowercased() {
        case "true", "yes", "on": true
        case "false", "no", "off": false
        default: nil
        }
    }

    private var numeral: String? {
        guard let scalar, scalar.style != .text,
            case .word(let word) = YAMLScalar(plain: scalar.string.filter { $0 != "_" })
        else { return nil }
        return word
    }
}
