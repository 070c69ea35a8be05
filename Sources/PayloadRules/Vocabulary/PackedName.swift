// SPDX-License-Identifier: Apache-2.0

/// A short name in lower-case ASCII letters and digits, packed into one integer.
struct PackedName: Hashable, Sendable {
    /// The longest name that can be packed, in bytes. No name of a ``Lexicon`` is longer.
    static let maximumByteCount = 16

    /// The bytes, the last one lowest. 0 for an empty name, and for one that is too long: neither
    /// is in any lexicon.
    let bits: UInt128

    /// Packs a whole name, which is in lower case already.
    init(_ name: String) {
        let bits = name.utf8.reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
        self.init(lastBytes: bits, count: name.utf8.count)
    }

    /// Takes the last `count` of the bytes in `lastBytes`.
    init(lastBytes: UInt128, count: Int) {
        switch count {
        case 1..<Self.maximumByteCount: bits = lastBytes & (1 << (8 * UInt128(count)) - 1)
        case Self.maximumByteCount: bits = lastBytes
        default: bits = 0
        }
    }
}

/// Reads a key or a short text as a name: `callUUID`, `call_uuid` and `CALL-UUID` are all
/// `calluuid`, made of the words `call` and `uuid`.
struct NameReader {
    /// The last 16 letters and digits in lower case.
    private var lastBytes: UInt128 = 0
    private var count = 0
    private var wordStart = 0
    private var isWordOver = false
    private var wasSmall = false

    /// All letters and digits.
    var whole: PackedName { PackedName(lastBytes: lastBytes, count: count) }
    /// The word that was read last.
    var word: PackedName { PackedName(lastBytes: lastBytes, count: count - wordStart) }
    /// Whether there are several words.
    var hasSeveralWords: Bool { wordStart > 0 }

    /// Reads one byte. Separators end words; so does the step from a small letter to a capital.
    /// Where the byte begins another word, returns the word before it.
    @discardableResult
    mutating func read(_ byte: UInt8) -> PackedName? {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), 0x80...:
            defer { wasSmall = true }
            return append(byte, beginsWord: isWordOver)
        case UInt8(ascii: "A")...UInt8(ascii: "Z"):
            defer { wasSmall = false }
            return append(byte | 0x20, beginsWord: isWordOver || wasSmall)
        default:
            isWordOver = true
            wasSmall = false
            return nil
        }
    }

    private mutating func append(_ byte: UInt8, beginsWord: Bool) -> PackedName? {
        let finished = beginsWord ? word : nil
        if beginsWord {
            wordStart = count
            isWordOver = false
        }
        lastBytes = lastBytes << 8 | UInt128(byte)
        count += 1
        return finished
    }
}
