// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import StrictJSON

/// Services whose requests have the parts of a notification under names of their own.
extension WrapperRequest {
    /// Expo, "Send notifications with the Expo Push Service", message format. A message without a
    /// priority has that of the service.
    func expo() -> [WrappedPush]? {
        guard let to = member("to"),
            destination == .expo || member("_contentAvailable") != nil || isForExpo(to.value)
        else { return nil }
        var push = self.push
        push.aps = [
            alert(
                ["title", "subtitle", "body"].map { ($0, member($0)?.value) },
                pointer: pointer + "/body")
        ].compactMap(\.self)
        let flags = [
            ("_contentAvailable", "content-available"), ("mutableContent", "mutable-content"),
        ]
        let misspelt = flagSpellings(of: "content_available", in: node)
        for (name, key) in flags {
            // One that asks to wake the app is judged as it was meant.
            let meant = name == "_contentAvailable" ? misspelt.last : nil
            if let given = member(name) ?? meant, let flag = flag(given, key) {
                push.aps.append(flag)
            }
        }
        addTexts(
            [("sound", "sound"), ("badge", "badge"), ("categoryId", "category")], of: node,
            at: pointer, to: &push)
        push.faults += misspelt.map { given in
            fault(
                given, pointer: pointer,
                fix: member("_contentAvailable") == nil
                    ? "Write `_contentAvailable`." : "Remove it.",
                "is not a member of a message of Expo, which has `_contentAvailable` instead")
        }
        if let data = member("data") {
            push.root = [
                WrappedPush.Member(
                    name: "body", value: literal(data.value), pointer: pointer + "/data")
            ]
        }
        if let priority = member("priority"),
            let value = document.scalarText(priority.value).flatMap({
                ["high": "10", "normal": "5"][$0]
            })
        {
            push.headers = [
                ("apns-priority", value, offset(priority.value), pointer + "/priority")
            ]
        }
        push.faults += wrongPriority(of: "Expo", besides: ["default"])
        return push.aps.isEmpty && push.faults.isEmpty ? [] : [push]
    }

    private func isForExpo(_ recipient: Int) -> Bool {
        let first =
            document.kind(recipient) == .array
            ? document.elements(of: recipient).first { _ in true } : recipient
        let text = first.flatMap { document.scalarText($0) } ?? ""
        return text.hasPrefix("ExponentPushToken[") || text.hasPrefix("ExpoPushToken[")
    }

    /// Braze, "Send messages immediately via API-only", and "Apple push object".
    func braze() -> [WrappedPush]? {
        guard let messages = member("messages"),
            let object = member("apple_push", of: messages.value),
            document.kind(object.value) == .object
        else { return nil }
        let path = pointer + "/messages/apple_push"
        var push = self.push
        push.pointer = path
        push.start = offset(object.value)
        push.isPart = true
        if let text = member("alert", of: object.value), document.kind(text.value) == .object {
            let parts = ["title", "body"].map { ($0, member($0, of: text.value)?.value) }
            push.aps = [alert(parts, pointer: path + "/alert")].compactMap(\.self)
        }
        addTexts(
            [("alert", "alert"), ("sound", "sound"), ("badge", "badge")], of: object.value,
            at: path, to: &push)
        var part = self
        part.pointer = path
        for (name, key) in [
            ("content-available", "content-available"), ("mutable_content", "mutable-content"),
        ] {
            guard let given = member(name, of: object.value), let flag = part.flag(given, key)
            else { continue }
            push.aps.append(flag)
        }
        push.root = data(member("extra", of: object.value)?.value, pointer: path + "/extra")
        for name in ["alert", "badge", "sound", "content-available", "mutable_content"] {
            guard let given = member(name) else { continue }
            push.faults.append(
                fault(
                    given, pointer: pointer, fix: "Move it into `messages.apple_push`.",
                    "has no effect beside `messages`"))
        }
        return push.aps.isEmpty && push.faults.isEmpty ? [] : [push]
    }

    /// Adds members of an object to `aps` that are texts or numbers.
    private func addTexts(
        _ names: [(member: String, key: String)], of object: Int, at path: String,
        to push: inout WrappedPush
    ) {
        for (name, key) in names {
            guard let member = member(name, of: object),
                [.string, .number].contains(document.kind(member.value))
            else { continue }
            push.aps.append(
                WrappedPush.Member(
                    name: key, value: literal(member.value), pointer: path + "/" + name))
        }
    }
}
