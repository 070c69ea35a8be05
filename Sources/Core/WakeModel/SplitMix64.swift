// SPDX-License-Identifier: Apache-2.0

/// SplitMix64 (Steele, Lea and Flood, 2014): numbers that are evenly spread and follow from a seed
/// alone, the same on every machine. Not for secrets.
package struct SplitMix64: RandomNumberGenerator, Hashable, Sendable {
    private static let step: UInt64 = 0x9e37_79b9_7f4a_7c15

    private var state: UInt64

    /// Begins the sequence of a seed.
    package init(seed: UInt64) { state = seed }

    /// The next 64 bits.
    package mutating func next() -> UInt64 {
        state &+= Self.step
        return Self.mix(state)
    }

    /// The 64 bits at a place, counted from 0, in the sequence of a seed.
    package static func value(seed: UInt64, index: UInt64) -> UInt64 {
        mix(seed &+ (index &+ 1) &* step)
    }

    private static func mix(_ state: UInt64) -> UInt64 {
        var mixed = (state ^ (state >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
