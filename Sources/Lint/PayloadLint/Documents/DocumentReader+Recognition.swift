// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import StrictJSON

extension PushDraft {
    /// Whether one of Apple's headers is there.
    var showsAppleHeader: Bool {
        opaqueHeaders.contains { $0.hasPrefix("apns") }
            || headers.contains { $0.name.hasPrefix("apns") }
    }

    /// Whether headers or payload show that this is for APNs. Requests of all kinds have headers
    /// and a body.
    var showsPush: Bool {
        opaqueHeaders.contains { $0.hasPrefix("apns") } || payload.contains(text: "\"aps\"")
            || headers.contains { header in
                header.name.lowercased().hasPrefix("apns") || header.value.contains("/3/device")
                    || header.value.contains("push.apple.com")
            }
    }
}

extension PushDocument {
    /// Marks the document as unrelated to pushes, and removes its faults, unless it is for APNs.
    mutating func markForeign(unless isForAPNs: Bool) {
        guard !isForAPNs else { return }
        isForeign = true
        faults = []
        for index in items.indices { items[index].isAddressed = true }
    }
}

/// Distinguishes payloads for APNs from requests to services and from unrelated JSON.
extension DocumentReader {
    /// Whether an object without `aps` is not a payload for APNs: it has a recipient, parts for
    /// several platforms, or parts and no key of Apple's. A flat object may be custom data without
    /// the required `aps`.
    static func isForAnother(_ document: JSONDocument) -> Bool {
        isAddressed(0, in: document) || namesPlatform(in: 0, document, depth: 3)
            || !(isFlat(document) || hasAppleKey(document))
    }

    /// Whether an object without `aps` names the push type, as the data of a push for Parse does,
    /// which makes a payload of it.
    static func namesPushType(_ document: JSONDocument) -> Bool {
        guard document.kind(0) == .object, let type = document.last("push_type", of: 0) else {
            return false
        }
        return ["alert", "background"].contains { document.hasText(type.value, $0) }
    }

    /// Whether an object without `aps` has a recipient or a platform, or both a text and data: then
    /// it is more likely a request to a service than a payload.
    static func isAddressed(_ object: Int, in document: JSONDocument) -> Bool {
        guard document.kind(object) == .object else { return false }
        var hasText = false
        var hasData = false
        for member in document.members(of: object) {
            let name = String(decoding: document.text(member.key), as: UTF8.self)
            if Wrapper.addresses.contains(name) { return true }
            switch document.kind(member.value) {
            case .string:
                let text = String(decoding: document.text(member.value), as: UTF8.self)
                if Wrapper.platforms.contains(text.lowercased()) { return true }
                if Wrapper.texts.contains(name) { hasText = true }
            // The platform as a number, and a request for several tokens.
            case .number where name == "platform": return true
            case .array where name == "token" || names(platformsIn: member.value, document):
                return true
            case .object where Wrapper.bodies.contains(name):
                hasData = true
                let isPush = ["alert", "message"].contains {
                    document.last($0, of: member.value) != nil
                }
                if name == "data", isPush { return true }
            default: continue
            }
        }
        return hasText && hasData
    }

    /// Whether a list contains the name of a platform.
    private static func names(platformsIn list: Int, _ document: JSONDocument) -> Bool {
        document.elements(of: list).contains { element in
            document.kind(element) == .string
                && Wrapper.platforms.contains(
                    String(decoding: document.text(element), as: UTF8.self).lowercased())
        }
    }

    /// Whether a key is the name of a platform, which no push to APNs has.
    private static func namesPlatform(
        in object: Int, _ document: JSONDocument, depth: Int
    ) -> Bool {
        document.members(of: object).contains { member in
            let name = String(decoding: document.text(member.key), as: UTF8.self).lowercased()
            if Wrapper.platforms.contains(name) { return true }
            return depth > 1 && document.kind(member.value) == .object
                && namesPlatform(in: member.value, document, depth: depth - 1)
        }
    }

    private static func isFlat(_ document: JSONDocument) -> Bool {
        document.members(of: 0).allSatisfy { member in
            document.kind(member.value) != .object && document.kind(member.value) != .array
        }
    }

    /// Whether one of Apple's keys, in any spelling, is at the top level, or in something there
    /// with a name as short as `aps`.
    private static func hasAppleKey(_ document: JSONDocument) -> Bool {
        document.members(of: 0).contains { member in
            isAppleKey(member.key, document)
                || isNamedLikeAPS(member, document)
                    && document.members(of: member.value).contains {
                        isAppleKey($0.key, document)
                    }
        }
    }

    /// Whether an object without `aps` is rather a payload than anything else: it asks to wake the
    /// app as Apple spells it, or has an alert and another of Apple's keys. Pages have badges and
    /// sounds too.
    static func looksLikePayload(_ document: JSONDocument) -> Bool {
        let members = document.members(of: 0)
        let count = members.reduce(0) { $0 + (isAppleKey($1.key, document) ? 1 : 0) }
        if count > 1, document.last("alert", of: 0) != nil { return true }
        return members.contains { member in
            document.hasText(member.key, "content-available")
                && document.kind(member.value) == .number
                || isNamedLikeAPS(member, document)
                    && document.members(of: member.value).contains {
                        isAppleKey($0.key, document)
                    }
        }
    }

    /// Whether an object has a name that may be meant for `aps`.
    private static func isNamedLikeAPS(
        _ member: (key: Int, value: Int), _ document: JSONDocument
    ) -> Bool {
        document.kind(member.value) == .object && document.text(member.key).count <= 4
            && !Wrapper.bodies.contains(
                String(decoding: document.text(member.key), as: UTF8.self))
    }

    private static func isAppleKey(_ key: Int, _ document: JSONDocument) -> Bool {
        let letters = String(decoding: document.text(key), as: UTF8.self).lowercased()
            .filter { !"-_ ".contains($0) }
        return Wrapper.appleKeys.contains(letters)
    }
}
