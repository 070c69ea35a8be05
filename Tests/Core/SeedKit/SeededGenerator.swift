// SPDX-License-Identifier: Apache-2.0

internal import WakeModel

/// Numbers from a seed: the same seed gives the same numbers on every machine. A test prints its
/// seed where it can fail.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var bits: SplitMix64

    package init(seed: UInt64) { bits = SplitMix64(seed: seed) }

    package mutating func next() -> UInt64 { bits.next() }

    /// A number from 0 to below `limit`, which is positive.
    package mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &self) }

    /// One of the elements, of which there is one at least.
    package mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[below(elements.count)]
    }

    /// True once in so many times.
    package mutating func chance(oneIn count: Int) -> Bool { below(count) == 0 }
}
