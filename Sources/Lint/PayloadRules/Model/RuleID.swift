// SPDX-License-Identifier: Apache-2.0

/// The stable id of a rule, such as `BG004`: its family and a number (facts §5.9).
public struct RuleID: RawRepresentable, Hashable, Sendable, Comparable,
    ExpressibleByStringLiteral, CustomStringConvertible
{
    /// The id.
    public let rawValue: String

    /// Creates an id without validation; ``Rules/rule(_:)`` returns whether it exists.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Creates an id from a literal.
    public init(stringLiteral value: String) { self.init(rawValue: value) }

    /// Orders ids as text.
    public static func < (left: RuleID, right: RuleID) -> Bool { left.rawValue < right.rawValue }

    /// The id.
    public var description: String { rawValue }
}
