// SPDX-License-Identifier: Apache-2.0

/// The fix of one finding: edits of the payload that belong together.
public struct Repair: Hashable, Sendable {
    /// One replacement of bytes.
    public struct Edit: Hashable, Sendable {
        /// The offsets in bytes of what is replaced; empty where something is put in.
        public var range: Range<Int>
        /// What takes its place; empty where something is taken out.
        public var replacement: [UInt8]

        /// Creates a replacement.
        public init(range: Range<Int>, replacement: [UInt8]) {
            self.range = range
            self.replacement = replacement
        }
    }

    /// The edits, in the order of their places, without overlaps.
    public var edits: [Edit]
    /// Whether the payload then says what it was meant to say. `false` where the edit removes
    /// something or changes what the push does, such as visible keys taken out of a background
    /// push: a person should look.
    public var isSafe: Bool

    /// Creates a repair.
    public init(edits: [Edit], isSafe: Bool) {
        self.edits = edits.sorted { $0.range.lowerBound < $1.range.lowerBound }
        self.isSafe = isSafe
    }
}
