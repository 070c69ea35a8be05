// SPDX-License-Identifier: Apache-2.0

/// Recognises misspelt keys of Apple's.
enum NearMiss {
    /// The maximum length of a key that is compared, in bytes; a longer one is not a typing error.
    static let maximumByteCount = 32

    /// The letters of a key in lower case, without separators.
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

    /// Whether a key is another spelling of `content-available`, or has up to two typing errors.
    static func isNearContentAvailable(_ text: ArraySlice<UInt8>) -> Bool {
        guard !text.isEmpty, text.count <= maximumByteCount else { return false }
        return contentAvailable.distance(to: Letters(text)) != nil
    }

    private static let contentAvailable = KnownName(.contentAvailable)

    /// The number of letters to insert, delete, replace or swap with their neighbour to change one
    /// text to the other (optimal string alignment distance); `nil` if it is more than `limit`.
    static func distance(_ left: [UInt8], _ right: [UInt8], limit: Int) -> Int? {
        guard abs(left.count - right.count) <= limit else { return nil }
        // For two texts with one typing error, this leaves one or two letters.
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
            // Later rows are not smaller, except for one swap, which uses the row before the last.
            if least > limit + 1 { return nil }
            beforeLast = last
            last = row
        }
        return last[right.count] <= limit ? last[right.count] : nil
    }
}

/// The letters of a key.
private struct Letters {
    let bytes: [UInt8]
    /// One bit per letter; letters that differ by 64 share one.
    let present: UInt64

    init(_ text: ArraySlice<UInt8>) {
        bytes = NearMiss.letters(text)
        present = bytes.reduce(0) { $0 | 1 &<< UInt64($1 & 63) }
    }
}

/// One of Apple's keys, prepared for comparisons.
private struct KnownName {
    let key: APSKey
    let letters: Letters
    /// The number of allowed typing errors: one for keys of up to six letters, else two.
    let limit: Int

    init(_ key: APSKey) {
        self.key = key
        letters = key.name.withUTF8Buffer { Letters(ArraySlice($0)) }
        limit = letters.bytes.count <= 6 ? 1 : 2
    }

    /// Whether the keys can be similar, by their lengths and letters: a typing error changes the
    /// length by at most one, and removes and adds one letter.
    func isPossible(_ other: Letters) -> Bool {
        abs(other.bytes.count - letters.bytes.count) <= limit
            && (other.present ^ letters.present).nonzeroBitCount <= 2 * limit
    }

    /// The number of typing errors in a key; `nil` if there are too many.
    func distance(to other: Letters) -> Int? {
        guard isPossible(other) else { return nil }
        return NearMiss.distance(other.bytes, letters.bytes, limit: limit)
    }
}

/// Searches for the keys that the unknown keys of one document were meant to be, with bounded work.
///
/// Most keys differ from Apple's by their lengths and letters. Others are compared letter by
/// letter, at most ``comparisonCount`` times per document; after that only other spellings of
/// Apple's keys are recognised.
struct NearMissSearch {
    /// The maximum number of comparisons: enough for a payload of the maximum size with a typing
    /// error in each key.
    static let comparisonCount = 512

    private static let known = APSKey.allCases.map(KnownName.init)
    private static let spellings = Dictionary(
        uniqueKeysWithValues: known.map { ($0.letters.bytes, $0.key) })

    /// The number of remaining comparisons.
    private(set) var remaining = comparisonCount

    /// The key that `text` resembles: the same letters in another spelling (`content_available`,
    /// `contentAvailable`), or up to two typing errors, one for keys of up to six letters.
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
