// SPDX-License-Identifier: Apache-2.0

/// One entry of a document's tape: a value, or the key of an object's member.
///
/// A tape lists the nodes in the order of the text. The nodes of a container follow it; each member
/// of an object is a key node followed by the nodes of its value. ``next`` leads over a whole
/// subtree, so that a walk needs neither recursion nor a stack. 16 bytes, so that a typical payload
/// fits into a few cache lines.
package struct JSONNode: Hashable, Sendable {
    /// What a node is.
    package enum Kind: UInt8, Hashable, Sendable, CaseIterable {
        case object
        case array
        case key
        case string
        case number
        case trueLiteral
        case falseLiteral
        case null
    }

    /// What the scanner saw inside a string or a number.
    package struct Traits: OptionSet, Hashable, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// A string with at least one escape: its text differs from its bytes.
        package static let escaped = Traits(rawValue: 1 << 0)
        /// A string with a surrogate escape that has no partner.
        package static let loneSurrogate = Traits(rawValue: 1 << 1)
        /// A string with a `\u` escape for a character that could have been written verbatim.
        package static let avoidableEscape = Traits(rawValue: 1 << 2)
        /// A number with a fraction or an exponent.
        package static let notInteger = Traits(rawValue: 1 << 3)
        /// An integer outside ±(2^53 − 1), or a number that may be beyond what a `Double` holds.
        package static let extremeNumber = Traits(rawValue: 1 << 4)
    }

    /// The offset in bytes of the first byte, the opening quote or bracket included.
    package var start: Int32
    /// The offset in bytes behind the last byte, the closing quote or bracket included.
    package var end: Int32
    /// The index of the node behind this one's subtree. While the scanner has a container open, the
    /// index of the container around it instead, −1 for none.
    package var next: Int32
    /// What the node is.
    package var kind: Kind
    /// What is special about it.
    package var traits: Traits
}
