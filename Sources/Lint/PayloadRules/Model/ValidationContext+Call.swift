// SPDX-License-Identifier: Apache-2.0

import StrictJSON

/// The call of a VoIP payload (rule VO003).
extension ValidationContext {
    /// The call's id for the text of a value. Letters are converted to lower case, because the case
    /// of a UUID has no meaning (RFC 9562 §4) and phones treat it as the same call.
    static func callID(_ text: some Collection<UInt8>) -> String {
        guard JSONDocument.isUUID(text) else { return String(decoding: text, as: UTF8.self) }
        // The bit that distinguishes lower case from upper case; digits and hyphens have it
        // already.
        // SAFETY: as many elements are initialized as are read, and only inside the closure.
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: uuidCount) { letters in
            var count = 0
            for byte in text {
                letters.initializeElement(at: count, to: byte | 0x20)
                count += 1
            }
            return String(decoding: letters, as: UTF8.self)
        }
    }

    /// The number of characters of a UUID.
    private static var uuidCount: Int { 36 }

    /// The value of the preferred identifier key with a usable value: a string that is not empty,
    /// or the literal of an integer.
    var callID: String? {
        guard let document else { return nil }
        return firstCallIdentifier { isUsable($0, in: document) }.map { member in
            let isText = document.kind(member.value) == .string
            return isText
                ? Self.callID(document.text(member.value))
                : Self.callID(document.literal(member.value))
        }
    }

    /// Whether something in the payload identifies the call: ``callID``, a name that calling
    /// services use, including in `aps`, or a UUID. Two pushes with it are not necessarily the same
    /// call; see ``callID``.
    var tellsCallsApart: Bool {
        guard let document else { return false }
        return callID != nil || tellsCallsApart(document, depth: 0) || hasOwnID
    }

    /// Whether the payload has an `id` that may be that of the call: many apps call it so. One in
    /// an object that is no call, such as a user, is not.
    private var hasOwnID: Bool {
        guard let document else { return false }
        var key = 0
        while key < document.nodes.count {
            guard document.kind(key) == .key else {
                key += 1
                continue
            }
            if isUsable(key + 1, in: document), document.content(key).count <= 3,
                NearMiss.letters(document.text(key)) == Array("id".utf8)
            {
                return true
            }
            let isInside = [.object, .array].contains(document.kind(key + 1))
            key =
                isInside && document.namesNoCall(key) ? Int(document.nodes[key + 1].next) : key + 1
        }
        return false
    }

    /// `depth` is the number of enclosing strings that contain JSON.
    private func tellsCallsApart(_ document: JSONDocument, depth: Int) -> Bool {
        var found = false
        forEachMember(of: document) { key, value in
            guard !found, isUsable(value, in: document) || document.kind(value) == .object else {
                return
            }
            found = document.namesCallIdentity(key)
            guard !found, document.kind(value) == .string else { return }
            found = document.isUUID(value)
            let text = document.text(value)
            guard !found, depth < 2, text.first == UInt8(ascii: "{"),
                let inner = try? JSONScanner.scan(Array(text))
            else { return }
            found = tellsCallsApart(inner, depth: depth + 1)
        }
        return found
    }

    /// Whether only the app can read a value, which may then contain a call and its caller: the
    /// value is long and without blanks, like an encrypted or encoded body, or its key says so.
    var isOpaque: Bool {
        guard let document else { return false }
        var found = false
        forEachMember(of: document) { key, value in
            guard !found, document.kind(value) == .string, !document.isEmptyString(value) else {
                return
            }
            let text = document.bytes[document.content(value)]
            found =
                text.count >= Self.opaqueByteCount && !text.contains { $0 <= 0x20 || $0 >= 0x7f }
                || CipherText.isOne(text) || document.namesCipher(key) || document.namesSample(key)
        }
        return found || CipherText.isInObject(of: document)
    }

    /// The length in Base64 of two cipher blocks, a nonce and a tag.
    private static let opaqueByteCount = 64

    private func forEachMember(
        of document: JSONDocument, _ body: (_ key: Int, _ value: Int) -> Void
    ) {
        for node in document.nodes.indices where document.kind(node) == .key {
            body(node, node + 1)
        }
    }

    /// The key of an identifier whose value cannot identify a call.
    var unusableCallIdentifier: Int? {
        guard let document else { return nil }
        return firstCallIdentifier { !isUsable($0, in: document) }?.key
    }

    private func isUsable(_ value: Int, in document: JSONDocument) -> Bool {
        switch document.kind(value) {
        case .string: !document.isEmptyString(value)
        case .number: !document.nodes[value].traits.contains(.notInteger)
        case .object, .array, .key, .trueLiteral, .falseLiteral, .null: false
        }
    }

    private func firstCallIdentifier(
        where isFit: (_ value: Int) -> Bool
    ) -> (key: Int, value: Int)? {
        guard hasRootObject, let document else { return nil }
        for name in settings.callIdentifierKeys {
            for member in document.members(of: 0)
            where isFit(member.value) && isNamed(member.key, name, in: document) {
                return member
            }
        }
        for name in settings.callIdentifierKeys {
            for outer in document.members(of: 0) where document.kind(outer.value) == .object {
                for member in document.members(of: outer.value)
                where isFit(member.value) && isNamed(member.key, name, in: document) {
                    return member
                }
            }
        }
        return nil
    }

    private func isNamed(_ key: Int, _ letters: [UInt8], in document: JSONDocument) -> Bool {
        guard document.content(key).count >= letters.count else { return false }
        guard !document.isEscaped(key) else {
            return NearMiss.letters(document.text(key)) == letters
        }
        var matched = 0
        for index in document.content(key) {
            guard let letter = NearMiss.letter(document.bytes[index]) else { continue }
            guard matched < letters.count, letters[matched] == letter else { return false }
            matched += 1
        }
        return matched == letters.count
    }
}

extension JSONDocument {
    /// Whether a key has a name that services use for the identity of a call.
    func namesCallIdentity(_ key: Int) -> Bool {
        let letters = NearMiss.letters(text(key))
        return CallService.wholeNames.contains(letters)
            || CallService.endings.contains { letters.ends(with: $0) }
    }

    /// Whether a key is the name of a person or a thing, whose id is not that of a call.
    fileprivate func namesNoCall(_ key: Int) -> Bool {
        let letters = NearMiss.letters(text(key))
        return CallService.others.contains { other in
            letters.ends(with: other) || letters.ends(with: other + [UInt8(ascii: "s")])
        }
    }

    /// Whether a key is the name of an encrypted text: `ciphertext`, `encrypted_payload`.
    fileprivate func namesCipher(_ key: Int) -> Bool {
        let letters = String(decoding: NearMiss.letters(text(key)), as: UTF8.self)
        return letters.hasPrefix("encrypted") || letters.contains("ciphertext")
            || ["enc", "cipher", "encdata", "encpayload"].contains(letters)
    }

    /// Whether a key of a sample stands for those that a reader puts in: `your_custom_data`.
    fileprivate func namesSample(_ key: Int) -> Bool {
        NearMiss.letters(text(key)).starts(with: "your".utf8)
    }

    /// Whether a string is a UUID in its usual form (RFC 9562 §4).
    func isUUID(_ string: Int) -> Bool {
        Self.isUUID(bytes[content(string)])
    }

    /// Whether a text has the form of a UUID.
    static func isUUID(_ text: some Collection<UInt8>) -> Bool {
        guard text.count == 36 else { return false }
        var index = 0
        for byte in text {
            let isInPlace =
                switch index {
                case 8, 13, 18, 23: byte == UInt8(ascii: "-")
                default:
                    byte &- UInt8(ascii: "0") < 10 || (byte | 0x20) &- UInt8(ascii: "a") < 6
                }
            guard isInPlace else { return false }
            index += 1
        }
        return true
    }
}

extension Array where Element == UInt8 {
    fileprivate func ends(with end: [UInt8]) -> Bool { suffix(end.count).elementsEqual(end) }
}
