// SPDX-License-Identifier: Apache-2.0

/// The value of `apns-id`: a UUID in its canonical lower-case form, 8-4-4-4-12 (rule H009).
///
/// Rouse always chooses it itself, so that every attempt of one push carries the same id and a
/// resend can be recognised in any log.
public struct APNsID: Hashable, Sendable {
    /// The UUID's first eight bytes, big-endian.
    public let high: UInt64
    /// The UUID's last eight bytes, big-endian.
    public let low: UInt64

    /// A version 4, variant 1 UUID (RFC 9562 §5.4) from 128 random bits of the caller; six of them
    /// are overwritten by version and variant.
    public init(entropy high: UInt64, _ low: UInt64) {
        self.high = (high & ~0xf000) | 0x4000
        self.low = (low & 0x3fff_ffff_ffff_ffff) | 0x8000_0000_0000_0000
    }

    /// The id with exactly these bits, as ``high`` and ``low`` return them.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Parses the 8-4-4-4-12 form. Upper-case digits are accepted and normalised.
    ///
    /// Throws ``InvalidField`` for anything else.
    public init(_ text: some StringProtocol) throws(InvalidField) { try self.init(String(text)) }

    /// Parses the 8-4-4-4-12 form, as the initializer that takes any text does: generic code is not
    /// specialized across modules.
    public init(_ text: String) throws(InvalidField) {
        var text = text
        guard let id = text.withUTF8({ APNsID(utf8: UnsafeRawBufferPointer($0)) }) else {
            throw InvalidField(
                field: "apns-id", problem: "is not a UUID",
                remedy: "Use the form 123e4567-e89b-42d3-a456-426614174000, or leave it out.")
        }
        self = id
    }

    /// The bytes of the text form: 32 hexadecimal digits and four hyphens.
    public static let textByteCount = 36

    /// Parses the 8-4-4-4-12 form in place; `nil` for anything else. A transport parses the id of
    /// every answer with it, without a string.
    public init?(utf8 text: UnsafeRawBufferPointer) {
        let hyphen = UInt8(ascii: "-")
        guard text.count == Self.textByteCount, text[8] == hyphen, text[13] == hyphen,
            text[18] == hyphen, text[23] == hyphen,
            let first = Self.word(of: Self.load(text, at: 0, UInt64.self)),
            let second = Self.word(of: Self.halves(text, at: 9, 14)),
            let third = Self.word(of: Self.halves(text, at: 19, 24)),
            let fourth = Self.word(of: Self.load(text, at: 28, UInt64.self))
        else { return nil }
        high = first << 32 | second
        low = third << 32 | fourth
    }

    /// Characters at a place, the first one in the lowest byte. The text has been checked to be as
    /// long as the form is.
    private static func load<Word: FixedWidthInteger & BitwiseCopyable>(
        _ text: UnsafeRawBufferPointer, at place: Int, _ type: Word.Type
    ) -> Word {
        // SAFETY: the places end with the text form at the latest, 28 and eight bytes being 36.
        Word(littleEndian: text.loadUnaligned(fromByteOffset: place, as: type))
    }

    private static func halves(
        _ text: UnsafeRawBufferPointer, at first: Int, _ second: Int
    ) -> UInt64 {
        UInt64(load(text, at: second, UInt32.self)) << 32
            | UInt64(load(text, at: first, UInt32.self))
    }

    /// The 32 bits that eight hexadecimal digits encode, the first digit in the lowest byte; `nil`
    /// if a character is not one. All eight are decoded together, because every answer's id is
    /// parsed here.
    private static func word(of characters: UInt64) -> UInt64? {
        let highBits: UInt64 = 0x8080_8080_8080_8080
        // The highest bit of each byte is the result of a comparison: the constants added set it
        // from the first character of a range, or from the first one after it. No sum overflows its
        // byte.
        guard characters & highBits == 0 else { return nil }
        let digits =
            (characters &+ 0x5050_5050_5050_5050) & ~(characters &+ 0x4646_4646_4646_4646)
            & highBits
        let lowered = characters | 0x2020_2020_2020_2020
        let letters =
            (lowered &+ 0x1f1f_1f1f_1f1f_1f1f) & ~(lowered &+ 0x1919_1919_1919_1919) & highBits
        guard digits | letters == highBits else { return nil }
        // "a" ends in 1, so that nine more make it ten.
        let values = (characters & 0x0f0f_0f0f_0f0f_0f0f) &+ (letters >> 7) &* 9
        var packed = values.byteSwapped
        packed = (packed | packed >> 4) & 0x00ff_00ff_00ff_00ff
        packed = (packed | packed >> 8) & 0x0000_ffff_0000_ffff
        return (packed | packed >> 16) & 0xffff_ffff
    }
}

extension APNsID: CustomStringConvertible {
    /// The canonical lower-case form, as it goes into the header.
    public var description: String {
        // SAFETY: `write` initializes exactly the bytes of the returned count.
        String(unsafeUninitializedCapacity: Self.textByteCount) { buffer in
            write(to: UnsafeMutableRawBufferPointer(buffer))
            return Self.textByteCount
        }
    }

    /// Calls `body` with the canonical form's bytes, without a string on the heap. It returns
    /// nothing, because generic code is not specialized across modules, and every push calls this.
    public func withUTF8(_ body: (UnsafeRawBufferPointer) -> Void) {
        withUnsafeTemporaryAllocation(byteCount: Self.textByteCount, alignment: 1) { buffer in
            write(to: buffer)
            body(UnsafeRawBufferPointer(buffer))
        }
    }

    /// Writes the canonical form to the first ``textByteCount`` bytes of `buffer`, which must have
    /// them.
    private func write(to buffer: UnsafeMutableRawBufferPointer) {
        precondition(buffer.count >= Self.textByteCount, "There is no room for an apns-id.")
        let hyphen = UInt8(ascii: "-")
        let (first, second) = (Self.digits(of: high >> 32), Self.digits(of: high))
        let (third, fourth) = (Self.digits(of: low >> 32), Self.digits(of: low))
        buffer.storeBytes(of: first.littleEndian, toByteOffset: 0, as: UInt64.self)
        Self.store(half: second, to: buffer, at: 9)
        Self.store(half: second >> 32, to: buffer, at: 14)
        Self.store(half: third, to: buffer, at: 19)
        Self.store(half: third >> 32, to: buffer, at: 24)
        buffer.storeBytes(of: fourth.littleEndian, toByteOffset: 28, as: UInt64.self)
        (buffer[8], buffer[13], buffer[18], buffer[23]) = (hyphen, hyphen, hyphen, hyphen)
    }

    private static func store(half: UInt64, to buffer: UnsafeMutableRawBufferPointer, at place: Int)
    {
        let digits = UInt32(truncatingIfNeeded: half)
        buffer.storeBytes(of: digits.littleEndian, toByteOffset: place, as: UInt32.self)
    }

    /// The eight hexadecimal digits of a word's lower half as characters, the first one in the
    /// lowest byte: all eight together, because every push's id is written here.
    private static func digits(of word: UInt64) -> UInt64 {
        var spread = UInt64(UInt32(truncatingIfNeeded: word).byteSwapped)
        spread = (spread | spread << 16) & 0x0000_ffff_0000_ffff
        spread = (spread | spread << 8) & 0x00ff_00ff_00ff_00ff
        let values = (spread >> 4 | spread << 8) & 0x0f0f_0f0f_0f0f_0f0f
        // One in each byte whose value is a letter: the sum with six is sixteen or above.
        let letters = (values &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        let fromDigitToLetter = UInt64(UInt8(ascii: "a") - UInt8(ascii: "0") - 10)
        return values &+ 0x3030_3030_3030_3030 &+ letters &* fromDigitToLetter
    }
}
