// SPDX-License-Identifier: Apache-2.0

/// Applies repairs.
public enum Repairs {
    /// Returns the bytes with the repairs applied in order. Bytes outside the edits do not change.
    ///
    /// A repair that overlaps an earlier one, or inserts at the same place, is skipped as a whole:
    /// check the result again and repeat (as ``PushValidator/repaired(_:includingUnsafe:)`` does).
    /// Equal repairs are applied once. A repair with a range outside the bytes is skipped.
    public static func apply(_ repairs: [Repair], to bytes: [UInt8]) -> [UInt8] {
        var edits: [Repair.Edit] = []
        for repair in repairs {
            let fits = repair.edits.enumerated().allSatisfy { index, edit in
                edit.range.lowerBound >= 0 && edit.range.upperBound <= bytes.count
                    && !edits.contains { touches($0.range, edit.range) }
                    && !repair.edits[..<index].contains { touches($0.range, edit.range) }
            }
            if fits { edits += repair.edits }
        }
        edits.sort { $0.range.lowerBound < $1.range.lowerBound }
        var mended: [UInt8] = []
        mended.reserveCapacity(bytes.count)
        var position = 0
        for edit in edits {
            mended += bytes[position..<edit.range.lowerBound]
            mended += edit.replacement
            position = edit.range.upperBound
        }
        mended += bytes[position...]
        return mended
    }

    /// Whether two edits conflict: they overlap, or one is an insertion at an end of the other, so
    /// that the order would matter.
    private static func touches(_ left: Range<Int>, _ right: Range<Int>) -> Bool {
        if left.isEmpty || right.isEmpty {
            return left.lowerBound <= right.upperBound && right.lowerBound <= left.upperBound
        }
        return left.overlaps(right)
    }
}
