// SPDX-License-Identifier: Apache-2.0

/// Just enough of Swift's lexical rules to tell code from comments and string literals.
enum SwiftLexer {
    /// The text with every character of a comment or a string literal replaced by a space; line
    /// breaks stay. Interpolated expressions count as part of their literal.
    static func code(of text: String) -> String {
        var lexer = Lexer(bytes: Array(text.utf8))
        return lexer.run()
    }

    private struct Lexer {
        let bytes: [UInt8]
        var position = 0
        var code: [UInt8] = []

        mutating func run() -> String {
            while position < bytes.count {
                if starts("//") {
                    blank { $0.starts("\n") }
                } else if starts("/*") {
                    blankBlockComment()
                } else if let hashes = literalHashes() {
                    blankLiteral(hashes: hashes)
                } else {
                    code.append(bytes[position])
                    position += 1
                }
            }
            return String(decoding: code, as: UTF8.self)
        }

        func starts(_ text: String) -> Bool { bytes[position...].starts(with: text.utf8) }

        mutating func blank(_ count: Int = 1) {
            for _ in 0..<count where position < bytes.count {
                code.append(bytes[position] == UInt8(ascii: "\n") ? bytes[position] : 0x20)
                position += 1
            }
        }

        mutating func blank(until isEnd: (Lexer) -> Bool) {
            while position < bytes.count, !isEnd(self) { blank() }
        }

        mutating func blankBlockComment() {
            var depth = 0
            repeat {
                if starts("/*") {
                    depth += 1
                    blank(2)
                } else if starts("*/") {
                    depth -= 1
                    blank(2)
                } else {
                    blank()
                }
            } while depth > 0 && position < bytes.count
        }

        /// How many `#` a string literal that begins here has; `nil` if none begins here.
        func literalHashes() -> Int? {
            let hashes = bytes[position...].prefix { $0 == UInt8(ascii: "#") }.count
            let quote = position + hashes
            return quote < bytes.count && bytes[quote] == UInt8(ascii: "\"") ? hashes : nil
        }

        mutating func blankLiteral(hashes: Int) {
            blank(hashes)
            let fence = starts("\"\"\"") ? "\"\"\"" : "\""
            let marks = String(repeating: "#", count: hashes)
            blank(fence.utf8.count)
            blank { lexer in lexer.starts(fence + marks) || lexer.starts("\\" + marks) }
            while position < bytes.count, !starts(fence + marks) {
                // An escape: its mark and the character behind it are no end of the literal.
                blank(1 + hashes)
                if starts("(") { blankInterpolation() } else { blank() }
                blank { lexer in lexer.starts(fence + marks) || lexer.starts("\\" + marks) }
            }
            blank(fence.utf8.count + hashes)
        }

        mutating func blankInterpolation() {
            var depth = 0
            repeat {
                if let hashes = literalHashes() {
                    blankLiteral(hashes: hashes)
                    continue
                }
                if starts("(") { depth += 1 }
                if starts(")") { depth -= 1 }
                blank()
            } while depth > 0 && position < bytes.count
        }
    }
}
