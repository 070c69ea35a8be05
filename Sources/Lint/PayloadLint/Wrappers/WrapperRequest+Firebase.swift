// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import StrictJSON

/// Firebase's former HTTP API, and what Firebase refuses or ignores in its requests.
extension WrapperRequest {
    /// A request that is one to the former API by its members. A message of the present API has no
    /// members of the former one, and a condition of Firebase is about topics.
    func formerFirebase() -> [WrappedPush]? {
        let condition = pointer.isEmpty ? member("condition") : nil
        let isForTopics = condition.flatMap { document.scalarText($0.value) }?.contains("topics")
        return hasFormerRecipient || isForTopics == true ? formerMessage() : nil
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
        }
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
    /// its own is sent as it is.
    func refusals() -> [PushDocument.Fault] {
        guard pointer == "/message", isMessageOfFirebase, let outer,
            outer.document.members(of: 0).allSatisfy({ member in
                ["message", "validate_only", "validateOnly"].contains { name in
                    outer.document.text(member.key).elementsEqual(name.utf8)
                }
            })
        else { return [] }
        var faults = faults(
            ofData: .error, "a value in `data` is no text, and Firebase refuses the message",
            fix: "Write the value as text.")
        if let notification = member("notification")?.value,
            document.kind(notification) == .object
        {
            for given in document.members(of: notification) {
                let name = String(decoding: document.text(given.key), as: UTF8.self)
                guard !["title", "body", "image"].contains(name) else { continue }
                var fault = fault(
                    given, pointer: pointer + "/notification",
                    fix: "Move it into `apns.payload.aps`, or into `android.notification`.",
                    "is not a member of `notification`, and Firebase refuses the message")
                fault.severity = .error
                faults.append(fault)
            }
        }
        return faults
    }

    /// Whether an object has the members of a message of the present API, and no others: a
    /// recipient, and something to show or for a platform. Other services have messages too.
    private var isMessageOfFirebase: Bool {
        let parts = ["notification", "android", "apns", "webpush"]
        let recipients = ["token", "topic", "condition"]
        let known = parts + recipients + ["name", "data", "fcm_options", "fcmOptions"]
        return document.members(of: node).allSatisfy { member in
            known.contains { document.text(member.key).elementsEqual($0.utf8) }
        }
            && parts.contains { member($0).map { document.kind($0.value) } == .object }
            && recipients.contains { member($0).map { document.kind($0.value) } == .string }
            && member("topic").flatMap { document.scalarText($0.value) }?.contains("/") != true
    }

    /// Reports the first value of `data` that is no text.
    private func faults(
        ofData severity: Severity, _ clause: String, fix: String
    ) -> [PushDocument.Fault] {
        guard let data = member("data")?.value, document.kind(data) == .object,
            let first = document.members(of: data).first(where: { member in
                ![.string, .null].contains(document.kind(member.value))
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

    private var hasFormerRecipient: Bool {
        member("to") != nil || member("registration_ids") != nil
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
