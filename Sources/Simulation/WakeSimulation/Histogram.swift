// SPDX-License-Identifier: Apache-2.0

/// A histogram of durations with buckets of 1/32 octave: exact below 64, within 1.6 % above.
///
/// Merging is commutative, so that a result does not depend on the distribution of work.
public struct Histogram: Hashable, Sendable {
    private static let bucketsPerOctave = 32

    private var counts: [UInt64] = []
    /// The number of values.
    public private(set) var count: UInt64 = 0

    /// Creates an empty histogram.
    public init() {}

    /// Adds a value; a negative one counts as 0.
    public mutating func add(_ value: Int64) {
        let bucket = Self.bucket(of: UInt64(max(0, value)))
        if bucket >= counts.count {
            counts.append(contentsOf: repeatElement(0, count: bucket + 1 - counts.count))
        }
        counts[bucket] += 1
        count += 1
    }

    /// Adds the values of another histogram.
    public mutating func merge(_ other: Histogram) {
        if other.counts.count > counts.count {
            counts.append(
                contentsOf: repeatElement(0, count: other.counts.count - counts.count))
        }
        for (bucket, number) in other.counts.enumerated() { counts[bucket] += number }
        count += other.count
    }

    /// The value that `percent` % of the values do not exceed; `nil` if there are none.
    public func percentile(_ percent: Int) -> Int64? {
        guard count > 0 else { return nil }
        let rank = max(1, (count * UInt64(max(0, min(percent, 100))) + 99) / 100)
        var seen: UInt64 = 0
        for (bucket, number) in counts.enumerated() {
            seen += number
            if seen >= rank { return Int64(Self.middle(of: bucket)) }
        }
        return nil
    }

    /// The number of values up to `value`, to the precision of the buckets.
    public func count(upTo value: Int64) -> UInt64 {
        guard value >= 0 else { return 0 }
        let last = Self.bucket(of: UInt64(value))
        return counts.prefix(last + 1).reduce(0, +)
    }

    /// The share of values up to `value`, to the precision of the buckets; `nil` if there are none.
    public func share(upTo value: Int64) -> Double? {
        count == 0 ? nil : Double(count(upTo: value)) / Double(count)
    }

    private static func bucket(of value: UInt64) -> Int {
        guard value >= 64 else { return Int(value) }
        // 64 is the first value of the first octave with buckets wider than 1.
        let octave = 63 - value.leadingZeroBitCount
        return (octave - 5) * bucketsPerOctave + Int(value >> UInt64(octave - 5))
    }

    private static func middle(of bucket: Int) -> UInt64 {
        guard bucket >= 64 else { return UInt64(bucket) }
        let octave = UInt64(bucket / bucketsPerOctave + 4)
        let mantissa = UInt64(bucket % bucketsPerOctave + bucketsPerOctave)
        return mantissa << (octave - 5) + 1 << (octave - 6)
    }
}
