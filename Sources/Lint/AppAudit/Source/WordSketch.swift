// SPDX-License-Identifier: Apache-2.0

/// A few bits for each word of a text, which tell whether it may contain a word (a Bloom filter).
/// A word in ASCII that it contains is always found, and of others few are.
struct WordSketch: Sendable {
    /// The bits that stand for one word.
    private static let bitsPerWord: UInt32 = 4
    /// The bytes of source text for one bit: a file repeats most of its words.
    private static let bytesPerBit = 2
    /// The largest number of bits.
    private static let maximumBits = 1 << 17

    private var bits: [UInt64]

    private init(bitCount: Int) {
        bits = [UInt64](repeating: 0, count: min(bitCount, Self.maximumBits) / 64 + 1)
    }

    /// Creates a sketch for the words of a text, without any.
    init(forTextOf byteCount: Int) { self.init(bitCount: byteCount / Self.bytesPerBit) }

    /// Creates a sketch of some words.
    init(_ words: some Collection<[UInt8]>) {
        self.init(bitCount: words.count * 16)
        for word in words { insert(word.reduce(Self.start, Self.hash)) }
    }

    /// The hash of no letters.
    static let start: UInt64 = 0xcbf2_9ce4_8422_2325

    /// The hash of a word with one more letter (FNV-1a).
    static func hash(_ hash: UInt64, _ letter: UInt8) -> UInt64 {
        (hash ^ UInt64(letter)) &* 0x100_0000_01b3
    }

    /// Adds the word with this hash.
    mutating func insert(_ hash: UInt64) {
        for number in 0..<Self.bitsPerWord {
            let bit = place(number, hash)
            bits[bit >> 6] |= 1 << UInt64(bit & 63)
        }
    }

    /// Whether a text may contain the word with this hash.
    func mayContain(_ hash: UInt64) -> Bool {
        for number in 0..<Self.bitsPerWord {
            let bit = place(number, hash)
            guard bits[bit >> 6] & 1 << UInt64(bit & 63) != 0 else { return false }
        }
        return true
    }

    private func place(_ number: UInt32, _ hash: UInt64) -> Int {
        let mixed = (hash ^ hash >> 32) &* 0x9e37_79b9_7f4a_7c15
        let word = UInt32(truncatingIfNeeded: mixed >> 32)
        let step = UInt32(truncatingIfNeeded: mixed) | 1
        return Int((UInt64(word &+ number &* step) * UInt64(bits.count * 64)) >> 32)
    }
}
