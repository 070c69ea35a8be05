// SPDX-License-Identifier: Apache-2.0

/// The fix of a finding: edits of the payload that belong together.
public struct Repair: Hashable, Sendable {
    /// A replacement of bytes.
    public struct Edit: Hashable, Sendable {
        /// The range of the replaced bytes; empty for an insertion.
        public var range: Range<Int>
        /// The new bytes; empty for a removal.
        public var replacement: [UInt8]

        /// Creates a replacement.
        public init(range: Range<Int>, replacement: [UInt8]) {
            self.range = range
            self.replacement = replacement
        }
    }

    /// The edits, in order of place, without overlaps.
    public var edits: [Edit]
    /// Whether the edit does not change the intended meaning of the payload. `false` if it removes
    /// something or changes what the push does, such as the removal of visible keys from a
    /// background push: a person should review it.
    public var isSafe: Bool

    /// Creates a repair.
    public init(edits: [Edit], isSafe: Bool) {
        self.edits = edits.sorted { $0.range.lowerBound < $1.range.lowerBound }
        self.isSafe = isSafe
    }
}
