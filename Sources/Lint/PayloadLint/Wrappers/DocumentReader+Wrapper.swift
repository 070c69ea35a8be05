// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Requests of services in front of APNs, judged by what reaches APNs.
extension DocumentReader {
    /// Reads a text as such a request; `nil` where it is none.
    func wrapped(_ text: EmbeddedText) -> PushDocument? {
        guard let document = try? JSONScanner.scan(text.bytes) else { return nil }
        return wrapped(document, text)
    }

    /// Reads a document as such a request; `nil` where it is none.
    func wrapped(_ document: JSONDocument, _ text: EmbeddedText) -> PushDocument? {
        guard forcedKind == nil || forcedKind == .request, document.kind(0) == .object else {
            return nil
        }
        var request = Request(document: document, text: text, node: 0, pointer: "")
        // `message` of Firebase, `Message` of Amazon SNS, which is a text; what is unmistakable
        // around them has a message of its own.
        let around = request.names
        let isOther = Wrapper.all.contains { $0.isUnmistakable && $0.fits(around) }
        for name in isOther ? [] : ["message", "Message"] {
            guard let member = document.last(name, of: 0) else { continue }
            let inner = "/" + name
            if document.kind(member.value) == .object {
                request.node = member.value
                request.pointer = inner
            } else if name == "Message", document.kind(member.value) == .string {
                let message = text.unquoted(document.content(member.value))
                guard let scanned = try? JSONScanner.scan(message.bytes),
                    scanned.kind(0) == .object
                else { continue }
                request = Request(document: scanned, text: message, node: 0, pointer: inner)
            }
        }
        request.outer = (document, text)
        let names = request.names
        guard !names.contains("aps") else { return nil }
        for wrapper in Wrapper.all where wrapper.fits(names) {
            // Of a push whose type is given, only what cannot be anything else is unwrapped.
            guard wrapper.isUnmistakable || assumptions.pushType == nil,
                let pushes = request.pushes(of: wrapper.form)
            else { continue }
            var result = PushDocument(kind: .request)
            result.items = pushes.map { $0.item(assumptions) }
            result.isForeign = !wrapper.isUnmistakable
            return result
        }
        guard assumptions.pushType == nil, let pushes = request.nested() else { return nil }
        var result = PushDocument(kind: .request)
        result.items = pushes.map { $0.item(assumptions) }
        result.isForeign = true
        return result
    }
}

extension DocumentReader {
    /// Reads a list of payloads, or of requests; `nil` where there are none in it.
    func listed(_ document: JSONDocument) -> PushDocument? {
        guard forcedKind == nil, assumptions.pushType == nil, document.kind(0) == .array else {
            return nil
        }
        let list = Request(
            document: document, text: EmbeddedText(file: document.bytes), node: 0, pointer: "")
        let pushes = list.elements.flatMap { $0.nested() ?? [] }
        // Requests of a service that makes the payloads itself.
        let isAddressed = list.elements.contains { Self.isAddressed($0.node, in: document) }
        guard !pushes.isEmpty || isAddressed else { return nil }
        var result = PushDocument(kind: .request)
        result.items = pushes.map { $0.item(assumptions) }
        result.isForeign = true
        return result
    }
}

/// A request of a service in front of APNs.
private struct Request {
    var document: JSONDocument
    var text: EmbeddedText
    /// The object with the service's names.
    var node: Int
    /// Its JSON pointer.
    var pointer: String
    /// The document around it.
    var outer: (document: JSONDocument, text: EmbeddedText)?

    init(document: JSONDocument, text: EmbeddedText, node: Int, pointer: String) {
        self.document = document
        self.text = text
        self.node = node
        self.pointer = pointer
    }

    /// The names in the object.
    var names: Set<String> {
        Set(
            document.members(of: node).map {
                String(decoding: document.text($0.key), as: UTF8.self)
            })
    }

    /// The pushes that reach APNs; `nil` where the request is not of this form after all.
    func pushes(of form: Wrapper.Form) -> [WrappedPush]? {
        switch form {
        case .firebase: firebase()
        case .formerFirebase: formerFirebase()
        case .platforms(let types): platforms(types)
        case .templates: templates()
        case .pubNub: pubNub()
        case .oneSignal: oneSignal()
        case .fragment: fragment()
        }
    }

    private var push: WrappedPush {
        var push = WrappedPush()
        push.start = text.fileOffset(of: Int(document.nodes[node].start))
        push.pointer = pointer
        return push
    }

    private func member(_ name: String, of object: Int? = nil) -> (key: Int, value: Int)? {
        document.last(name, of: object ?? node)
    }

    private func offset(_ node: Int) -> Int { text.fileOffset(of: Int(document.nodes[node].start)) }

    private func literal(_ node: Int) -> EmbeddedText { text.slice(document.range(of: node)) }

    /// An alert of the texts in some members.
    private func alert(
        _ parts: [(key: String, node: Int?)], pointer: String
    ) -> WrappedPush.Member? {
        var alert = EmbeddedText()
        for (key, node) in parts {
            guard let node, document.kind(node) == .string else { continue }
            alert.append(
                (alert.bytes.isEmpty ? "{" : ",") + "\"\(key)\":", standingAt: offset(node))
            alert.append(literal(node))
        }
        guard !alert.bytes.isEmpty else { return nil }
        alert.append("}", standingAt: alert.fileOffset(of: 0))
        return WrappedPush.Member(name: "alert", value: alert, pointer: pointer)
    }

    /// The members of an object as custom data.
    private func data(_ object: Int?, pointer: String) -> [WrappedPush.Member] {
        guard let object, document.kind(object) == .object else { return [] }
        return document.members(of: object).map { member in
            let name = String(decoding: document.text(member.key), as: UTF8.self)
            return WrappedPush.Member(
                name: name, value: literal(member.value),
                pointer: pointer + "/" + JSONPointerText.escaped(name))
        }
    }

    private func headers(
        of object: Int?, pointer: String
    ) -> [(name: String, value: String, offset: Int, pointer: String)] {
        guard let object, document.kind(object) == .object else { return [] }
        return document.members(of: object).compactMap { member in
            guard let value = document.scalarText(member.value) else { return nil }
            let name = String(decoding: document.text(member.key), as: UTF8.self)
            return (
                name, value, offset(member.value), pointer + "/" + JSONPointerText.escaped(name)
            )
        }
    }

    /// Firebase Cloud Messaging, REST reference of `ApnsConfig`: without `apns-priority`, a push is
    /// sent at 10.
    private func firebase() -> [WrappedPush]? {
        let apns = member("apns")
        let notification = member("notification")
        if let apns, document.kind(apns.value) != .object { return nil }
        let payload = apns.flatMap { member("payload", of: $0.value) }
        let given = apns.flatMap { member("headers", of: $0.value) }
        guard payload != nil || given != nil || notification != nil else {
            // What is for other platforms alone, or the data of a `message` without more, brings
            // nothing to APNs.
            let others = ["android", "webpush"] + (pointer.isEmpty ? [] : ["data"])
            return others.contains { member($0) != nil } ? [] : nil
        }
        var push = self.push
        push.isForFirebase = true
        if let payload {
            push.base = (text, document, payload.value)
            // Without `message` around it, a message is one of Firebase's libraries.
            if pointer.isEmpty { push.useLibraryNames() }
            push.pointer = pointer + "/apns/payload"
            push.start = offset(payload.value)
        }
        push.headers = headers(of: given?.value, pointer: pointer + "/apns/headers")
        if !push.headers.contains(where: { $0.name.lowercased() == "apns-priority" }) {
            push.headers.append(
                (
                    "apns-priority", "10", given.map { offset($0.value) } ?? push.start,
                    pointer + (given == nil ? "/apns" : "/apns/headers")
                ))
        }
        let text = notification?.value
        push.aps =
            [
                alert(
                    [
                        ("title", text.flatMap { member("title", of: $0)?.value }),
                        ("body", text.flatMap { member("body", of: $0)?.value }),
                    ], pointer: pointer + "/notification")
            ].compactMap(\.self)
        push.root = data(member("data")?.value, pointer: pointer + "/data")
        return [push]
    }

    private func formerFirebase() -> [WrappedPush]? {
        let notification = member("notification")
        let wakes = member("content_available")
        guard notification != nil || wakes != nil || member("data") != nil else { return nil }
        var push = self.push
        push.isForFirebase = true
        let text = notification?.value
        push.aps =
            [
                alert(
                    [
                        ("title", text.flatMap { member("title", of: $0)?.value }),
                        ("body", text.flatMap { member("body", of: $0)?.value }),
                    ], pointer: pointer + "/notification"),
                flag("content_available", "content-available"),
                flag("mutable_content", "mutable-content"),
            ].compactMap(\.self)
        push.root = data(member("data")?.value, pointer: pointer + "/data")
        return push.aps.isEmpty ? nil : [push]
    }

    /// The payload of a request that says no more.
    private func fragment() -> [WrappedPush]? {
        guard let payload = member("payload"), member("aps", of: payload.value) != nil else {
            return nil
        }
        return self.payload(payload.value, pointer: pointer + "/payload").map { [$0] }
    }

    /// How deep a payload may lie in a request of a service that is not known.
    private static let maximumDepth = 4

    /// The payloads that lie anywhere in a request: what a service that is not known takes for
    /// Firebase, or hands on as it stands. `nil` where there are none.
    func nested() -> [WrappedPush]? {
        var pushes: [WrappedPush] = []
        var pending = [(self, depth: 0)]
        while let (request, depth) = pending.popLast() {
            if depth > 0, request.member("apns") != nil, let found = request.firebase() {
                pushes += found
                continue
            }
            let aps = request.member("aps").map { document.kind($0.value) }
            if let push = aps == .object
                ? request.payload(request.node, pointer: request.pointer) : request.collected()
            {
                pushes.append(push)
                continue
            }
            guard aps != .object else { continue }
            guard depth < Self.maximumDepth else { continue }
            for member in document.members(of: request.node) {
                var inner = request
                let name = String(decoding: document.text(member.key), as: UTF8.self)
                inner.pointer += "/" + JSONPointerText.escaped(name)
                inner.node = member.value
                switch document.kind(member.value) {
                case .object: pending.append((inner, depth: depth + 1))
                case .array: pending += inner.elements.map { ($0, depth: depth + 1) }
                case .string:
                    if let push = inner.payload(member.value, pointer: inner.pointer),
                        push.hasAPS
                    {
                        pushes.append(push)
                    }
                case .key, .number, .trueLiteral, .falseLiteral, .null: break
                }
            }
        }
        return pushes.isEmpty ? nil : pushes
    }

    /// A request of a Postman collection: the body is a text, and the headers are a list.
    private func collected() -> WrappedPush? {
        guard let list = member("header"), document.kind(list.value) == .array,
            let body = member("body"), document.kind(body.value) == .object,
            let raw = member("raw", of: body.value), document.kind(raw.value) == .string,
            var push = payload(raw.value, pointer: pointer + "/body/raw"), push.hasAPS
        else { return nil }
        for (index, field) in document.elements(of: list.value).enumerated()
        where document.kind(field) == .object {
            guard let name = member("key", of: field).flatMap({ document.scalarText($0.value) }),
                name.lowercased().hasPrefix("apns-"), let value = member("value", of: field),
                let text = document.scalarText(value.value),
                member("disabled", of: field).map({ document.kind($0.value) }) != .trueLiteral
            else { continue }
            let place = "\(pointer)/header/\(index)/value"
            push.headers.append((name, text, offset(value.value), place))
        }
        return push
    }

    /// The objects in a list.
    var elements: [Request] {
        document.elements(of: node).enumerated().compactMap { index, element in
            guard document.kind(element) == .object else { return nil }
            var request = self
            request.node = element
            request.pointer += "/\(index)"
            return request
        }
    }

    /// A Boolean of the service that is 1 in `aps`.
    private func flag(_ name: String, _ key: String) -> WrappedPush.Member? {
        guard let member = member(name),
            document.kind(member.value) == .trueLiteral || document.isNumber(member.value, "1")
        else { return nil }
        var one = EmbeddedText()
        one.append("1", standingAt: offset(member.value))
        return WrappedPush.Member(name: key, value: one, pointer: pointer + "/" + name)
    }

    /// Amazon SNS, "Publishing Amazon SNS notifications with platform-specific payload".
    private func platforms(_ types: [String: String?]) -> [WrappedPush]? {
        var pushes: [WrappedPush] = []
        for member in document.members(of: node) {
            let name = String(decoding: document.text(member.key), as: UTF8.self)
            guard let type = types[name] else { continue }
            guard var push = payload(member.value, pointer: pointer + "/" + name) else { continue }
            push.headers = attributes()
            if let type, !push.headers.contains(where: { $0.name == "apns-push-type" }) {
                push.headers.append(
                    ("apns-push-type", type, offset(member.key), pointer + "/" + name))
            }
            pushes.append(push)
        }
        return pushes.isEmpty ? nil : pushes
    }

    /// A payload that is a value, or the text of one.
    private func payload(
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
            } else {
                push.base = (text, document, value)
            }
        default: return nil
        }
        return push
    }

    private func attributes() -> [(name: String, value: String, offset: Int, pointer: String)] {
        guard let outer, let all = outer.document.last("MessageAttributes", of: 0) else {
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

    /// Azure Notification Hubs, REST reference of installations: `#(name)` in quotes becomes a
    /// number.
    private func templates() -> [WrappedPush]? {
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
                of: member("headers", of: template.value)?.value, pointer: pointer + "/headers")
            return push
        }
    }

    /// A template with a number in the place of each `"#(name)"`.
    private static func withNumbers(_ template: EmbeddedText) -> EmbeddedText {
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

    /// PubNub, "Mobile push payloads": `pn_push` says how the push is sent, and is taken out.
    private func pubNub() -> [WrappedPush]? {
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
            let path = pointer + "/pn_apns/pn_push/0/"
            for (name, header) in [
                ("push_type", "apns-push-type"), ("collapse_id", "apns-collapse-id"),
            ] {
                guard let member = document.last(name, of: first),
                    let value = document.scalarText(member.value)
                else { continue }
                push.headers.append((header, value, offset(member.value), path + name))
            }
        }
        return [push]
    }

    /// OneSignal, reference of "Create notification".
    private func oneSignal() -> [WrappedPush]? {
        if let isIOS = member("isIos"), document.kind(isIOS.value) == .falseLiteral { return nil }
        var push = self.push
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
                ], pointer: pointer + "/contents"),
            flag("content_available", "content-available"),
            flag("mutable_content", "mutable-content"),
        ].compactMap(\.self)
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
        for (name, header) in [
            ("apns_push_type_override", "apns-push-type"), ("priority", "apns-priority"),
            ("collapse_id", "apns-collapse-id"),
        ] {
            guard let member = member(name), let value = document.scalarText(member.value) else {
                continue
            }
            push.headers.append((header, value, offset(member.value), pointer + "/" + name))
        }
        let isSilent =
            push.aps.contains { $0.name == "content-available" }
            && !push.aps.contains { ["alert", "sound"].contains($0.name) }
        let hasTemplate = member("template_id") != nil
        return push.aps.isEmpty || (hasTemplate && !isSilent) ? [] : [push]
    }
}
