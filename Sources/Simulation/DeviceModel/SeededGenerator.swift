// SPDX-License-Identifier: Apache-2.0

internal import WakeModel

/// A seeded random number generator: the same seed gives the same sequence on every platform and in
/// every version.
///
/// SplitMix64 (Steele, Lea and Flood, 2014). Its distributions use only integer arithmetic and
/// comparisons of fractions, so that no mathematical library affects a run.
public struct SeededGenerator: RandomNumberGenerator, Hashable, Sendable {
    private var bits: SplitMix64

    /// Starts the sequence of a seed.
    public init(seed: UInt64) { bits = SplitMix64(seed: seed) }

    /// Starts one of many independent sequences of a seed, such as one for each device of a
    /// population.
    public init(seed: UInt64, stream: UInt64) {
        var mixer = SeededGenerator(seed: seed)
        var other = SeededGenerator(seed: stream ^ 0xd1b5_4a32_d192_ed03)
        bits = SplitMix64(seed: mixer.next() ^ other.next())
    }

    /// Returns the next 64 bits.
    public mutating func next() -> UInt64 { bits.next() }

    /// Returns a fraction in the half-open range 0–1, in steps of 2⁻⁵³.
    public mutating func fraction() -> Double { Double(next() >> 11) * 0x1p-53 }

    /// Returns `true` with this probability: never for 0 or less, always for 1 or more.
    public mutating func chance(_ probability: Double) -> Bool {
        if probability <= 0 { return false }
        return probability >= 1 || fraction() < probability
    }

    /// Returns a uniformly distributed integer in `range`.
    ///
    /// The bias of the multiplication is below 2⁻³² for the ranges in use (days in milliseconds).
    public mutating func integer(in range: ClosedRange<Int64>) -> Int64 {
        let span = UInt64(bitPattern: range.upperBound &- range.lowerBound)
        guard span < .max else { return Int64(bitPattern: next()) }
        let offset = next().multipliedFullWidth(by: span + 1).high
        return range.lowerBound &+ Int64(bitPattern: offset)
    }

    /// Returns a uniformly distributed fraction in `range`.
    public mutating func fraction(in range: ClosedRange<Double>) -> Double {
        range.lowerBound + fraction() * (range.upperBound - range.lowerBound)
    }

    /// Returns an exponentially distributed duration with this mean: the interval of a Poisson
    /// process.
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
