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

    /// A version 4, variant 1 UUID (RFC 9562 §5.4) from 128 bits of entropy that the caller drew;
    /// six of them are overwritten by version and variant.
    public init(entropy high: UInt64, _ low: UInt64) {
        self.high = (high & ~0xf000) | 0x4000
        self.low = (low & 0x3fff_ffff_ffff_ffff) | 0x8000_0000_0000_0000
    }

    /// The id with exactly these bits; what ``high`` and ``low`` gave goes in again.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Parses the 8-4-4-4-12 form. Upper-case digits are taken and normalised.
    ///
    /// Throws ``InvalidField`` for anything else.
    public init(_ text: some StringProtocol) throws(InvalidField) { try self.init(String(text)) }

    /// Parses the 8-4-4-4-12 form, as the initializer that takes any text does. Answers of
    /// APNs go through this one: generic code is not specialized across modules, and reading an id
    /// by it was a third of what a request cost the stand-in.
    public init(_ text: String) throws(InvalidField) {
        var high: UInt64 = 0
        var low: UInt64 = 0
        var digits = 0
        var isWellFormed = text.utf8.count == 36
        for (index, character) in text.utf8.enumerated() where isWellFormed {
            if index == 8 || index == 13 || index == 18 || index == 23 {
                isWellFormed = character == UInt8(ascii: "-")
                continue
            }
            guard let value = Self.value(ofDigit: character) else {
                isWellFormed = false
                break
            }
            if digits < 16 { high = high << 4 | value } else { low = low << 4 | value }
            digits += 1
        }
        guard isWellFormed else {
            throw InvalidField(
                field: "apns-id", problem: "is not a UUID",
                remedy: "Use the form 123e4567-e89b-42d3-a456-426614174000, or leave it out.")
        }
        self.high = high
        self.low = low
    }

    private static func value(ofDigit character: UInt8) -> UInt64? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(character - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt64(character - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt64(character - UInt8(ascii: "A") + 10)
        default: nil
        }
    }
}

extension APNsID: CustomStringConvertible {
    /// The canonical lower-case form, as it goes into the header.
    public var description: String {
        // SAFETY: 36 is the capacity asked for, and the loop writes each of the 36 indices once: 32
        // digits and four hyphens.
        String(unsafeUninitializedCapacity: 36) { buffer in
            var digit = 0
            for index in 0..<36 {
                if index == 8 || index == 13 || index == 18 || index == 23 {
                    buffer[index] = UInt8(ascii: "-")
                    continue
                }
                let word = digit < 16 ? high : low
                let value = UInt8(truncatingIfNeeded: word >> UInt64(60 - 4 * (digit % 16))) & 0xf
                buffer[index] =
                    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") - 10 + value
                digit += 1
            }
            return 36
        }
    }
}
