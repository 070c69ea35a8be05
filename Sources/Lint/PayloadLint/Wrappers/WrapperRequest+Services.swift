// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import StrictJSON
import WakeModel

/// Services with special forms of requests.
extension WrapperRequest {
    /// A message of Amazon SNS by itself.
    func messageOfSNS() -> [WrappedPush]? {
        let isOne = Wrapper.platformTypes.keys.contains { member($0) != nil }
        return isOne || member("GCM") != nil ? platforms(Wrapper.platformTypes) : nil
    }

    /// Amazon SNS, "Publishing Amazon SNS notifications with platform-specific payload".
    func platforms(_ types: [String: String?]) -> [WrappedPush]? {
        var pushes: [WrappedPush] = []
        for member in document.members(of: node) {
            let name = String(decoding: document.text(member.key), as: UTF8.self)
            guard let type = types[name], isPayload(member.value) else { continue }
            guard var push = payload(member.value, pointer: pointer + "/" + name) else { continue }
            push.headers = attributes()
            if let type, !push.headers.contains(where: { $0.name == "apns-push-type" }) {
                push.headers.append(
                    ("apns-push-type", type, offset(member.key), pointer + "/" + name))
            }
            push.faults += faults(ofPlatform: name, member.value)
            pushes.append(push)
        }
        // Beside a part for Apple's devices, that for Firebase is for others.
        if pushes.isEmpty { pushes = partsForFirebase() }
        guard !pushes.isEmpty else { return nil }
        if lacksStructure {
            pushes[0].faults.append(
                Self.missingStructure(at: offset(node), pointer: pointer))
        }
        return pushes
    }

    /// Whether this is the message of a request that does not say that it has one for each
    /// platform. What Amazon SNS delivers has more members.
    private var lacksStructure: Bool {
        guard pointer.hasSuffix("/Message"), let outer else { return false }
        let has = { (name: String) in outer.document.last(name, of: outer.node) != nil }
        return (has("TargetArn") || has("TopicArn")) && !has("MessageStructure")
            && !["Type", "MessageId", "Signature", "Timestamp"].contains(where: has)
    }

    /// The fault of a message whose parts for platforms Amazon SNS does not look for.
    static func missingStructure(at offset: Int, pointer: String) -> PushDocument.Fault {
        PushDocument.Fault(
            rule: "G014",
            message: "without the message structure `json`, Amazon SNS sends all of it as a text",
            fix: "Say that the message structure is json.", place: .offset(offset),
            pointer: pointer)
    }

    /// The part of a message of Amazon SNS for Firebase, by which apps on iOS can be reached too.
    private func partsForFirebase() -> [WrappedPush] {
        guard let part = member("GCM"), document.kind(part.value) == .string else { return [] }
        let inner = text.unquoted(document.content(part.value))
        guard let scanned = try? JSONScanner.scan(inner.bytes), scanned.kind(0) == .object else {
            return []
        }
        let request = WrapperRequest(
            document: scanned, text: inner, node: 0, pointer: pointer + "/GCM")
        // Without a flag of Apple's nothing shows that one of its devices gets it.
        if request.hasAppleFlag { return request.formerMessage() ?? [] }
        guard let present = request.member("fcmV1Message")?.value,
            let message = request.member("message", of: present)?.value,
            request.member("apns", of: message) != nil
        else { return [] }
        var wrapped = request
        wrapped.node = message
        wrapped.pointer += "/fcmV1Message/message"
        wrapped.isMessageOfSNS = true
        return wrapped.firebase() ?? []
    }

    /// Reports a payload of Amazon SNS that is not in a string. A message that is not in a request
    /// may be one that a program has still to write.
    private func faults(ofPlatform name: String, _ value: Int) -> [PushDocument.Fault] {
        guard name.first?.isUppercase == true, document.kind(value) == .object else { return [] }
        return [
            PushDocument.Fault(
                rule: "G014", severity: pointer.hasSuffix("/Message") ? .error : .warning,
                message: "`\(name)` is an object, and Amazon SNS takes only JSON in a string",
                fix: "Write the payload as a string.", place: .offset(offset(value)),
                pointer: pointer + "/" + name)
        ]
    }

    /// Whether a member for APNs holds a payload: anything in a message of Amazon SNS, which has a
    /// default; otherwise such a name may be that of a setting.
    private func isPayload(_ value: Int) -> Bool {
        guard document.kind(value) == .string, self.member("default") == nil else { return true }
        let text = document.text(value).first { $0 > 0x20 }
        return text == UInt8(ascii: "{")
    }

    /// A payload that is a value, or in a string.
    func payload(
        _ value: Int, pointer: String, change: (EmbeddedText) -> EmbeddedText = { $0 }
    ) -> WrappedPush? {
        var push = self.push
        push.start = offset(value)
        push.pointer = pointer
        switch document.kind(value) {
        case .object: push.base = (text, document, value)
        case .string:
            let inner = change(text.unquoted(document.content(value)))
            if let scanned = try? JSONScanner.scan(inner.bytes) {
                push.base = (inner, scanned, 0)
            } else if DocumentReader.isTemplate(inner.bytes) {
                return nil
            } else {
                push.base = (text, document, value)
            }
        default: return nil
        }
        return push
    }

    func attributes() -> [(name: String, value: String, offset: Int, pointer: String)] {
        if let text = attributesOfSNS { return attributes(in: text) }
        guard let outer, let all = outer.document.last("MessageAttributes", of: outer.node) else {
            return []
        }
        return Wrapper.attributes.compactMap { name, header in
            let key = "AWS.SNS.MOBILE.APNS." + name
            guard let attribute = outer.document.last(key, of: all.value),
                let value = outer.document.last("StringValue", of: attribute.value),
                let text = outer.document.scalarText(value.value)
            else { return nil }
            return (
                header, text,
                outer.text.fileOffset(of: Int(outer.document.nodes[value.value].start)),
                "/MessageAttributes/\(key)/StringValue"
            )
        }
    }

    /// The attributes in an argument of the AWS CLI, in JSON or in its shorthand syntax.
    private func attributes(
        in text: EmbeddedText
    ) -> [(name: String, value: String, offset: Int, pointer: String)] {
        Wrapper.attributes.compactMap { name, header in
            let key = "AWS.SNS.MOBILE.APNS." + name
            let label = "StringValue"
            guard let start = text.bytes.firstRange(of: key.utf8)?.upperBound,
                let rest = text.bytes[start...].firstRange(of: label.utf8)?.upperBound
            else { return nil }
            let value = text.bytes[rest...].drop { "\":= ".utf8.contains($0) }
                .prefix { !"\",}".utf8.contains($0) && $0 != ShellText.unknown }
            guard !value.isEmpty else { return nil }
            return (
                header, String(decoding: value, as: UTF8.self),
                text.fileOffset(of: value.startIndex), ""
            )
        }
    }

    /// Azure Notification Hubs, REST reference of installations: `#(name)` in quotes is replaced by
    /// a number.
    func templates() -> [WrappedPush]? {
        guard let platform = member("platform"), let templates = member("templates"),
            document.scalarText(platform.value)?.lowercased().hasPrefix("apns") == true,
            document.kind(templates.value) == .object
        else { return nil }
        return document.members(of: templates.value).compactMap { template in
            guard let body = member("body", of: template.value) else { return nil }
            let name = String(decoding: document.text(template.key), as: UTF8.self)
            let pointer = self.pointer + "/templates/" + JSONPointerText.escaped(name)
            var push = payload(body.value, pointer: pointer + "/body", change: Self.withNumbers)
            push?.headers = headers(
                of: member("headers", of: template.value)?.value, pointer: pointer + "/headers"
            ).map { header in
                var header = header
                header.name = Wrapper.appleName(ofAzureHeader: header.name)
                return header
            }
            return push
        }
    }

    /// A template with each `"#(name)"` replaced by a number.
    static func withNumbers(_ template: EmbeddedText) -> EmbeddedText {
        guard let document = try? JSONScanner.scan(template.bytes) else { return template }
        var text = EmbeddedText()
        var rest = 0
        for node in document.nodes.indices where document.kind(node) == .string {
            let content = template.bytes[document.content(node)]
            guard content.starts(with: "#(".utf8), content.last == UInt8(ascii: ")") else {
                continue
            }
            let range = document.range(of: node)
            text.append(template.slice(rest..<range.lowerBound))
            text.append("1", standingAt: template.fileOffset(of: range.lowerBound))
            rest = range.upperBound
        }
        text.append(template.slice(rest..<template.bytes.count))
        return text
    }

    /// PubNub, "Mobile push payloads": `pn_push` contains the headers and is removed.
    func pubNub() -> [WrappedPush]? {
        guard let payload = member("pn_apns"), document.kind(payload.value) == .object else {
            return nil
        }
        var push = self.push
        push.start = offset(payload.value)
        push.pointer = pointer + "/pn_apns"
        guard let control = document.last("pn_push", of: payload.value) else {
            push.base = (text, document, payload.value)
            return [push]
        }
        let cut = document.rangeToCut(control, of: payload.value)
        let whole = document.range(of: payload.value)
        var inner = text.slice(whole.lowerBound..<cut.lowerBound)
        inner.append(text.slice(cut.upperBound..<whole.upperBound))
        guard let scanned = try? JSONScanner.scan(inner.bytes) else { return nil }
        push.base = (inner, scanned, 0)
        if let first = document.kind(control.value) == .array
            ? document.elements(of: control.value).first : nil
        {
            let path = pointer + "/pn_apns/pn_push/0"
            addHeaders(
                [("push_type", "apns-push-type"), ("collapse_id", "apns-collapse-id")],
                of: first, at: path, to: &push)
        }
        return [push]
    }

    /// A wake, an item of a batch, or a multicast: `kind` is the push type. The gateway adds
    /// missing headers: topic, priority and expiration.
    func gateway() -> [WrappedPush]? {
        guard let kind = member("kind"), let name = document.scalarText(kind.value),
            WakeKind(rawValue: name) != nil, let payload = member("payload"),
            document.kind(payload.value) == .object
        else { return nil }
        var push = self.push
        push.base = (text, document, payload.value)
        push.start = offset(payload.value)
        push.pointer = pointer + "/payload"
        addHeaders(
            [
                ("kind", "apns-push-type"), ("priority", "apns-priority"),
                ("collapse_id", "apns-collapse-id"),
            ], of: node, at: pointer, to: &push)
        return [push]
    }

    /// Converts members of an object to the headers that the service sends.
    private func addHeaders(
        _ names: [(member: String, header: String)], of object: Int, at pointer: String,
        to push: inout WrappedPush
    ) {
        for (name, header) in names {
            guard let member = member(name, of: object),
                let value = document.scalarText(member.value)
            else { continue }
            push.headers.append((header, value, offset(member.value), pointer + "/" + name))
        }
    }

    /// OneSignal, reference of "Create notification".
    func oneSignal() -> [WrappedPush]? {
        if let isIOS = member("isIos"), document.kind(isIOS.value) == .falseLiteral { return nil }
        var push = self.push
        push.hasServiceID = true
        let language = { (name: String) -> Int? in
            guard let member = member(name) else { return nil }
            guard document.kind(member.value) == .object else { return member.value }
            return document.last("en", of: member.value)?.value
                ?? document.members(of: member.value).first { _ in true }?.value
        }
        push.aps = [
            alert(
                [
                    ("title", language("headings")), ("subtitle", language("subtitle")),
                    ("body", language("contents")),
                ], pointer: pointer + "/contents")
        ].compactMap(\.self)
        addFlags(to: &push)
        for (name, key) in Wrapper.oneSignalKeys {
            guard let member = member(name) else { continue }
            push.aps.append(
                WrappedPush.Member(
                    name: key, value: literal(member.value), pointer: pointer + "/" + name))
        }
        if let data = member("data") {
            push.root.append(
                WrappedPush.Member(
                    name: "custom", value: literal(data.value), pointer: pointer + "/data"))
        }
        addHeaders(
            [
                ("apns_push_type_override", "apns-push-type"), ("priority", "apns-priority"),
                ("collapse_id", "apns-collapse-id"),
            ], of: node, at: pointer, to: &push)
        push.faults += faultsOfLanguages() + misspeltNames(among: Wrapper.oneSignalNames)
        let isSilent =
            push.aps.contains { $0.name == "content-available" }
            && !push.aps.contains { ["alert", "sound"].contains($0.name) }
        let hasTemplate = member("template_id") != nil
        guard push.aps.isEmpty || hasTemplate && !isSilent else { return [push] }
        return push.faults.isEmpty ? [] : [faulty(push.faults)]
    }

    /// Reports members with a typing error in their name, once for each name that is meant.
    private func misspeltNames(among known: [String]) -> [PushDocument.Fault] {
        let names = names
        var missing = known.filter { !names.contains($0) }.map { ($0, Nearest.folded($0)) }
        return document.members(of: node).compactMap { member in
            let name = String(decoding: document.text(member.key), as: UTF8.self)
            guard name.utf8.count >= 10 else { return nil }
            let letters = Nearest.folded(name)
            guard
                let place = missing.firstIndex(where: { Nearest.isNear(letters, $0.1, upTo: 1) }),
                !known.contains(name)
            else { return nil }
            let meant = missing.remove(at: place).0
            return fault(
                member, pointer: pointer, fix: "Write `\(meant)`.",
                "is not a member of this request, which has `\(meant)` instead")
        }
    }

    /// Reports texts in other languages only: OneSignal asks for one in English beside them.
    private func faultsOfLanguages() -> [PushDocument.Fault] {
        guard let contents = member("contents"), document.kind(contents.value) == .object else {
            return []
        }
        let languages = document.members(of: contents.value).map {
            String(decoding: document.text($0.key), as: UTF8.self)
        }
        guard !languages.isEmpty, !languages.contains("en"),
            languages.allSatisfy({ name in
                ["", "-Hans", "-Hant"].contains(name.dropFirst(2))
                    && name.prefix(2).allSatisfy { $0.isASCII && $0.isLowercase }
            })
        else { return [] }
        return [
            PushDocument.Fault(
                rule: "G012", severity: .error,
                message: "`contents` has no text in English, and OneSignal refuses the request",
                fix: "Add the text as `en`.", place: .offset(offset(contents.key)),
                pointer: pointer + "/contents")
        ]
    }

    /// gorush, "Request body": a push for each notification of platform 1. One that stands by
    /// itself is an element of the list that a program sends.
    func gorush() -> [WrappedPush]? {
        guard let list = member("notifications") else {
            guard let tokens = member("tokens"), document.kind(tokens.value) == .array,
                document.elements(of: tokens.value).allSatisfy({ document.kind($0) == .string }),
                let platform = member("platform"), document.isNumber(platform.value, "1")
            else { return nil }
            return [notification()]
        }
        guard document.kind(list.value) == .array else { return nil }
        var notifications = self
        notifications.node = list.value
        notifications.pointer += "/notifications"
        let all = notifications.elements.compactMap { request in
            guard request.member("tokens") != nil, let platform = request.member("platform"),
                document.kind(platform.value) == .number
            else { return nil as (request: WrapperRequest, isForApple: Bool)? }
            return (request, document.isNumber(platform.value, "1"))
        }
        guard !all.isEmpty else { return nil }
        return all.filter(\.isForApple).map { $0.request.notification() }
    }

    /// What gorush sends for a notification: without a push type as `alert`, and at priority 10
    /// unless it is `normal`.
    private func notification() -> WrappedPush {
        var push = self.push
        // It leaves out empty texts.
        let text = { (name: String) in
            member(name).flatMap { document.isEmptyString($0.value) ? nil : $0.value }
        }
        push.aps = [
            member("alert").map {
                WrappedPush.Member(
                    name: "alert", value: literal($0.value), pointer: pointer + "/alert")
            }
                ?? alert(
                    [("title", text("title")), ("body", text("message"))],
                    pointer: pointer + "/message")
        ].compactMap(\.self)
        addFlags(to: &push)
        for (name, key) in Wrapper.gorushKeys {
            guard let member = member(name) else { continue }
            push.aps.append(
                WrappedPush.Member(
                    name: key, value: literal(member.value), pointer: pointer + "/" + name))
        }
        push.root = data(member("data")?.value, pointer: pointer + "/data")
        addHeaders(
            [
                ("push_type", "apns-push-type"), ("topic", "apns-topic"), ("apns_id", "apns-id"),
                ("expiration", "apns-expiration"), ("collapse_id", "apns-collapse-id"),
            ], of: node, at: pointer, to: &push)
        if member("push_type") == nil {
            // Services of this form say so of calls; gorush itself has no such member.
            let isCall = member("voip").map { document.kind($0.value) == .trueLiteral } == true
            push.headers.append(("apns-push-type", isCall ? "voip" : "alert", push.start, pointer))
        }
        let priority = member("priority")
        let isNormal = priority.flatMap { document.scalarText($0.value) } == "normal"
        push.headers.append(
            (
                "apns-priority", isNormal ? "5" : "10",
                priority.map { offset($0.value) } ?? push.start,
                pointer + (priority == nil ? "" : "/priority")
            ))
        return push
    }
}
