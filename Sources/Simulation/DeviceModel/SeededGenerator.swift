// SPDX-License-Identifier: Apache-2.0

internal import WakeModel

/// Chance with a seed: the same seed gives the same sequence on every platform, for ever.
///
/// SplitMix64 (Steele, Lea and Flood, 2014). Its distributions use only integer arithmetic and
/// comparisons of fractions, so that no mathematical library can change a run.
public struct SeededGenerator: RandomNumberGenerator, Hashable, Sendable {
    private var bits: SplitMix64

    /// Begins the sequence of a seed.
    public init(seed: UInt64) { bits = SplitMix64(seed: seed) }

    /// Begins one of many sequences of a seed that have nothing to do with each other: one for
    /// each device of a population, for example.
    public init(seed: UInt64, stream: UInt64) {
        var mixer = SeededGenerator(seed: seed)
        var other = SeededGenerator(seed: stream ^ 0xd1b5_4a32_d192_ed03)
        bits = SplitMix64(seed: mixer.next() ^ other.next())
    }

    /// The next 64 bits.
    public mutating func next() -> UInt64 { bits.next() }

    /// A fraction from 0 up to, but not, 1, in steps of 2⁻⁵³.
    public mutating func fraction() -> Double { Double(next() >> 11) * 0x1p-53 }

    /// True with this probability; 0 and less never, 1 and more always.
    public mutating func chance(_ probability: Double) -> Bool {
        if probability <= 0 { return false }
        return probability >= 1 || fraction() < probability
    }

    /// A whole number from `range`, each as likely as the others.
    ///
    /// The bias of the multiplication is below 2⁻³² for the ranges in use (days in milliseconds).
    public mutating func integer(in range: ClosedRange<Int64>) -> Int64 {
        let span = UInt64(bitPattern: range.upperBound &- range.lowerBound)
        guard span < .max else { return Int64(bitPattern: next()) }
        let offset = next().multipliedFullWidth(by: span + 1).high
        return range.lowerBound &+ Int64(bitPattern: offset)
    }

    /// A fraction of `range`, evenly spread.
    public mutating func fraction(in range: ClosedRange<Double>) -> Double {
        range.lowerBound + fraction() * (range.upperBound - range.lowerBound)
    }

    /// A waiting time with this mean, exponentially distributed: the gaps of a Poisson process.
    ///
    /// Von Neumann's method ("Various techniques used in connection with random digits", 1951): the
    /// length of a falling run of fractions is odd with probability e^−x, where x is the first of
    /// them. Exact, and without a logarithm.
    public mutating func exponential(mean: Int64) -> Int64 {
        var whole = 0.0
        while true {
            let first = fraction()
            var last = first
            var isOdd = true
            while case let next = fraction(), next < last {
                last = next
                isOdd.toggle()
            }
            if isOdd { return Int64(Double(mean) * (whole + first)) }
            whole += 1
        }
    }
}
