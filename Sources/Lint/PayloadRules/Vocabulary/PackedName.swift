// SPDX-License-Identifier: Apache-2.0

/// A short name in lower-case ASCII letters and digits, packed into one integer.
struct PackedName: Hashable, Sendable {
    /// The maximum length of a name, in bytes. No name of a ``Lexicon`` is longer.
    static let maximumByteCount = 16

    /// The bytes, the last one in the lowest bits. 0 for an empty name, and for one that is too
    /// long: no lexicon contains them.
    let bits: UInt128

    /// Packs a name, which must be in lower case.
    init(_ name: String) {
        let bits = name.utf8.reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
        self.init(lastBytes: bits, count: name.utf8.count)
    }

    /// Creates a name from the last `count` bytes of `lastBytes`.
    init(lastBytes: UInt128, count: Int) {
        switch count {
        case 1..<Self.maximumByteCount: bits = lastBytes & (1 &<< UInt128(8 * count) - 1)
        case Self.maximumByteCount: bits = lastBytes
        default: bits = 0
        }
    }
}

/// Reads a key or a short text as a name: `callUUID`, `call_uuid` and `CALL-UUID` are all
/// `calluuid`, with the words `call` and `uuid`.
struct NameReader {
    /// The last 16 letters and digits in lower case.
    private var lastBytes: UInt128 = 0
    private var count = 0
    private var wordStart = 0
    private var isWordOver = false
    private var wasSmall = false

    /// The last completed word.
    private(set) var finishedWord = PackedName(lastBytes: 0, count: 0)

    /// All letters and digits.
    var whole: PackedName { PackedName(lastBytes: lastBytes, count: count) }
    /// The current word.
    var word: PackedName { PackedName(lastBytes: lastBytes, count: count - wordStart) }
    /// Whether there are several words.
    var hasSeveralWords: Bool { wordStart > 0 }

    /// Reads one byte. Returns whether it started another word, so that ``finishedWord`` has
    /// changed. Separators end words; so does a change from lower case to upper case.
    @discardableResult
    mutating func read(_ byte: UInt8) -> Bool {
        var letter = byte
        var beginsWord = isWordOver
        if byte &- UInt8(ascii: "a") < 26 || byte &- UInt8(ascii: "0") < 10 || byte >= 0x80 {
            wasSmall = true
        } else if byte &- UInt8(ascii: "A") < 26 {
            letter |= 0x20
            beginsWord = beginsWord || wasSmall
            wasSmall = false
        } else {
            isWordOver = true
            wasSmall = false
            return false
        }
        if beginsWord {
            finishedWord = word
            wordStart = count
            isWordOver = false
        }
        lastBytes = lastBytes &<< 8 | UInt128(letter)
        count += 1
        return beginsWord
    }
}
