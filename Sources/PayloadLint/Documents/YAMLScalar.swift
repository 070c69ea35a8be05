// SPDX-License-Identifier: Apache-2.0

import Yams

/// What a scalar stands for, by YAML 1.2's core schema (YAML 1.2.2 §10.3.2).
enum YAMLScalar: Hashable {
    case text(String)
    /// A number, boolean or null, as JSON writes it.
    case word(String)

    private static let textTags: Set = ["tag:yaml.org,2002:str", "!"]

    /// Reads a scalar: only a plain one without a tag can be anything but text.
    init(_ scalar: Node.Scalar) {
        guard scalar.style == .plain, !Self.textTags.contains(scalar.tag.rawValue) else {
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
        // Not JSON; the rules say so.
        case ".nan", ".NaN", ".NAN": self = .word("NaN")
        case ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF": self = .word("Infinity")
        case "-.inf", "-.Inf", "-.INF": self = .word("-Infinity")
        default: self = Self.number(text).map { .word($0) } ?? .text(text)
        }
    }

    /// The value as JSON writes it.
    var literal: String.UTF8View {
        switch self {
        case .text(let text): JSONLiteral.string(text).utf8
        case .word(let word): word.utf8
        }
    }

    /// A number as JSON writes it: the digits as they are, `+` and leading zeros taken away, a zero
    /// put before a point without one; `nil` for what is no number.
    private static func number(_ text: String) -> String? {
        if text.hasPrefix("0x") { return UInt64(text.dropFirst(2), radix: 16).map { "\($0)" } }
        if text.hasPrefix("0o") { return UInt64(text.dropFirst(2), radix: 8).map { "\($0)" } }
        guard let parts = text.wholeMatch(of: /([-+]?)([0-9]*)(\.[0-9]*)?([eE][-+]?[0-9]+)?/)
        else { return nil }
        let fraction = parts.output.3.map { $0.dropFirst() } ?? ""
        guard !parts.output.2.isEmpty || !fraction.isEmpty else { return nil }
        let whole = parts.output.2.drop { $0 == "0" }
        return (parts.output.1 == "-" ? "-" : "") + (whole.isEmpty ? "0" : whole)
            + (parts.output.3 == nil ? "" : "." + (fraction.isEmpty ? "0" : fraction))
            + (parts.output.4 ?? "")
    }
}
