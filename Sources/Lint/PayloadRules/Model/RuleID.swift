// SPDX-License-Identifier: Apache-2.0

/// A rule's stable name, such as `BG004`: its family and a number (facts §5.9).
public struct RuleID: RawRepresentable, Hashable, Sendable, Comparable,
    ExpressibleByStringLiteral, CustomStringConvertible
{
    /// The name.
    public let rawValue: String

    /// Makes an id from its text. Nothing is checked; ``Rules/rule(_:)`` says whether it exists.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Makes an id from a literal.
    public init(stringLiteral value: String) { self.init(rawValue: value) }

    /// Orders by text.
    public static func < (left: RuleID, right: RuleID) -> Bool { left.rawValue < right.rawValue }

    /// The name.
    public var description: String { rawValue }
}
