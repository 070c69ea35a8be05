// SPDX-License-Identifier: Apache-2.0

extension Collection where Element == Double {
    /// The middle one; between the two in the middle when there are two. 0 for none.
    var median: Double {
        let sorted = sorted()
        guard !sorted.isEmpty else { return 0 }
        let upper = sorted.count / 2
        return sorted.count.isMultiple(of: 2)
            ? (sorted[upper - 1] + sorted[upper]) / 2 : sorted[upper]
    }
}

extension Array where Element == UInt32 {
    /// The value that this part of all do not exceed; the array must be sorted. 0 for none.
    func percentile(_ part: Double) -> UInt32 {
        guard !isEmpty else { return 0 }
        let rank = Int((part * Double(count)).rounded(.up))
        return self[Swift.min(count, Swift.max(1, rank)) - 1]
    }
}
