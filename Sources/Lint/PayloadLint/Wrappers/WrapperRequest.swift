// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import StrictJSON
import WakeModel

/// A request to a service that forwards to APNs.
struct WrapperRequest {
    var document: JSONDocument
    var text: EmbeddedText
    /// The object with the members of the service.
    var node: Int
    /// Its JSON pointer.
    var pointer: String
    /// The document that contains it, if it is in a string.
    var outer: (document: JSONDocument, text: EmbeddedText, node: Int)?
    /// The server that it is sent to, as far as it is known.
    var destination: Destination?
    /// The topic of the device of a push gateway of Matrix around it.
    private var topicOfMatrix: (name: String, value: String, offset: Int, pointer: String)?
    /// The headers that the members beside a payload around it stand for.
    private var headersAround: [(name: String, value: String, offset: Int, pointer: String)] = []
    /// The attributes of a message of Amazon SNS that are not in the request.
    var attributesOfSNS: EmbeddedText?
    /// Whether it is a message for Firebase to which Amazon SNS adds the recipient.
    var isMessageOfSNS = false

    /// A server that requests are sent to.
    enum Destination { case formerFirebase, expo, other }

    init(document: JSONDocument, text: EmbeddedText, node: Int, pointer: String) {
        self.document = document
        self.text = text
        self.node = node
        self.pointer = pointer
    }

    /// The member names of the object.
    var names: Set<String> {
        Set(
            document.members(of: node).map {
                String(decoding: document.text($0.key), as: UTF8.self)
            })
    }

    /// The pushes that reach APNs; `nil` if the request does not have this form.
    func pushes(of form: Wrapper.Form) -> [WrappedPush]? {
        switch form {
        case .firebase: firebase()
        case .formerFirebase: formerFirebase()
        case .platforms(let types): platforms(types)
        case .templates: templates()
        case .pubNub: pubNub()
        case .oneSignal: oneSignal()
        case .gateway: gateway()
        case .gorush: gorush()
        case .expo: expo()
        case .braze: braze()
        case .fragment: fragment()
        }
    }

    /// The request in `message` of Firebase, or in `Message` of Amazon SNS, whose value is a
    /// string; otherwise the request itself. An unmistakable one has its own member `message`.
    func innerMessage() -> WrapperRequest {
        let around = names
        var request = self
        let isOther = Wrapper.all.contains { $0.isUnmistakable && $0.fits(around) }
        for name in isOther ? [] : ["message", "Message"] {
            guard let member = member(name) else { continue }
            let inner = pointer + "/" + name
            if document.kind(member.value) == .object {
                request.node = member.value
                request.pointer = inner
            } else if name == "Message", document.kind(member.value) == .string {
                let message = text.unquoted(document.content(member.value))
                guard let scanned = try? JSONScanner.scan(message.bytes),
                    scanned.kind(0) == .object
                else { continue }
                request = WrapperRequest(document: scanned, text: message, node: 0, pointer: inner)
            }
        }
        request.outer = (document, text, node)
        return request
    }

    /// The pushes of a request to a service that is known, and whether it is unmistakably one;
    /// `isCertain` says that it has to be.
    func known(isCertain: Bool) -> (pushes: [WrappedPush], isUnmistakable: Bool)? {
        let names = names
        for wrapper in Wrapper.all where wrapper.fits(names) {
            guard wrapper.isUnmistakable || !isCertain, let pushes = pushes(of: wrapper.form)
            else { continue }
            return (pushes, wrapper.isUnmistakable)
        }
        return nil
    }

    var push: WrappedPush {
        var push = WrappedPush()
        push.start = text.fileOffset(of: Int(document.nodes[node].start))
        push.pointer = pointer
        return push
    }

    func member(_ name: String, of object: Int? = nil) -> (key: Int, value: Int)? {
        document.last(name, of: object ?? node)
    }

    func offset(_ node: Int) -> Int { text.fileOffset(of: Int(document.nodes[node].start)) }

    func literal(_ node: Int) -> EmbeddedText { text.slice(document.range(of: node)) }

    /// An alert with the texts of some members.
    func alert(
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
    func data(_ object: Int?, pointer: String) -> [WrappedPush.Member] {
        guard let object, document.kind(object) == .object else { return [] }
        return document.members(of: object).map { member in
            let name = String(decoding: document.text(member.key), as: UTF8.self)
            return WrappedPush.Member(
                name: name, value: literal(member.value),
                pointer: pointer + "/" + JSONPointerText.escaped(name))
        }
    }

    func headers(
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

    /// Firebase Cloud Messaging, REST reference of `ApnsConfig`: without `apns-priority`, a push
    /// has priority 10.
    func firebase() -> [WrappedPush]? {
        let apns = member("apns")
        let notification = member("notification")
        if let apns, document.kind(apns.value) != .object { return nil }
        if isFormerBesideParts { return formerMessage() }
        // Another service, whose `notification` is the payload.
        if notification.flatMap({ member("aps", of: $0.value) }) != nil { return nil }
        let payload = apns.flatMap { member("payload", of: $0.value) }
        let given = apns.flatMap { member("headers", of: $0.value) }
        let misplaced = misplacedAPS(apns?.value)
        let refusals = refusals()
        guard payload != nil || given != nil || notification != nil || misplaced != nil else {
            if !refusals.isEmpty { return [faulty(refusals)] }
            // The parts for other platforms, or a `message` with data only, send nothing to APNs.
            let others = ["android", "webpush"] + (pointer.isEmpty ? [] : ["data"])
            return others.contains { member($0) != nil } ? [] : nil
        }
        // Without an enclosing `message`, it is a message of one of Firebase's libraries.
        var push = firebase(
            given?.value, payload?.value, at: pointer + "/apns",
            isOfLibrary: pointer.isEmpty && !hasTextualLifetime)
        // A message without recipient and content is merged with another one that has them.
        let rest = ["token", "tokens", "topic", "condition", "notification", "to"]
        push.isPart = pointer.isEmpty && !rest.contains { member($0) != nil }
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
        push.faults += refusals + payloadForBeams() + withoutActivityToken()
        if let misplaced { take(misplaced, to: &push) }
        return [push]
    }

    /// Whether a request to the former API has parts for platforms, which that API ignores.
    private var isFormerBesideParts: Bool {
        guard pointer.isEmpty, hasFormerRecipient, destination != .other, !isForPerson,
            ["token", "tokens", "topic"].allSatisfy({ member($0) == nil }),
            member("to").map({ document.kind($0.value) == .string }) ?? true
        else { return false }
        return showsFormerFirebase
    }

    /// The member `aps` of `apns` beside `payload` or `headers`, or in a message with a recipient,
    /// or with parts for other platforms by Firebase's names.
    private func misplacedAPS(_ apns: Int?) -> (key: Int, value: Int)? {
        guard let apns, let aps = member("aps", of: apns), document.kind(aps.value) == .object
        else { return nil }
        let isMessage =
            hasPartForOthers
            || ["token", "tokens", "topic", "condition"].contains { member($0) != nil }
        let isBeside = ["payload", "headers"].contains { member($0, of: apns) != nil }
        return isBeside || isMessage && member("interests") == nil ? aps : nil
    }

    /// Reports `aps` outside of the payload, and judges it as if it were inside.
    private func take(_ aps: (key: Int, value: Int), to push: inout WrappedPush) {
        let pointer = self.pointer + "/apns/aps"
        push.faults.append(
            PushDocument.Fault(
                rule: "G010",
                message: "`aps` is beside `payload`, and Firebase sends only what is inside",
                fix: "Move `aps` into `payload`.", place: .offset(offset(aps.key)),
                pointer: pointer))
        let own = document.members(of: aps.value).map { member in
            let name = String(decoding: document.text(member.key), as: UTF8.self)
            return WrappedPush.Member(
                name: name, value: literal(member.value),
                pointer: pointer + "/" + JSONPointerText.escaped(name))
        }
        push.aps = own + push.aps.filter { given in !own.contains { $0.name == given.name } }
    }

    /// The push that Firebase creates from the headers and the payload of `apns`.
    private func firebase(
        _ given: Int?, _ payload: Int?, at pointer: String, isOfLibrary: Bool
    ) -> WrappedPush {
        var push = self.push
        push.isForFirebase = true
        push.pointerOfAPS = pointer + "/payload/aps"
        if let payload {
            push.base = (text, document, payload)
            push.pointer = pointer + "/payload"
            if isOfLibrary { push.useLibraryNames() }
            push.start = offset(payload)
        }
        push.headers = headers(of: given, pointer: pointer + "/headers")
        // Rule H017 speaks of one without its prefix.
        let names = ["apns-priority", "priority"]
        if !push.headers.contains(where: { names.contains($0.name.lowercased()) }) {
            push.headers.append(
                (
                    "apns-priority", "10", given.map { offset($0) } ?? push.start,
                    pointer + (given == nil ? "" : "/headers")
                ))
        }
        return push
    }

    /// Headers and a payload with names of Firebase's libraries and Boolean flags: the value of
    /// `apns` without the message. Returns `nil` if they have Apple's names, or if there is a
    /// topic, which Firebase adds.
    func libraryConfiguration() -> [WrappedPush]? {
        guard let given = member("headers"), let payload = member("payload"),
            member("apns-topic", of: given.value) == nil,
            let aps = member("aps", of: payload.value),
            WrappedPush.hasLibraryValues(aps.value, in: document)
        else { return nil }
        return [firebase(given.value, payload.value, at: pointer, isOfLibrary: true)]
    }

    /// The payload of a request without other content.
    func fragment() -> [WrappedPush]? {
        guard let payload = member("payload"), member("aps", of: payload.value) != nil else {
            return nil
        }
        guard var push = self.payload(payload.value, pointer: pointer + "/payload") else {
            return nil
        }
        push.isPart = true
        push.isUnmistakable = Wrapper.deviceTokens.contains { member($0) != nil }
        push.headers = headersBesidePayload
        return [push]
    }

    /// The push type that a member beside `payload` names, and the priority with it: libraries for
    /// APNs have them there.
    private var headersBesidePayload: [(name: String, value: String, offset: Int, pointer: String)]
    {
        let found = { (names: [String]) -> (String, value: String, offset: Int, pointer: String)? in
            for name in names {
                guard let given = member(name), let value = document.scalarText(given.value) else {
                    continue
                }
                return (name, value, offset(given.value), pointer + "/" + name)
            }
            return nil
        }
        guard let type = found(["pushType", "push_type", "PushType", "apnsPushType"]),
            PushType.all.contains(where: { $0.rawValue == type.value })
        else { return [] }
        let priority = found(["priority", "Priority"]).flatMap { given in
            ["1", "5", "10"].contains(given.value) ? given : nil
        }
        return [("apns-push-type", type.value, type.offset, type.pointer)]
            + [priority].compactMap(\.self).map {
                ("apns-priority", $0.value, $0.offset, $0.pointer)
            }
    }

    /// The maximum depth of a payload in a request to an unknown service.
    static let maximumDepth = 4

    /// The payloads at any depth of a request: an unknown service passes them to Firebase or to
    /// APNs unchanged. Returns `nil` if there are none.
    func nested() -> [WrappedPush]? {
        var pushes: [WrappedPush] = []
        var pending = [(self, depth: 0, isUnmistakable: false)]
        while let (next, depth, isUnmistakable) = pending.popLast() {
            let request = next.inDeviceOfMatrix()
            if depth > 0, request.member("apns") != nil, let found = request.firebase() {
                for var push in found {
                    push.isPart = true
                    pushes.append(push)
                }
                continue
            }
            let isForGateway = request.member("app") != nil
            if let found = isForGateway ? request.gateway() : request.expo() {
                pushes += found
                continue
            }
            let aps = request.member("aps").map { document.kind($0.value) }
            if aps == .object {
                guard var push = request.payload(request.node, pointer: request.pointer) else {
                    continue
                }
                push.isPart = depth > 0
                push.isUnmistakable = isUnmistakable
                push.headers = request.headersAround
                if let topic = request.topicOfMatrix {
                    push.headers.append(topic)
                    push.hasServiceID = true
                }
                pushes.append(push)
                continue
            }
            if let found = request.collected() {
                pushes += found
                continue
            }
            guard depth < Self.maximumDepth, !request.isSchema else { continue }
            let hasToken = Wrapper.deviceTokens.contains { request.member($0) != nil }
            let headers = request.headersBesidePayload
            for member in document.members(of: request.node) {
                var inner = request
                let name = String(decoding: document.text(member.key), as: UTF8.self)
                inner.pointer += "/" + JSONPointerText.escaped(name)
                inner.node = member.value
                if name.lowercased() == "payload" { inner.headersAround = headers }
                let isUnmistakable =
                    Wrapper.payloadNames.contains(name) || hasToken && name == "payload"
                switch document.kind(member.value) {
                case .object: pending.append((inner, depth + 1, isUnmistakable))
                case .array: pending += inner.elements.map { ($0, depth + 1, isUnmistakable) }
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

    /// The request, in which a device of a push gateway of Matrix says by the end of its app id
    /// that its pushes are for PushKit (Matrix specification, "Push Gateway API").
    private func inDeviceOfMatrix() -> WrapperRequest {
        guard member("pushkey") != nil, let app = member("app_id"),
            let id = document.scalarText(app.value), id.hasSuffix(".voip")
        else { return self }
        var request = self
        request.topicOfMatrix = ("apns-topic", id, offset(app.value), pointer + "/app_id")
        return request
    }

    /// Whether the object is a JSON Schema, which describes others.
    private var isSchema: Bool {
        member("$schema").flatMap { document.scalarText($0.value) }?.contains("json-schema") == true
            || member("properties") != nil
                && member("type").flatMap { document.scalarText($0.value) } == "object"
    }

    /// The objects of a list.
    var elements: [WrapperRequest] {
        document.elements(of: node).enumerated().compactMap { index, element in
            guard document.kind(element) == .object else { return nil }
            var request = self
            request.node = element
            request.pointer += "/\(index)"
            return request
        }
    }
}
