// SPDX-License-Identifier: Apache-2.0

import StrictJSON

/// Recognises encrypted texts by their form, and by what stands beside them.
enum CipherText {
    /// Whether a text has the form of an encrypted one: a token of Fernet, the output of
    /// `openssl enc` in Base64, or JSON Web Encryption in its compact form (RFC 7516 §7.1).
    static func isOne(_ text: ArraySlice<UInt8>) -> Bool {
        if ["gAAAAA", "U2FsdGVkX1"].contains(where: { text.starts(with: $0.utf8) }) {
            return text.count >= shortestByteCount && text.allSatisfy(isOfBase64)
        }
        guard text.starts(with: "eyJ".utf8) else { return false }
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return parts.count == 5 && parts.allSatisfy { $0.allSatisfy(isOfBase64) }
    }

    /// Whether an object holds a text in Base64 beside what a receiver needs to decrypt it.
    static func isInObject(of document: JSONDocument) -> Bool {
        document.nodes.indices.contains { object in
            guard document.kind(object) == .object else { return false }
            var (hasText, hasParameter) = (false, false)
            for member in document.members(of: object)
            where document.kind(member.value) == .string {
                let letters = NearMiss.letters(document.text(member.key))
                if parameters.contains(letters) {
                    hasParameter = hasParameter || !document.isEmptyString(member.value)
                } else {
                    hasText = hasText || isBase64(document.bytes[document.content(member.value)])
                }
            }
            return hasText && hasParameter
        }
    }

    /// Whether a text is one in Base64 and no word: it has letters in both cases, and a digit or a
    /// mark.
    private static func isBase64(_ text: ArraySlice<UInt8>) -> Bool {
        text.count >= shortestByteCount && text.allSatisfy(isOfBase64)
            && text.contains { 65...90 ~= $0 } && text.contains { 97...122 ~= $0 }
            && text.contains { 48...57 ~= $0 || "+/=".utf8.contains($0) }
    }

    private static func isOfBase64(_ byte: UInt8) -> Bool {
        (byte | 0x20) &- UInt8(ascii: "a") < 26 || byte &- UInt8(ascii: "0") < 10
            || "+/-_=".utf8.contains(byte)
    }

    /// The length of a cipher block of 12 bytes in Base64.
    private static let shortestByteCount = 16

    /// The letters of keys for what is needed to decrypt a text.
    private static let parameters = Set(
        [
            "iv", "nonce", "salt", "authtag", "hmac", "initvector", "initializationvector",
            "initialisationvector", "epk", "ephemeralkey", "ephemeralpublickey",
        ].map { Array($0.utf8) })
}
