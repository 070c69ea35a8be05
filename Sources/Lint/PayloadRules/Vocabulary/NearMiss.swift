// SPDX-License-Identifier: Apache-2.0

/// Recognises a key that was probably meant to be one of Apple's.
enum NearMiss {
    /// A key longer than this is not compared: it is no slip of the hand.
    static let maximumByteCount = 32

    /// What is left of a key when its spelling is set aside: no capitals, no separators.
    static func letters(_ text: ArraySlice<UInt8>) -> [UInt8] { text.compactMap(letter) }

    /// The letters of a name.
    static func letters(of name: StaticString) -> [UInt8] {
        name.withUTF8Buffer { letters(ArraySlice($0)) }
    }

    /// One letter in lower case; `nil` for a separator.
    static func letter(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte | 0x20
        case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: " "), UInt8(ascii: "."): nil
        default: byte
        }
    }

    /// Whether a key is another spelling of `content-available`, or up to two slips of the hand
    /// away from it.
    static func isNearContentAvailable(_ text: ArraySlice<UInt8>) -> Bool {
        guard !text.isEmpty, text.count <= maximumByteCount else { return false }
        return contentAvailable.distance(to: Letters(text)) != nil
    }

    private static let contentAvailable = KnownName(.contentAvailable)

    /// How many letters must be put in, left out, replaced or swapped with their neighbour to get
    /// from one text to the other (optimal string alignment); `nil` for more than `limit`.
    static func distance(_ left: [UInt8], _ right: [UInt8], limit: Int) -> Int? {
        guard abs(left.count - right.count) <= limit else { return nil }
        // Of two texts with one slip of the hand between them this leaves a letter or two.
        let shorter = min(left.count, right.count)
        var start = 0
        while start < shorter, left[start] == right[start] { start += 1 }
        var end = 0
        while end < shorter - start, left[left.count - 1 - end] == right[right.count - 1 - end] {
            end += 1
        }
        return bounded(
            Array(left[start..<left.count - end]), Array(right[start..<right.count - end]), limit)
    }

    private static func bounded(_ left: [UInt8], _ right: [UInt8], _ limit: Int) -> Int? {
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for (i, a) in left.enumerated() {
            var row = [i + 1]
            row.reserveCapacity(right.count + 1)
            var least = i + 1
            for (j, b) in right.enumerated() {
                var best = min(last[j + 1] + 1, row[j] + 1, last[j] + (a == b ? 0 : 1))
                if i > 0, j > 0, a == right[j - 1], left[i - 1] == b {
                    best = min(best, beforeLast[j - 1] + 1)
                }
                row.append(best)
                least = min(least, best)
            }
            // A later row is no smaller, except for one swap, which uses the row before the last.
            if least > limit + 1 { return nil }
            beforeLast = last
            last = row
        }
        return last[right.count] <= limit ? last[right.count] : nil
    }
}

/// The letters of a key, and which ones they are.
private struct Letters {
    let bytes: [UInt8]
    /// A bit for each letter; letters that differ by 64 share one.
    let present: UInt64

    init(_ text: ArraySlice<UInt8>) {
        bytes = NearMiss.letters(text)
        present = bytes.reduce(0) { $0 | 1 &<< UInt64($1 & 63) }
    }
}

/// One of Apple's keys, as a key of a document is compared with it.
private struct KnownName {
    let key: APSKey
    let letters: Letters
    /// How many slips of the hand are forgiven: one for keys of up to six letters, else two.
    let limit: Int

    init(_ key: APSKey) {
        self.key = key
        letters = key.name.withUTF8Buffer { Letters(ArraySlice($0)) }
        limit = letters.bytes.count <= 6 ? 1 : 2
    }

    /// Whether the keys can be near each other, by their lengths and by which letters they have: a
    /// slip of the hand changes the length by at most one, and takes away and adds one letter.
    func isPossible(_ other: Letters) -> Bool {
        abs(other.bytes.count - letters.bytes.count) <= limit
            && (other.present ^ letters.present).nonzeroBitCount <= 2 * limit
    }

    /// How many slips of the hand away a key is; `nil` for too many.
    func distance(to other: Letters) -> Int? {
        guard isPossible(other) else { return nil }
        return NearMiss.distance(other.bytes, letters.bytes, limit: limit)
    }
}

/// Looks for what the unknown keys of one document were meant to be, within a bound on its work.
///
/// Most keys are distinguished from Apple's by their lengths and letters alone. The others are
/// compared letter by letter; a document gets ``comparisonCount`` such comparisons, and after them
/// only other spellings of Apple's keys are recognised.
struct NearMissSearch {
    /// The most comparisons letter by letter: enough for a payload of the largest size that APNs
    /// takes with a slip of the hand in each of its keys.
    static let comparisonCount = 512

    private static let known = APSKey.allCases.map(KnownName.init)
    private static let spellings = Dictionary(
        uniqueKeysWithValues: known.map { ($0.letters.bytes, $0.key) })

    /// How many comparisons are left.
    private(set) var remaining = comparisonCount

    /// The key that `text` nearly is: the same letters in another spelling (`content_available`,
    /// `contentAvailable`), or up to two slips of the hand away, one for keys of up to six letters.
    mutating func key(near text: ArraySlice<UInt8>) -> APSKey? {
        guard !text.isEmpty, text.count <= NearMiss.maximumByteCount else { return nil }
        let letters = Letters(text)
        if let key = Self.spellings[letters.bytes] { return key }
        var best: (key: APSKey, distance: Int)?
        for name in Self.known where name.isPossible(letters) {
            guard remaining > 0 else { break }
            remaining -= 1
            guard let distance = name.distance(to: letters) else { continue }
            if distance < best?.distance ?? .max { best = (name.key, distance) }
        }
        return best?.key
    }
}
