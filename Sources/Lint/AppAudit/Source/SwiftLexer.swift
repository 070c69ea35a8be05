// SPDX-License-Identifier: Apache-2.0

/// A token of source text.
struct SwiftToken: Hashable, Sendable {
    /// The kind of a token.
    enum Kind: Hashable, Sendable {
        /// A name or a keyword.
        case name
        case number
        /// A string literal; its text is the value without interpolations.
        case string(isInterpolated: Bool)
        /// `#if`, `#else` and similar, without the `#`.
        case directive
        /// An operator, a bracket or a separator. An interpolation starts with `\(` and ends with
        /// `)`.
        case mark
    }

    /// The kind of the token.
    let kind: Kind
    /// The text; the value of a string literal.
    let text: String
    /// The position of its start.
    let position: TextCursor.Position
    /// Whether it is in conditional compilation.
    let isConditional: Bool

    /// Whether this is a name or a keyword.
    var isName: Bool { kind == .name }

    /// Whether it is a string literal.
    var isString: Bool { if case .string = kind { true } else { false } }

    /// Whether this is the given mark.
    func isMark(_ mark: String) -> Bool { kind == .mark && text == mark }

    /// Whether this is the given name.
    func isName(_ name: String) -> Bool { kind == .name && text == name }
}

/// Splits source text in Swift or Objective-C into tokens. Comments are omitted; a string literal
/// is one token, followed by the tokens of its interpolations.
///
/// Invalid text never fails; its tokens are unspecified.
struct SwiftLexer {
    private var cursor: TextCursor
    private var tokens: [SwiftToken] = []
    private var conditionDepth = 0
    private let isObjectiveC: Bool

    private init(_ bytes: [UInt8], isObjectiveC: Bool) {
        cursor = TextCursor(bytes)
        self.isObjectiveC = isObjectiveC
        // A token takes seven bytes of usual text with the blanks around it.
        tokens.reserveCapacity(bytes.count / 7)
    }

    /// The tokens of a text.
    static func tokens(of bytes: [UInt8], isObjectiveC: Bool = false) -> [SwiftToken] {
        var lexer = SwiftLexer(bytes, isObjectiveC: isObjectiveC)
        lexer.run(untilParenthesis: false, depth: 0)
        return lexer.tokens
    }

    /// Reads to the end of the text, or to the parenthesis that ends an interpolation.
    private mutating func run(untilParenthesis: Bool, depth: Int) {
        var open = 0
        while !cursor.isAtEnd {
            skipBlanks()
            guard !cursor.isAtEnd else { return }
            let byte = cursor.byte
            if untilParenthesis {
                if byte == UInt8(ascii: "(") { open += 1 }
                if byte == UInt8(ascii: ")") {
                    if open == 0 { return }
                    open -= 1
                }
            }
            readToken(byte, depth: depth)
        }
    }

    private mutating func readToken(_ byte: UInt8, depth: Int) {
        let start = cursor.position
        switch byte {
        case UInt8(ascii: "\""): readLiteral(hashes: 0, depth: depth)
        case UInt8(ascii: "#"):
            if isObjectiveC { readDirective() } else { readHash(depth: depth) }
        // Objective-C string literals are the same tokens as in Swift.
        case UInt8(ascii: "@") where isObjectiveC && cursor.byte(ahead: 1) == UInt8(ascii: "\""):
            cursor.advance()
        case UInt8(ascii: "'") where isObjectiveC: skipCharacter()
        case UInt8(ascii: "`"):
            cursor.advance()
            let name = cursor.take { $0 != UInt8(ascii: "`") && $0 != 0x0a }
            cursor.advance()
            add(.name, String(decoding: name, as: UTF8.self), start)
        case UInt8(ascii: "0")...UInt8(ascii: "9"):
            add(
                .number, String(decoding: cursor.take(while: Self.isNameByte), as: UTF8.self), start
            )
        case _ where Self.isNameByte(byte):
            add(.name, String(decoding: cursor.take(while: Self.isNameByte), as: UTF8.self), start)
        case UInt8(ascii: "/") where !isObjectiveC && startsRegularExpression():
            cursor.advance(by: (endOfRegularExpression ?? 0) + 1)
        case _ where Self.isOperatorByte(byte):
            readOperator(start)
        default:
            cursor.advance()
            add(.mark, String(Character(Unicode.Scalar(byte))), start)
        }
    }

    private mutating func add(
        _ kind: SwiftToken.Kind, _ text: String, _ position: TextCursor.Position
    ) {
        tokens.append(
            SwiftToken(
                kind: kind, text: text, position: position, isConditional: conditionDepth > 0))
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"),
            0x80...0xff:
            true
        default: false
        }
    }

    private static func isOperatorByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "="), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "!"),
            UInt8(ascii: "*"), UInt8(ascii: "%"), UInt8(ascii: "<"), UInt8(ascii: ">"),
            UInt8(ascii: "&"), UInt8(ascii: "|"), UInt8(ascii: "^"), UInt8(ascii: "~"),
            UInt8(ascii: "?"), UInt8(ascii: "/"):
            true
        default: false
        }
    }

    private mutating func readOperator(_ start: TextCursor.Position) {
        let from = cursor.offset
        while Self.isOperatorByte(cursor.byte), !cursor.isAtEnd {
            // A comment ends an operator.
            if cursor.offset > from, cursor.sees("//") || cursor.sees("/*") { break }
            cursor.advance()
        }
        add(.mark, String(decoding: cursor.bytes[from..<cursor.offset], as: UTF8.self), start)
    }

    // MARK: Blanks and directives

    private mutating func skipBlanks() {
        while true {
            _ = cursor.take { $0 <= 0x20 }
            if cursor.sees("//") {
                _ = cursor.take { $0 != 0x0a && $0 != 0x0d }
            } else if cursor.sees("/*") {
                skipBlockComment()
            } else {
                return
            }
        }
    }

    /// Skips a C character literal, such as `'"'`.
    private mutating func skipCharacter() {
        cursor.advance()
        while !cursor.isAtEnd, cursor.byte != UInt8(ascii: "'"), cursor.byte != 0x0a {
            cursor.advance(by: cursor.byte == UInt8(ascii: "\\") ? 2 : 1)
        }
        cursor.advance()
    }

    /// Reads a C directive: its name if it is a condition; the rest of its lines is skipped.
    private mutating func readDirective() {
        let start = cursor.position
        cursor.advance()
        _ = cursor.take { $0 == 0x20 || $0 == 0x09 }
        var name = String(decoding: cursor.take(while: Self.isNameByte), as: UTF8.self)
        if name == "ifdef" || name == "ifndef" { name = "if" }
        if name == "if" { conditionDepth += 1 }
        if ["if", "elif", "else", "endif"].contains(name) { add(.directive, name, start) }
        if name == "endif" { conditionDepth = max(0, conditionDepth - 1) }
        while !cursor.isAtEnd, cursor.byte != 0x0a {
            if cursor.sees("//") || cursor.sees("/*") { return }
            cursor.advance(by: cursor.byte == UInt8(ascii: "\\") ? 2 : 1)
        }
    }

    private mutating func skipBlockComment() {
        var depth = 0
        repeat {
            if cursor.sees("/*"), depth == 0 || !isObjectiveC, cursor.take("/*") {
                depth += 1
            } else if cursor.take("*/") {
                depth -= 1
            } else {
                cursor.advance()
            }
        } while depth > 0 && !cursor.isAtEnd
    }

    private mutating func readHash(depth: Int) {
        let start = cursor.position
        var hashes = 0
        while cursor.byte(ahead: hashes) == UInt8(ascii: "#") { hashes += 1 }
        if cursor.byte(ahead: hashes) == UInt8(ascii: "\"") {
            cursor.advance(by: hashes)
            readLiteral(hashes: hashes, depth: depth)
            return
        }
        if cursor.byte(ahead: hashes) == UInt8(ascii: "/") {
            skipRegularExpression(hashes: hashes)
            return
        }
        cursor.advance()
        let name = String(decoding: cursor.take(while: Self.isNameByte), as: UTF8.self)
        if name == "if" { conditionDepth += 1 }
        add(.directive, name, start)
        if name == "endif" { conditionDepth = max(0, conditionDepth - 1) }
    }

    /// Skips `#/…/#`, which no rule needs.
    private mutating func skipRegularExpression(hashes: Int) {
        cursor.advance(by: hashes + 1)
        while !cursor.isAtEnd {
            if cursor.byte == UInt8(ascii: "/"),
                (1...hashes).allSatisfy({ cursor.byte(ahead: $0) == UInt8(ascii: "#") })
            {
                cursor.advance(by: hashes + 1)
                return
            }
            cursor.advance()
        }
    }

    /// Whether a slash begins a regular expression, `/…/`: it stands where a value may begin, and
    /// another slash ends it on its line (The Swift Programming Language, Lexical Structure).
    private func startsRegularExpression() -> Bool {
        let next = cursor.byte(ahead: 1)
        // `reduce(8, /)`
        guard next > 0x20, !"/*),]".utf8.contains(next) else { return false }
        guard let last = tokens.last else { return false }
        switch last.kind {
        case .mark: guard !["}", ")", "]", "!", "?"].contains(last.text) else { return false }
        case .name: guard ["return", "in", "case"].contains(last.text) else { return false }
        default: return false
        }
        return endOfRegularExpression != nil
    }

    /// The distance to the slash that ends a regular expression on this line; `nil` if there is
    /// none, or if it would close a parenthesis that it does not open.
    private var endOfRegularExpression: Int? {
        var ahead = 1
        var open = 0
        var isInSet = false
        while cursor.byte(ahead: ahead) >= 0x20 || cursor.byte(ahead: ahead) == 0x09 {
            switch cursor.byte(ahead: ahead) {
            case UInt8(ascii: "\\"):
                ahead += 1
                guard cursor.byte(ahead: ahead) >= 0x20 else { return nil }
            case UInt8(ascii: "["): isInSet = true
            case UInt8(ascii: "]"): isInSet = false
            case UInt8(ascii: "(") where !isInSet: open += 1
            case UInt8(ascii: ")") where !isInSet:
                open -= 1
                if open < 0 { return nil }
            case UInt8(ascii: "/"):
                let next = cursor.byte(ahead: ahead + 1)
                return next == UInt8(ascii: "/") || next == UInt8(ascii: "*") ? nil : ahead
            default: break
            }
            ahead += 1
        }
        return nil
    }

    // MARK: String literals

    private mutating func readLiteral(hashes: Int, depth: Int) {
        let start = cursor.position
        let isMultiline = cursor.sees("\"\"\"")
        let quotes = isMultiline ? 3 : 1
        cursor.advance(by: quotes)
        // The literal precedes the tokens of its interpolations.
        let index = tokens.count
        add(.string(isInterpolated: false), "", start)
        var value: [UInt8] = []
        var isInterpolated = false
        while !cursor.isAtEnd {
            if endsLiteral(quotes: quotes, hashes: hashes) {
                cursor.advance(by: quotes + hashes)
                break
            }
            // An unterminated single-line literal ends with its line.
            if !isMultiline, cursor.byte == 0x0a || cursor.byte == 0x0d { break }
            if cursor.byte == UInt8(ascii: "\\"), isFollowedByHashes(hashes) {
                cursor.advance(by: 1 + hashes)
                if !isObjectiveC, cursor.byte == UInt8(ascii: "("),
                    depth < AuditLimits.sourceDepth
                {
                    isInterpolated = true
                    readInterpolation(depth: depth, sign: hashes == 0 ? "\\(" : "\\#(")
                } else if !isObjectiveC, cursor.take("u{") {
                    let digits = cursor.take { $0 != UInt8(ascii: "}") && $0 > 0x20 }.prefix(8)
                    let number = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
                    if let scalar = number.flatMap(Unicode.Scalar.init) {
                        value += Array(String(Character(scalar)).utf8)
                    }
                    _ = cursor.take("}")
                } else {
                    value.append(Self.unescaped(cursor.byte))
                    cursor.advance()
                }
            } else {
                value.append(cursor.byte)
                cursor.advance()
            }
        }
        tokens[index] = SwiftToken(
            kind: .string(isInterpolated: isInterpolated),
            text: String(decoding: value, as: UTF8.self), position: start,
            isConditional: tokens[index].isConditional)
    }

    private mutating func readInterpolation(depth: Int, sign: String) {
        let start = cursor.position
        cursor.advance()
        add(.mark, sign, start)
        run(untilParenthesis: true, depth: depth + 1)
        add(.mark, ")", cursor.position)
        cursor.advance()
    }

    private func endsLiteral(quotes: Int, hashes: Int) -> Bool {
        for index in 0..<quotes where cursor.byte(ahead: index) != UInt8(ascii: "\"") {
            return false
        }
        for index in 0..<hashes where cursor.byte(ahead: quotes + index) != UInt8(ascii: "#") {
            return false
        }
        return true
    }

    private func isFollowedByHashes(_ hashes: Int) -> Bool {
        for index in 0..<hashes where cursor.byte(ahead: 1 + index) != UInt8(ascii: "#") {
            return false
        }
        return true
    }

    private static func unescaped(_ byte: UInt8) -> UInt8 {
        switch byte {
        case UInt8(ascii: "n"): 0x0a
        case UInt8(ascii: "t"): 0x09
        case UInt8(ascii: "r"): 0x0d
        default: byte
        }
    }
}
