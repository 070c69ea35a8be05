// SPDX-License-Identifier: Apache-2.0

/// The first place where a text stops being JSON: what was found, and what was expected.
package struct JSONSyntaxError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of fault, which decides the rule that reports it.
    package enum Category: Hashable, Sendable, CaseIterable {
        /// The grammar of RFC 8259 is broken (rule G001).
        case grammar
        /// The bytes are not UTF-8, or begin with a byte order mark (rule G005).
        case encoding
        /// NaN or Infinity as a number (rule G007).
        case notANumber
        /// Containers are nested more than ``JSONScanner/maximumDepth`` deep (G008).
        case depth
        /// The text has over ``JSONScanner/maximumByteCount`` bytes.
        case size
    }

    /// The kind of fault.
    package var category: Category
    /// Where: an offset in bytes, from 0 to the length of the text.
    package var offset: Int
    /// What was found, as a noun: "a line break".
    package var found: String
    /// What was expected, as a noun: "`,` or `}`".
    package var expected: String
    /// What the writer probably meant, as a sentence, where that can be guessed.
    package var hint: String?
    /// The JSON pointer of the place that the scanner was in.
    package var pointer: String

    /// Found and expected in one clause.
    package var description: String { "found \(found) where \(expected) was expected" }
}
