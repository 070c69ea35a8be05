// SPDX-License-Identifier: Apache-2.0

/// Recognises a key that was probably meant to be one of Apple's.
enum NearMiss {
    /// A key longer than this is not compared: it is no slip of the hand.
    private static let maximumByteCount = 32

    /// The key that `text` nearly is: the same letters in another spelling (`content_available`,
    /// `contentAvailable`), or up to two slips of the hand away, one for keys of up to six letters.
    static func key(near text: ArraySlice<UInt8>) -> APSKey? {
        guard !text.isEmpty, text.count <= maximumByteCount else { return nil }
        let folded = letters(text)
        var best: (key: APSKey, distance: Int)?
        for key in APSKey.allCases {
            let name = letters(of: key.name)
            let limit = name.count <= 6 ? 1 : 2
            let distance = distance(folded, name)
            if distance <= limit, distance < best?.distance ?? .max { best = (key, distance) }
        }
        return best?.key
    }

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

    /// How many letters must be put in, left out, replaced or swapped with their neighbour to get
    /// from one text to the other (optimal string alignment).
    static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for (i, a) in left.enumerated() {
            var row = [i + 1]
            row.reserveCapacity(right.count + 1)
            for (j, b) in right.enumerated() {
                var best = min(last[j + 1] + 1, row[j] + 1, last[j] + (a == b ? 0 : 1))
                if i > 0, j > 0, a == right[j - 1], left[i - 1] == b {
                    best = min(best, beforeLast[j - 1] + 1)
                }
                row.append(best)
            }
            beforeLast = last
            last = row
        }
        return last[right.count]
    }
}
