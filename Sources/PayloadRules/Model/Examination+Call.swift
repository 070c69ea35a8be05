// SPDX-License-Identifier: Apache-2.0

/// The call that a VoIP payload names (rule VO003).
extension Examination {
    /// The value of the preferred identifier key that has a usable one: text that is not empty, or
    /// an integer in its literal form.
    var callID: String? {
        guard let document else { return nil }
        return firstCallIdentifier { isUsable($0, in: document) }.map { member in
            let isText = document.kind(member.value) == .string
            let text = isText ? document.text(member.value) : document.literal(member.value)
            return String(decoding: text, as: UTF8.self)
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
