// SPDX-License-Identifier: Apache-2.0

import OpenSSLCrypto

/// The characters of a new API key, which are shown once and then known by their digest only.
public struct KeySecret: Sendable, CustomStringConvertible {
    /// What every key begins with, so that scanners of repositories and logs can find a leaked one.
    public static let prefix = "rouse_"
    /// How many random bits a key has.
    static let bitCount = 256

    /// The key itself.
    public let text: String

    /// A key made from 256 random bits, given as four words.
    public init(_ words: (UInt64, UInt64, UInt64, UInt64)) {
        var bytes: [UInt8] = []
        // Capacity for all bytes: an array that grows leaves its old bytes in freed memory.
        bytes.reserveCapacity(Self.bitCount / 8)
        defer { bytes.cleanse() }
        for word in [words.0, words.1, words.2, words.3] {
            for place in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: word >> (8 * place))) }
        }
        text = Self.prefix + Self.base62(bytes)
    }

    /// The SHA-256 of the key, in hexadecimal, as configurations and key files hold it.
    public var sha256: String {
        var bytes = Array(text.utf8)
        defer { bytes.cleanse() }
        return Self.hex(SHA256.digest(of: bytes))
    }

    /// Bytes in hexadecimal.
    static func hex(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }

    /// Not the key.
    public var description: String { "an API key" }

    /// The bytes as one number in the 62 letters and digits, so that a double click takes a whole
    /// key. Always 43 characters, the least that hold 256 bits.
    private static func base62(_ bytes: [UInt8]) -> String {
        let letters = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
        var number = bytes
        var digits: [UInt8] = []
        digits.reserveCapacity(43)
        defer {
            number.cleanse()
            digits.cleanse()
        }
        for _ in 0..<43 {
            var remainder = 0
            for index in number.indices {
                let value = remainder << 8 | Int(number[index])
                number[index] = UInt8(value / letters.count)
                remainder = value % letters.count
            }
            digits.append(letters[remainder])
        }
        digits.reverse()
        return String(decoding: digits, as: UTF8.self)
    }
}
