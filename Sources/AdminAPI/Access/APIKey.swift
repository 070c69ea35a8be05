// SPDX-License-Identifier: Apache-2.0

import Crypto
public import WakeModel

/// A bearer key that the API takes, known by its digest only.
///
/// A plain SHA-256 is enough because a key is 256 random bits (see ``KeySecret``): there is nothing
/// to guess, and a slow hash would let anybody keep the gateway busy with wrong keys.
public struct APIKey: Hashable, Sendable, CustomStringConvertible {
    /// The most characters of a name.
    public static let maximumNameLength = 64

    /// What the key is called in logs.
    public let name: String
    /// What it may do.
    public let scopes: Set<Scope>
    /// How many requests it may make; `nil` for the listener's usual rate.
    public let rate: RequestRate?
    /// The SHA-256 of the key, 32 bytes.
    let digest: [UInt8]

    /// A key by the SHA-256 of its characters in UTF-8, in hexadecimal.
    ///
    /// Throws ``WakeModel/InvalidField`` when `name` cannot stand in a log line, when there is no
    /// scope, or when `sha256` is no such digest.
    public init(
        name: String, sha256: some StringProtocol, scopes: Set<Scope> = Scope.usual,
        rate: RequestRate? = nil
    ) throws(InvalidField) {
        try Self.check(name: name)
        guard !scopes.isEmpty else {
            throw InvalidField(
                field: "api key scopes", problem: "is empty",
                remedy: "Name one or more of wake, read, device, admin.")
        }
        guard let digest = Self.bytes(hex: sha256), digest.count == SHA256.byteCount else {
            throw InvalidField(
                field: "api key sha256", problem: "is not 64 hexadecimal digits",
                remedy: "Give the output of: printf %s \"$KEY\" | sha256sum")
        }
        self.name = name
        self.digest = digest
        self.scopes = scopes
        self.rate = rate
    }

    /// The name alone.
    public var description: String { name }

    /// Throws for a name that is empty, too long, or has a character that is none of
    /// `A–Z a–z 0–9 . _ -`: it stands in logs and in digests.
    public static func check(name: String) throws(InvalidField) {
        guard !name.isEmpty, name.utf8.count <= maximumNameLength else {
            throw InvalidField(
                field: "api key name",
                problem: "does not have 1 to \(maximumNameLength) characters",
                remedy: "Name the program that uses the key.")
        }
        let isPlain = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "-"):
                true
            default: false
            }
        }
        guard isPlain else {
            throw InvalidField(
                field: "api key name", problem: "has other characters than letters, digits, . _ -",
                remedy: "Write it like orders-backend.")
        }
    }

    /// The key among `keys` whose digest is that of `secret`. Every key is compared in whole, so
    /// that the time taken tells nothing of where a difference lies, nor which key it was.
    static func match(_ secret: Substring, among keys: [APIKey]) -> APIKey? {
        let digest = Array(SHA256.hash(data: Array(secret.utf8)))
        var found: Int?
        for (index, key) in keys.enumerated() {
            var difference: UInt8 = 0
            for position in 0..<SHA256.byteCount {
                difference |= digest[position] ^ key.digest[position]
            }
            if difference == 0 { found = index }
        }
        return found.map { keys[$0] }
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
