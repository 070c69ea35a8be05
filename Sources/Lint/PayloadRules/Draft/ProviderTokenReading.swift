// SPDX-License-Identifier: Apache-2.0

import StrictJSON

/// The readable contents of `authorization` (facts §4.1). The signature is not verified, because
/// that requires the key.
struct ProviderTokenReading: Sendable {
    /// The form of the time of issue.
    enum IssueTime: Hashable, Sendable {
        case missing
        /// Not an integer, or absent.
        case notInteger
        /// Above 10^11 (the year 5138): milliseconds.
        case milliseconds
        case seconds(Int64)
    }

    /// The `alg` of the header, if it is a string.
    let algorithm: String?
    /// The `kid` of the header, if it is a string.
    let keyID: String?
    /// The `iss` of the claims, if it is a string.
    let issuer: String?
    /// The `iat` of the claims.
    let issuedAt: IssueTime
    /// Whether the `iat` is a string.
    let isIssueTimeText: Bool
    /// The length of the signature, in bytes.
    let signatureByteCount: Int
    /// Whether the signature looks like DER: a sequence of two integers of P-256's size.
    let hasDERSignature: Bool

    /// The maximum length of a token that is read, in characters. Tokens for APNs have about 200.
    private static let maximumCharacters = 8192
    /// A larger number is not in seconds: the year 5138.
    private static let latestSecond: Int64 = 100_000_000_000

    /// Reads the value after the scheme. Returns `nil` if it is not three parts in Base64url, the
    /// first two of them JSON objects (RFC 7515 §3.1).
    init?(_ text: Substring) {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard text.utf8.count <= Self.maximumCharacters, parts.count == 3,
            let header = Self.object(parts[0]), let claims = Self.object(parts[1]),
            let signature = Self.decoded(parts[2])
        else { return nil }
        algorithm = Self.text("alg", of: header)
        keyID = Self.text("kid", of: header)
        issuer = Self.text("iss", of: claims)
        (issuedAt, isIssueTimeText) = Self.issueTime(of: claims)
        signatureByteCount = signature.count
        hasDERSignature = Self.isDER(signature)
    }

    private static func isDER(_ signature: [UInt8]) -> Bool {
        var rest = signature[...]
        /// Removes a tag and its length, which is below 128 here, and returns the length.
        func element(_ tag: UInt8) -> Int? {
            guard rest.popFirst() == tag, let length = rest.popFirst(), length < 0x80 else {
                return nil
            }
            return Int(length)
        }
        guard element(0x30) == rest.count else { return false }
        for _ in 0..<2 {
            guard let length = element(0x02), (1...33).contains(length), length <= rest.count
            else { return false }
            rest.removeFirst(length)
        }
        return rest.isEmpty
    }

    private static func issueTime(of claims: JSONDocument) -> (IssueTime, isText: Bool) {
        guard let member = claims.member("iat", of: 0) else { return (.missing, false) }
        let kind = claims.kind(member.value)
        guard kind == .string || kind == .number else { return (.notInteger, false) }
        let literal = String(
            decoding: kind == .string
                ? claims.text(member.value) : claims.literal(member.value), as: UTF8.self)
        guard let seconds = Int64(literal) else { return (.notInteger, kind == .string) }
        return (seconds > latestSecond ? .milliseconds : .seconds(seconds), kind == .string)
    }

    private static func text(_ key: StaticString, of document: JSONDocument) -> String? {
        guard let member = document.member(key, of: 0), document.kind(member.value) == .string
        else {
            return nil
        }
        return String(decoding: document.text(member.value), as: UTF8.self)
    }

    private static func object(_ part: Substring.UTF8View) -> JSONDocument? {
        guard let bytes = decoded(part), let document = try? JSONScanner.scan(bytes),
            document.kind(0) == .object
        else { return nil }
        return document
    }

    /// Decodes Base64url without padding (RFC 4648 §5); `nil` for other characters and invalid
    /// lengths.
    static func decoded(_ text: Substring.UTF8View) -> [UInt8]? {
        guard text.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count * 3 / 4)
        var bits: UInt32 = 0
        var bitCount: UInt32 = 0
        for character in text {
            guard let value = value(of: character) else { return nil }
            bits = bits << 6 | value
            bitCount += 6
            if bitCount >= 8 {
                bitCount -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> bitCount))
            }
        }
        return bytes
    }

    private static func value(of character: UInt8) -> UInt32? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a") + 26)
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0") + 52)
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
