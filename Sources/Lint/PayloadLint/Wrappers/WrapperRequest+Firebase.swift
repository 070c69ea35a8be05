// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import StrictJSON

/// Firebase's former HTTP API, and what Firebase refuses or ignores in its requests.
extension WrapperRequest {
    /// A request that is one to the former API by its members. A message of the present API has no
    /// members of the former one, and a condition of Firebase is about topics.
    func formerFirebase() -> [WrappedPush]? {
        guard hasFormerRecipient || isForTopics else { return nil }
        guard !showsFormerFirebase else { return formerMessage() }
        // Requests of other services have such members too: only what is shown is known.
        guard let pushes = formerMessage()?.filter(\.isSent), !pushes.isEmpty else { return nil }
        return pushes.map { push in
            var push = push
            push.isForFirebase = false
            push.faults = []
            return push
        }
    }

    /// Whether there is a condition of Firebase, which is about topics.
    private var isForTopics: Bool {
        let condition = pointer.isEmpty ? member("condition") : nil
        return condition.flatMap { document.scalarText($0.value) }?.contains("topics") == true
    }

    /// Whether something besides the recipient shows that a request is one to Firebase's former
    /// API: its form, or members that other services hardly have.
    var showsFormerFirebase: Bool {
        if destination == .formerFirebase { return true }
        guard destination == nil, !isForPerson else { return false }
        let list = member("registration_ids").map { document.kind($0.value) }
        if isForTopics || list == .array { return true }
        let own = [
            "collapse_key", "time_to_live", "dry_run", "delay_while_idle",
            "restricted_package_name", "direct_boot_ok",
        ]
        if own.contains(where: { member($0) != nil }) || hasFlag(in: node) { return true }
        let to = member("to").flatMap { document.scalarText($0.value) } ?? ""
        // A list of recipients, or one that is to be filled in.
        if member("to") != nil, to.isEmpty { return false }
        let priority = member("priority").flatMap { document.scalarText($0.value) }
        if ["high", "normal"].contains(priority) { return true }
        if to.hasPrefix("/topics/") || Self.isToken(to) { return true }
        guard let notification = member("notification")?.value else { return false }
        let shown = [
            "click_action", "android_channel_id", "body_loc_key", "title_loc_key", "body_loc_args",
            "title_loc_args",
        ]
        return shown.contains { member($0, of: notification) != nil } || hasFlag(in: notification)
    }

    /// Whether `content_available` or `mutable_content` is in the request or its notification.
    var hasAppleFlag: Bool {
        hasFlag(in: node) || member("notification").map { hasFlag(in: $0.value) } == true
    }

    /// Whether the recipient is one of Firebase only: services with the same members, such as
    /// Pushy, have more of them in `notification`.
    private var hasRecipientOfFirebase: Bool {
        if destination == .formerFirebase || isForTopics { return true }
        let to = member("to").flatMap { document.scalarText($0.value) } ?? ""
        return member("registration_ids") != nil || to.hasPrefix("/topics/") || Self.isToken(to)
    }

    /// Whether the recipient is the address of a person: of mail, or a number of a telephone.
    var isForPerson: Bool {
        guard let to = member("to").flatMap({ document.scalarText($0.value) }), !to.isEmpty else {
            return false
        }
        return to.contains("@")
            || to.utf8.allSatisfy { 0x30...0x39 ~= $0 || "+-() ".utf8.contains($0) }
    }

    /// Whether a text is a token of Firebase, or stands for one.
    private static func isToken(_ text: String) -> Bool {
        if text.contains(":APA91") || text.utf8.count > 120 { return true }
        let lower = text.lowercased()
        return lower.contains("token")
            && !["session", "auth", "access", "jwt", "api"].contains { lower.contains($0) }
    }

    /// Whether an object has a flag in the spelling of Firebase or of Apple.
    private func hasFlag(in object: Int) -> Bool {
        ["content_available", "mutable_content"].flatMap { flagSpellings(of: $0, in: object) }
            .contains { flag in document.text(flag.key).contains { "-_".utf8.contains($0) } }
    }

    /// The former HTTP API, "Downstream HTTP messages (JSON)".
    func formerMessage() -> [WrappedPush]? {
        let notification = member("notification")
        let name = "content_available"
        let wakes = member(name) != nil || !misspeltFlags(name).isEmpty
        guard notification != nil || wakes || member("data") != nil else { return nil }
        var push = self.push
        push.isForFirebase = true
        if let text = notification?.value { addNotification(text, to: &push) }
        addFlags(to: &push)
        push.faults += faults(ofToken: "to")
        if let text = notification?.value {
            push.faults += misplacedFlags(in: text, pointer: pointer + "/notification")
            push.faults += membersWithoutEffect(in: text)
        }
        push.faults += partsOfPresentAPI() + headersOfApple() + wrongPriority(of: "Firebase")
        if let aps = member("aps") {
            push.faults.append(
                fault(
                    aps, pointer: pointer, fix: "Remove it.",
                    "is not a member of a request to Firebase, which ignores it"))
        }
        guard !push.aps.isEmpty else {
            let faults = push.faults + (notification == nil && !wakes ? unseenData() : [])
            return faults.isEmpty ? nil : [faulty(faults)]
        }
        push.faults += faults(
            ofData: .warning, "a value in `data` is no text, and Firebase sends it as text",
            fix: "Write the value as text, as the app receives it.")
        push.root = data(member("data")?.value, pointer: pointer + "/data")
        let priorities = ["high": "10", "normal": "5"]
        if let given = member("priority"),
            let value = document.scalarText(given.value).flatMap({ priorities[$0] })
        {
            push.headers = [
                ("apns-priority", value, offset(given.value), pointer + "/priority")
            ]
        }
        return [push]
    }

    /// Whether a request with a member `aps` is one to the former API all the same. A payload may
    /// have custom keys of such names, but hardly with such values.
    var isFormerFirebaseBesideAPS: Bool {
        if let list = member("registration_ids"), document.kind(list.value) == .array {
            return true
        }
        guard let to = member("to"), document.kind(to.value) == .string else { return false }
        let flag = member("content_available").map { document.kind($0.value) }
        return flag == .trueLiteral || flag == .falseLiteral
            || member("notification").map { document.kind($0.value) } == .object
    }

    /// A push of which only the faults are told, because nothing of it is sent to APNs.
    func faulty(_ faults: [PushDocument.Fault]) -> WrappedPush {
        var push = self.push
        push.isForFirebase = true
        push.isSent = false
        push.faults = faults
        return push
    }

    /// What Firebase refuses in a message of its present API: members of `notification` that are
    /// for one platform only, and data that is no text. A message with a recipient in an object of
    /// its own is sent as it is; a program may change one by itself before.
    func refusals() -> [PushDocument.Fault] {
        guard isMessageOfSNS || isWholeMessage || showsFirebaseByParts, isMessageOfFirebase else {
            return []
        }
        let severity: Severity = showsFirebaseByParts ? .warning : .error
        var faults = faults(
            ofData: severity, "a value in `data` is no text, and Firebase refuses the message",
            fix: "Write the value as text.", allowing: [.string])
        faults += faultsOfHeaders(severity) + foreignMembers(severity)
        if let notification = member("notification")?.value,
            document.kind(notification) == .object
        {
            for given in document.members(of: notification) {
                let name = String(decoding: document.text(given.key), as: UTF8.self)
                // A library has a name of its own for the image.
                guard !["title", "body", "image"].contains(name),
                    !pointer.isEmpty || name != "imageUrl"
                else { continue }
                var fault = fault(
                    given, pointer: pointer + "/notification",
                    fix: "Move it into `apns.payload.aps`, or into `android.notification`.",
                    "is not a member of `notification`, and Firebase refuses the message")
                fault.severity = severity
                faults.append(fault)
            }
        }
        for given in document.members(of: node) {
            let name = String(decoding: document.text(given.key), as: UTF8.self)
            guard Self.formerNames.contains(name) else { continue }
            var fault = fault(
                given, pointer: pointer,
                fix: "Write what each platform has for it, as `apns.payload`.",
                "is not a member of a message, and Firebase refuses it")
            fault.severity = severity
            faults.append(fault)
        }
        return faults
    }

    /// Members of a message of the former API that the present one does not have.
    private static let formerNames: Set<String> = [
        "content_available", "mutable_content", "priority", "time_to_live", "collapse_key",
    ]

    /// Whether the request has nothing beside `message`.
    private var isWholeMessage: Bool {
        guard pointer.hasSuffix("/message"), let outer else { return false }
        return outer.document.members(of: outer.node).allSatisfy { member in
            ["message", "validate_only", "validateOnly"].contains { name in
                outer.document.text(member.key).elementsEqual(name.utf8)
            }
        }
    }

    /// Whether there is a part for another platform by the name that Firebase has for it.
    var hasPartForOthers: Bool {
        ["android", "webpush"].contains { member($0).map { document.kind($0.value) } == .object }
    }

    /// Whether the lifetime for Android is a text, as in Firebase's HTTP API: its library for
    /// JavaScript, which has other names in `aps`, takes a number.
    var hasTextualLifetime: Bool {
        let lifetime = member("android").flatMap { member("ttl", of: $0.value) }
        return lifetime.map { document.kind($0.value) } == .string
    }

    /// Whether a message without an object `message` has Firebase's form: `apns` has the members
    /// that it has there, both of them or a part for another platform beside it.
    private var showsFirebaseByParts: Bool {
        guard pointer.isEmpty, destination == nil, member("to") == nil,
            let apns = member("apns")?.value
        else { return false }
        let parts = ["payload", "headers"].filter { name in
            member(name, of: apns).map { document.kind($0.value) } == .object
        }
        return parts.count == 2 || hasPartForOthers && !parts.isEmpty
    }

    /// Whether an object has the members of a message of the present API, and no others but those
    /// of the former one: a recipient, and something to show or for a platform. Other services have
    /// messages too.
    private var isMessageOfFirebase: Bool {
        let parts = ["notification", "android", "apns", "webpush"]
        let recipients = ["token", "topic", "condition"]
        let known = Self.formerNames.union(
            parts + recipients + ["tokens", "name", "data", "fcm_options", "fcmOptions"])
        // A message of another service may have data and a recipient alone.
        let token = member("token").flatMap { document.scalarText($0.value) } ?? ""
        return document.members(of: node).allSatisfy { member in
            known.contains { document.text(member.key).elementsEqual($0.utf8) }
        }
            && (Self.isToken(token)
                || parts.contains { member($0).map { document.kind($0.value) } == .object })
            && (isMessageOfSNS || pointer.isEmpty
                || recipients.contains { member($0).map { document.kind($0.value) } == .string })
            && member("topic").flatMap { document.scalarText($0.value) }?.contains("/") != true
    }

    /// Reports the members of `apns` that Firebase does not know. Of `aps` there, rule G010 speaks.
    private func foreignMembers(_ severity: Severity) -> [PushDocument.Fault] {
        guard let apns = member("apns")?.value, document.kind(apns) == .object else { return [] }
        let known = [
            "headers", "payload", "fcm_options", "fcmOptions", "live_activity_token",
            "liveActivityToken", "aps",
        ]
        return document.members(of: apns).compactMap { given in
            let name = String(decoding: document.text(given.key), as: UTF8.self)
            guard !known.contains(name), !IllustratedJSON.isDots(name) else { return nil }
            var fault = fault(
                given, pointer: pointer + "/apns",
                fix: "Move it into `payload`, or into `aps` there.",
                "is not a member of `apns`, and Firebase refuses the message")
            fault.severity = severity
            return fault
        }
    }

    /// Reports a payload for Firebase in a request to Pusher Beams, which sends what `apns` holds.
    func payloadForBeams() -> [PushDocument.Fault] {
        guard let interests = member("interests") ?? member("users"),
            document.kind(interests.value) == .array, let apns = member("apns")?.value,
            let payload = member("payload", of: apns), member("aps", of: payload.value) != nil,
            member("aps", of: apns) == nil, member("token") == nil
        else { return [] }
        return [
            PushDocument.Fault(
                rule: "G010",
                message: "`aps` is inside `payload`, and Pusher Beams sends `apns` as it is",
                fix: "Move `aps` out of `payload`, into `apns`.",
                place: .offset(offset(payload.key)), pointer: pointer + "/apns/payload")
        ]
    }

    /// Reports a push for a Live Activity that Firebase would send to the app's own device token.
    func withoutActivityToken() -> [PushDocument.Fault] {
        guard destination != .other, let apns = member("apns"), member("token") != nil,
            let aps = member("payload", of: apns.value).flatMap({ member("aps", of: $0.value) }),
            member("content-state", of: aps.value) != nil, member("event", of: aps.value) != nil,
            ["live_activity_token", "liveActivityToken"].allSatisfy({
                member($0, of: apns.value) == nil
            })
        else { return [] }
        return [
            PushDocument.Fault(
                rule: "H007", severity: .warning,
                message: "Firebase gets no token of the Live Activity",
                fix: "Add `live_activity_token` beside `payload`.",
                place: .offset(offset(apns.key)), pointer: pointer + "/apns")
        ]
    }

    /// Reports the headers of `apns` whose value is no text.
    private func faultsOfHeaders(_ severity: Severity) -> [PushDocument.Fault] {
        let apns = member("apns")?.value
        guard let headers = apns.flatMap({ member("headers", of: $0)?.value }),
            document.kind(headers) == .object
        else { return [] }
        return document.members(of: headers).compactMap { header in
            guard document.kind(header.value) != .string else { return nil }
            let name = String(decoding: document.text(header.key), as: UTF8.self)
            return PushDocument.Fault(
                rule: "G014", severity: severity,
                message: "the value of `\(name)` is no text, and Firebase refuses the message",
                fix: "Write the value as text.", place: .offset(offset(header.value)),
                pointer: pointer + "/apns/headers/" + JSONPointerText.escaped(name))
        }
    }

    /// Reports the first value of `data` that is no text.
    private func faults(
        ofData severity: Severity, _ clause: String, fix: String,
        allowing kinds: Set<JSONNode.Kind> = [.string, .null]
    ) -> [PushDocument.Fault] {
        guard let data = member("data")?.value, document.kind(data) == .object,
            let first = document.members(of: data).first(where: { member in
                !kinds.contains(document.kind(member.value))
            })
        else { return [] }
        let name = String(decoding: document.text(first.key), as: UTF8.self)
        return [
            PushDocument.Fault(
                rule: "G014", severity: severity, message: "\(clause): `\(name)`", fix: fix,
                place: .offset(offset(first.value)),
                pointer: pointer + "/data/" + JSONPointerText.escaped(name))
        ]
    }

    var hasFormerRecipient: Bool {
        member("to") != nil || member("registration_ids") != nil
    }

    /// Reports the first part for a platform, which only messages of the present API have.
    private func partsOfPresentAPI() -> [PushDocument.Fault] {
        let parts = document.members(of: node).filter { member in
            document.kind(member.value) == .object
                && ["apns", "android", "webpush"].contains { name in
                    document.text(member.key).elementsEqual(name.utf8)
                }
        }
        guard let first = parts.first else { return [] }
        let recipient = member("to") == nil ? "registration_ids" : "to"
        return [
            fault(
                first, pointer: pointer,
                fix: "Send a `message` with `token` to the present API, or remove it.",
                "has no effect beside `\(recipient)`: Firebase's former API has no parts for "
                    + "platforms")
        ]
    }

    /// Reports Apple's headers as members of the request, which has others for them.
    private func headersOfApple() -> [PushDocument.Fault] {
        let others = [
            "apns-priority": "Write `priority`, \"high\" or \"normal\".",
            "apns-expiration": "Write `time_to_live`.", "apns-collapse-id": "Write `collapse_key`.",
            "apns-push-type": "Remove it.", "apns-topic": "Remove it.",
        ]
        return document.members(of: node).compactMap { given in
            let name = String(decoding: document.text(given.key), as: UTF8.self)
            return others[name].map {
                fault(
                    given, pointer: pointer, fix: $0,
                    "is not a member of a request to Firebase, which ignores it")
            }
        }
    }

    /// Reports a priority that a service does not have, such as Apple's numbers.
    func wrongPriority(of service: String, besides others: [String] = []) -> [PushDocument.Fault] {
        guard let given = member("priority"), let value = document.scalarText(given.value),
            let first = value.utf8.first, 0x30...0x39 ~= first || 0x61...0x7a ~= first,
            !(["high", "normal"] + others).contains(value)
        else { return [] }
        return [
            PushDocument.Fault(
                rule: "G014", severity: .warning,
                message: "`priority` is none of \"high\" and \"normal\", which \(service) knows",
                fix: "Write \"high\", or \"normal\" for what can wait.",
                place: .offset(offset(given.value)), pointer: pointer + "/priority")
        ]
    }

    /// The members of `notification` in the former API.
    private static let shown: Set<String> = [
        "title", "subtitle", "body", "sound", "badge", "click_action", "icon", "tag", "color",
        "image", "body_loc_key", "body_loc_args", "title_loc_key", "title_loc_args",
        "android_channel_id",
    ]

    /// Reports the members of `notification` that the former API ignores.
    private func membersWithoutEffect(in notification: Int) -> [PushDocument.Fault] {
        guard document.kind(notification) == .object, hasRecipientOfFirebase else { return [] }
        let flags = ["contentavailable", "mutablecontent"]
        let others = document.members(of: notification).filter { member in
            let name = String(decoding: document.text(member.key), as: UTF8.self)
            return !Self.shown.contains(name)
                && !flags.contains(name.lowercased().filter(\.isLetter))
        }
        guard let first = others.first else { return [] }
        let names = others.map { String(decoding: document.text($0.key), as: UTF8.self) }
        return [
            PushDocument.Fault(
                rule: "G012", severity: .warning,
                message: names.map { "`\($0)`" }.joined(separator: ", ")
                    + (names.count == 1 ? " has" : " have") + " no effect inside `notification`",
                fix: "Write what the app needs in `data`.", place: .offset(offset(first.key)),
                pointer: pointer + "/notification/" + JSONPointerText.escaped(names[0]))
        ]
    }

    /// Reports data with an alert and another of Apple's keys, of which nothing is shown.
    private func unseenData() -> [PushDocument.Fault] {
        guard let data = member("data"), member("alert", of: data.value) != nil,
            ["badge", "sound"].contains(where: { member($0, of: data.value) != nil })
        else { return [] }
        return [
            PushDocument.Fault(
                rule: "AL001", severity: .warning,
                message: "iOS shows nothing of `data`, and does not wake the app for it",
                fix: "Add `notification`, or `content_available`.",
                place: .offset(offset(data.key)), pointer: pointer + "/data")
        ]
    }

    /// Adds what the former API makes of a notification.
    private func addNotification(_ text: Int, to push: inout WrappedPush) {
        let parts = [
            ("title", "title"), ("subtitle", "subtitle"), ("body", "body"),
            ("title-loc-key", "title_loc_key"), ("loc-key", "body_loc_key"),
        ]
        let path = pointer + "/notification"
        push.aps = [
            alert(parts.map { ($0.0, member($0.1, of: text)?.value) }, pointer: path)
        ].compactMap(\.self)
        if let sound = member("sound", of: text), document.kind(sound.value) == .string {
            push.aps.append(
                WrappedPush.Member(
                    name: "sound", value: literal(sound.value), pointer: path + "/sound"))
        }
        // A number in a string.
        if let badge = member("badge", of: text), let number = document.scalarText(badge.value),
            !number.isEmpty, number.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), number.count < 9
        {
            var value = EmbeddedText()
            value.append(String(Int(number) ?? 0), standingAt: offset(badge.value))
            push.aps.append(
                WrappedPush.Member(name: "badge", value: value, pointer: path + "/badge"))
        }
    }
}
