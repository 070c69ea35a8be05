// SPDX-License-Identifier: Apache-2.0

import StrictJSON
import WakeModel

/// Infers the type of a push without `apns-push-type`.
extension ValidationContext {
    /// The type of the topic's suffix, or the one that the payload suggests; `alert` if there is
    /// none: APNs treated such pushes as alerts before there were types.
    var judgedType: PushType {
        typeOfTopic ?? typeOfKeys ?? .alert
    }

    /// The type that is meant by a push that says `alert` or `background`: its payload is for a
    /// Live Activity, or is seen or heard and does not ask to wake the app, or both topic and
    /// payload are for one other type.
    var meantType: PushType? {
        guard type == .alert || type == .background, let document else { return nil }
        if apsKeys.contains(.contentState), apsKeys.contains(.event) { return .liveactivity }
        let isVisible =
            apsKeys.contains(.alert) || apsKeys.contains(.badge) && apsKeys.contains(.sound)
        if type == .background, isVisible, !wantsBackground(document) { return .alert }
        return typeOfTopic.flatMap { typeOfKeys == $0 ? $0 : nil }
    }

    /// Whether nothing but the payload says what type the push is.
    var typeIsGuess: Bool { draft.map { $0.pushType == nil } == true && typeOfTopic == nil }

    /// Whether a payload stands by itself, and nothing else says what type the push is.
    var isBare: Bool {
        draft.map { $0.fields.isEmpty && !$0.isForFirebase && !$0.isComplete } == true
    }

    /// Keys that reach the user.
    static let visibleKeys: APSKeySet = [
        APSKeySet(.alert), APSKeySet(.badge), APSKeySet(.sound),
    ]

    /// Whether `aps` has `alert`, `badge` or `sound`, whatever their values.
    var hasVisibleKeys: Bool { !apsKeys.isDisjoint(with: Self.visibleKeys) }

    private var typeOfTopic: PushType? {
        guard let topic = draft?.topic else { return nil }
        return PushType.all.first { !$0.topicSuffix.isEmpty && topic.hasSuffix($0.topicSuffix) }
    }

    private var typeOfKeys: PushType? {
        guard hasRootObject, let document else { return nil }
        if apsKeys.contains(.contentChanged) { return .widgets }
        if looksLikeLiveActivity { return .liveactivity }
        if apsKeys.contains(.pttPushType) { return .pushtotalk }
        if let magic = rootMember("mdm")?.value,
            aps == nil || !apsKeys.contains(.alert) && isUUID(magic, in: document)
        {
            return .mdm
        }
        if rootMember("container-identifier") != nil,
            aps == nil || rootMember("domain") != nil && !saysSomething(document)
        {
            return .fileprovider
        }
        if saysVoIP(document) { return .voip }
        if wantsBackground(document) { return hasVisibleKeys ? .alert : .background }
        if hasVisibleKeys { return .alert }
        // Firebase sends no calls, and its data often resembles that of one.
        guard draft?.isForFirebase != true else { return nil }
        // An empty `aps` shows nothing, and call servers send one.
        let hasNoAPS = aps == nil || apsObject.map { document.childCount(of: $0) == 0 } == true
        return hasNoAPS && callID != nil ? .voip : nil
    }

    /// Whether `aps` has more to show than an alert without a text.
    private func saysSomething(_ document: JSONDocument) -> Bool {
        guard apsKeys.intersection(Self.visibleKeys) == APSKeySet(.alert),
            let alert = member(.alert)
        else { return hasVisibleKeys }
        let texts =
            document.kind(alert.value) == .object
            ? document.members(of: alert.value).map(\.value) : [alert.value]
        return !texts.allSatisfy { document.kind($0) == .string && document.text($0).isEmpty }
    }

    /// Whether `aps` has keys of a Live Activity. Beside what shows or wakes, those that others
    /// have too are rather the app's own data, unless there is an event by Apple's name.
    private var looksLikeLiveActivity: Bool {
        let keys = apsKeys.intersection(Self.liveActivityKeys)
        if apsKeys.contains(.contentState) || apsKeys.contains(.attributesType) { return true }
        guard !keys.isEmpty, keys != APSKeySet(.timestamp) else { return false }
        return Rules.event(of: self) != nil
            || !(hasVisibleKeys || apsKeys.contains(.contentAvailable))
    }

    private static let liveActivityKeys: APSKeySet = [
        APSKeySet(.contentState), APSKeySet(.event), APSKeySet(.attributesType),
        APSKeySet(.attributes), APSKeySet(.timestamp), APSKeySet(.staleDate),
        APSKeySet(.dismissalDate),
    ]

    /// Whether a value is a UUID in a string, as the PushMagic of device management is.
    private func isUUID(_ value: Int, in document: JSONDocument) -> Bool {
        guard document.kind(value) == .string else { return false }
        let parts = document.text(value).split(
            separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return parts.map(\.count) == [8, 4, 4, 4, 12]
            && parts.joined().allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
    }

    /// Whether `content-available` is in `aps` or in the root object, in any spelling.
    private func wantsBackground(_ document: JSONDocument) -> Bool {
        if apsKeys.contains(.contentAvailable) { return true }
        return [0, apsObject].contains { object in
            guard let object else { return false }
            return document.members(of: object).contains { member in
                NearMiss.isNearContentAvailable(document.text(member.key))
            }
        }
    }

    /// Whether a payload that names a call says that it is for PushKit: VoIP as its push type,
    /// `"ios_voip": 1`, by which ConnectyCube sends it so, or `"voip": true`, which beside an alert
    /// rather says how a call was made; or what CallKit needs to report a call, a UUID and the
    /// caller's handle, and no type of its own.
    private func saysVoIP(_ document: JSONDocument) -> Bool {
        guard draft?.isForFirebase != true, tellsCallsApart, !Rules.saysLaterCallEvent(self) else {
            return false
        }
        let letters = { (key: Int) in
            String(decoding: NearMiss.letters(document.text(key)), as: UTF8.self)
        }
        let flags = apsKeys.contains(.alert) ? [] : ["voip", "isvoip", "iosvoip"]
        let hasFlag = document.members(of: 0).contains { member in
            (document.kind(member.value) == .trueLiteral || document.isNumber(member.value, "1"))
                && (document.hasText(member.key, "ios_voip")
                    || flags.contains(letters(member.key)))
        }
        guard !hasFlag else { return true }
        let names = document.members(of: 0).map { letters($0.key) }
        let isReport = names.contains("calluuid") && names.contains("handle")
        guard !isReport || hasVisibleKeys || customRoles.contains(.discriminator) else {
            return true
        }
        var isType = false
        forEachCustomMember { key, value in
            guard !isType, document.kind(value) == .string, document.hasText(value, "voip") else {
                return
            }
            isType = ["pushtype", "apnspushtype"].contains(letters(key))
        }
        return isType
    }

    /// Whether `aps` is empty and not alone.
    var hasEmptyAPSBesideData: Bool {
        guard let document, let apsObject else { return false }
        return document.childCount(of: apsObject) == 0 && document.childCount(of: 0) > 1
    }

    /// Whether `aps` has members and none of Apple's keys, nor what an alert is made of.
    var hasOwnDataInAPS: Bool {
        guard let document, let apsObject, apsKeys.isEmpty else { return false }
        let ofAlerts: [StaticString] = ["title", "subtitle", "body", "message", "text"]
        return document.childCount(of: apsObject) > 0
            && !document.members(of: apsObject).contains { member in
                ofAlerts.contains { document.hasText(member.key, $0) }
            }
    }

    /// The member of the root object with this key; the last one, as for most parsers.
    func rootMember(_ key: StaticString) -> (key: Int, value: Int)? {
        hasRootObject ? document?.member(key, of: 0) : nil
    }
}
