// SPDX-License-Identifier: Apache-2.0

import OpenSSLCrypto

/// The secret of a new API key. It is shown once; only its digest is stored.
public struct KeySecret: Sendable, CustomStringConvertible {
    /// The prefix of every secret, by which secret scanners can find leaked ones.
    public static let prefix = "rouse_"
    /// The number of random bits of a secret.
    static let bitCount = 256

    /// The secret.
    public let text: String

    /// Creates a secret from 256 random bits.
    public init(_ words: (UInt64, UInt64, UInt64, UInt64)) {
        var bytes: [UInt8] = []
        // Reserves the capacity for all bytes, because an array that grows leaves copies in freed
        // memory.
        bytes.reserveCapacity(Self.bitCount / 8)
        defer { bytes.cleanse() }
        for word in [words.0, words.1, words.2, words.3] {
            for place in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: word >> (8 * place))) }
        }
        text = Self.prefix + Self.base62(bytes)
    }

    /// The SHA-256 of the secret in hexadecimal, as stored in configurations and key files.
    public var sha256: String {
        var bytes = Array(text.utf8)
        defer { bytes.cleanse() }
        return Self.hex(SHA256.digest(of: bytes))
    }

    /// Returns bytes in lowercase hexadecimal.
    static func hex(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }

    /// A constant text, so that the secret is never logged.
    public var description: String { "an API key" }

    /// Encodes the bytes as one number in base 62. Letters and digits only, so that a double click
    /// selects the whole secret. Always 43 characters, the minimum for 256 bits.
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
