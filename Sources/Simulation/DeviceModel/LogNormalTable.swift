// SPDX-License-Identifier: Apache-2.0

/// A log-normal distribution of durations, as a table of its quantiles.
///
/// It is computed from the median and the 95th percentile without a logarithm: the quantiles have a
/// constant ratio, an eighth root, and a square root is the same on every machine. The distribution
/// is linear between entries, and cut at the 0.05th and the 99.95th percentile.
struct LogNormalTable: Hashable, Sendable {
    /// The number of values per million below each entry: the normal distribution in steps of an
    /// eighth of 1.645 standard deviations, its 95th percentile.
    private static let millionths: [Int64] = [
        0, 1021, 1998, 3760, 6807, 11_859, 19_888, 32_124, 50_000, 75_040, 108_669, 151_967,
        205_417, 268_677, 340_458, 418_549, 500_000, 581_451, 659_542, 731_323, 794_583, 848_033,
        891_331, 924_960, 950_000, 967_876, 980_112, 988_141, 993_193, 996_240, 998_002, 998_979,
        1_000_000,
    ]

    private let quantiles: [Double]

    /// Creates the table for a median and a 95th percentile, in the unit of ``sample(using:)``.
    /// With a median of 0 all values are 0.
    init(median: Double, percentile95: Double) {
        let ratio = median > 0 ? max(1, percentile95 / median) : 1
        let step = ratio.squareRoot().squareRoot().squareRoot()
        var value = median / (ratio * ratio)
        quantiles = Self.millionths.map { _ in
            defer { value *= step }
            return value
        }
    }

    /// Draws a value.
    func sample(using generator: inout SeededGenerator) -> Int64 {
        let place = generator.integer(in: 0...999_999)
        var low = 0
        var high = Self.millionths.count - 1
        while high - low > 1 {
            let middle = (low + high) / 2
            if Self.millionths[middle] <= place { low = middle } else { high = middle }
        }
        let share =
            Double(place - Self.millionths[low])
            / Double(Self.millionths[high] - Self.millionths[low])
        return Int64(quantiles[low] + (quantiles[high] - quantiles[low]) * share)
    }
}
