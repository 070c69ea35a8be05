// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// A bearer key that the API takes, known by its digest only.
public struct APIKey: Hashable, Sendable, CustomStringConvertible {
    /// What the key is called in logs.
    public let name: String
    /// The SHA-256 of the key, 32 bytes.
    let digest: [UInt8]

    /// A key by the SHA-256 of its characters in UTF-8, in hexadecimal.
    ///
    /// Throws ``WakeModel/InvalidField`` when `name` is empty or `sha256` is no such digest.
    public init(name: String, sha256: some StringProtocol) throws(InvalidField) {
        guard !name.isEmpty else {
            throw InvalidField(
                field: "api key name", problem: "is empty",
                remedy: "Name the program that uses the key.")
        }
        guard let digest = Self.bytes(hex: sha256), digest.count == SHA256.byteCount else {
            throw InvalidField(
                field: "api key sha256", problem: "is not 64 hexadecimal digits",
                remedy: "Give the output of: printf %s \"$KEY\" | sha256sum")
        }
        self.name = name
        self.digest = digest
    }

    /// The name alone.
    public var description: String { name }

    /// The key among `keys` whose digest is that of `secret`; every key is compared in whole, so
    /// that the time taken tells nothing of where a difference lies.
    static func match(_ secret: Substring, among keys: [APIKey]) -> APIKey? {
        let digest = SHA256.digest(of: Array(secret.utf8))
        var found: APIKey?
        for key in keys {
            var difference: UInt8 = 0
            for index in 0..<SHA256.byteCount { difference |= digest[index] ^ key.digest[index] }
            if difference == 0 { found = key }
        }
        return found
    }

    private static func bytes(hex: some StringProtocol) -> [UInt8]? {
        let digits = hex.utf8.map { digit -> UInt8? in
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
            default: nil
            }
        }
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[index], let low = digits[index + 1] else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }
}
