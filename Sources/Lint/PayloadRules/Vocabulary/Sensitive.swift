// SPDX-License-Identifier: Apache-2.0

import StrictJSON

/// Recognises sensitive values, which a push should not contain in plain text (rule G017).
enum Sensitive: Hashable, CaseIterable {
    case privateKey
    case bearerToken
    case jsonWebToken
    case emailAddress
    case cardNumber

    /// The minimum length of such a text, including quotes: `"a@b.de"`.
    static let minimumByteCount = 8

    /// The kind as a noun for a message.
    var noun: StaticString {
        switch self {
        case .privateKey: "a private key"
        case .bearerToken: "a bearer token"
        case .jsonWebToken: "a JSON web token"
        case .emailAddress: "an e-mail address"
        case .cardNumber: "a payment card number"
        }
    }

    /// The kind of sensitive value; `nil` for none.
    static func kind(ofNode node: Int, in document: JSONDocument) -> Sensitive? {
        let entry = document.nodes[node]
        guard entry.end - entry.start >= minimumByteCount else { return nil }
        switch entry.kind {
        case .number:
            return isCardNumber(document.literal(node)) ? .cardNumber : nil
        case .string where mayBeSensitive(node, in: document):
            return kind(of: document.text(node))
        default:
            return nil
        }
    }

    /// A fast check that excludes nearly all harmless texts, with a few operations per byte.
    private static func mayBeSensitive(_ node: Int, in document: JSONDocument) -> Bool {
        let content = document.content(node)
        switch document.bytes[content.lowerBound] {
        case UInt8(ascii: "-"), UInt8(ascii: "b"), UInt8(ascii: "B"), UInt8(ascii: "e"),
            UInt8(ascii: "\\"):
            return true
        default: break
        }
        var digits = 0
        for index in content {
            let byte = document.bytes[index]
            if byte == UInt8(ascii: "@") || byte == UInt8(ascii: "\\") { return true }
            if byte &- UInt8(ascii: "0") < 10 { digits += 1 }
        }
        return digits >= 13
    }

    private static func kind(of text: ArraySlice<UInt8>) -> Sensitive? {
        if text.starts(with: "-----BEGIN ".utf8), contains(text, "PRIVATE KEY") {
            return .privateKey
        }
        if isBearerToken(text) { return .bearerToken }
        if isJSONWebToken(text) { return .jsonWebToken }
        if hasEmailAddress(text) { return .emailAddress }
        return isCardNumber(text) ? .cardNumber : nil
    }

    private static func contains(_ text: ArraySlice<UInt8>, _ part: StaticString) -> Bool {
        part.withUTF8Buffer { part in
            text.indices.contains { text[$0...].starts(with: part) }
        }
    }

    /// `Bearer` in any case, a space, and at least 16 characters without a space.
    private static func isBearerToken(_ text: ArraySlice<UInt8>) -> Bool {
        let scheme = "bearer ".utf8
        guard text.count >= scheme.count + 16 else { return false }
        return zip(text, scheme).allSatisfy { $0 | 0x20 == $1 }
            && !text.dropFirst(scheme.count).contains(0x20)
    }

    /// Three parts in Base64url, the first of which starts like `{"` in Base64 (RFC 7515 §7.1).
    private static func isJSONWebToken(_ text: ArraySlice<UInt8>) -> Bool {
        guard text.count >= 20, text.starts(with: "eyJ".utf8) else { return false }
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return parts.count == 3 && parts.prefix(2).allSatisfy { !$0.isEmpty }
            && parts.joined().allSatisfy { isWordCharacter($0) || $0 == UInt8(ascii: "-") }
    }

    /// A local part, `@`, and a domain with a dot. Addresses of calls, such as
    /// `sip:ann@example.com`, are needed in a push and do not count, nor do addresses of
    /// conferences and chats, which are recognised by their server names.
    private static func hasEmailAddress(_ text: ArraySlice<UInt8>) -> Bool {
        for at in text.indices where text[at] == UInt8(ascii: "@") {
            let local = text[..<at].reversed().prefix(while: isAddressCharacter)
            let before = text[..<at].dropLast(local.count).last
            guard !local.isEmpty, before != UInt8(ascii: ":") else { continue }
            let domain = text[(at + 1)...].prefix(while: isAddressCharacter)
            let labels = domain.split(
                separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            if labels.count >= 2, labels.dropLast().allSatisfy({ !$0.isEmpty }),
                let last = labels.last, last.count >= 2, last.allSatisfy(isLetter),
                !labels.dropLast().contains(where: isOfCallServer), !isOfProgram(labels)
            {
                return true
            }
        }
        return false
    }

    /// Whether a label of a domain is typical for servers of calls and chats, and not of mail.
    private static func isOfCallServer(_ label: ArraySlice<UInt8>) -> Bool {
        ["sip", "pbx", "voip", "xmpp", "jabber", "conference", "muc", "chat", "rooms"]
            .contains { label.elementsEqual($0.utf8) }
    }

    /// Whether a domain has the accounts of Google's services, which are programs and no persons.
    private static func isOfProgram(_ labels: [ArraySlice<UInt8>]) -> Bool {
        labels.suffix(2).joined(separator: ".".utf8).elementsEqual("gserviceaccount.com".utf8)
    }

    /// 13 to 19 digits, alone or in groups, that start like the cards of large networks and pass
    /// the Luhn check (ISO/IEC 7812-1, annex B). Times in milliseconds start with 1.
    private static func isCardNumber(_ text: ArraySlice<UInt8>) -> Bool {
        var digits: [Int] = []
        for byte in text {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digits.append(Int(byte & 0x0f))
            case UInt8(ascii: " "), UInt8(ascii: "-"): continue
            default: return false
            }
            guard digits.count <= 19 else { return false }
        }
        guard digits.count >= 13, let first = digits.first, (2...6).contains(first) else {
            return false
        }
        // With 2 begin only those of Mastercard and Mir.
        let prefix = digits.prefix(4).reduce(0) { $0 * 10 + $1 }
        guard first != 2 || (2221...2720).contains(prefix) || (2200...2204).contains(prefix) else {
            return false
        }
        var sum = 0
        for (index, digit) in digits.reversed().enumerated() {
            let weighted = index.isMultiple(of: 2) ? digit : digit * 2
            sum += weighted > 9 ? weighted - 9 : weighted
        }
        return sum.isMultiple(of: 10)
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (byte | 0x20) &- UInt8(ascii: "a") < 26
    }

    private static func isWordCharacter(_ byte: UInt8) -> Bool {
        isLetter(byte) || byte &- UInt8(ascii: "0") < 10 || byte == UInt8(ascii: "_")
    }

    private static func isAddressCharacter(_ byte: UInt8) -> Bool {
        isWordCharacter(byte) || byte >= 0x80 || byte == UInt8(ascii: ".")
            || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "%")
    }
}
