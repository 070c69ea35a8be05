// SPDX-License-Identifier: Apache-2.0

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): a number that looks random and depends
/// on nothing but seed and index.
enum SplitMix64 {
    static func value(seed: UInt64, index: UInt64) -> UInt64 {
        var z = seed &+ (index &+ 1) &* 0x9e37_79b9_7f4a_7c15
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }

    /// From 0 up to, and never, 1.
    static func fraction(seed: UInt64, index: UInt64) -> Double {
        Double(value(seed: seed, index: index) >> 11) * 0x1p-53
    }
}
