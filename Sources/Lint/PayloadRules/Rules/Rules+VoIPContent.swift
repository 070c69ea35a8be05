// SPDX-License-Identifier: Apache-2.0

import StrictJSON

/// Rules about the purpose of a VoIP push, by the names and words in its data (facts §7.6).
extension Rules {
    static let voipContent: [Rule] = [
        Rule(
            "VO007", .error, "the push speaks of a call that already began",
            why: """
                After the first push the app has a connection for that; each VoIP push makes it \
                report another call.
                """,
            from: [.pushKit, .voipSession, .voipCancellation],
            fix: "Send it over the connection that the app opened for the call.", for: .voip
        ) { push, findings in
            // Several words of one push have one cause: the surest is reported.
            var surest: (node: Int, severity: Severity)?
            forEachLaterCallEvent(push) { node, severity in
                if surest.map({ severity > $0.severity }) ?? true { surest = (node, severity) }
            }
            guard let surest else { return }
            // Data of a call need not be for PushKit.
            findings.report(
                .node(surest.node), severity: push.typeIsGuess ? .note : surest.severity)
        },
        Rule(
            "VO008", .warning, "the push is not a call",
            why: """
                VoIP pushes are for calls only; an app that reports none is ended, and then gets \
                no more of them. What the words mean is a convention, so that this may be wrong.
                """,
            from: [.pushKit], fix: "Use a background or an alert push.", for: .voip,
            check: notACall),
    ]

    /// Whether a value means cancel, end, update or similar.
    static func saysLaterCallEvent(_ push: ValidationContext) -> Bool {
        var found = false
        forEachLaterCallEvent(push) { _, _ in found = true }
        return found
    }

    /// Whether the value of a discriminator means chat, sync, location or similar, and nothing
    /// indicates a call.
    static func saysOtherThanCall(_ push: ValidationContext) -> Bool {
        var found = false
        forEachOtherContent(push) { _ in found = true }
        return found
    }

    /// Calls `body` with values that mean the end of a call: the value of a key such as `type`, an
    /// error if the word is unmistakable, or a key such as `isCancelled` that is true.
    private static func forEachLaterCallEvent(
        _ push: ValidationContext, _ body: (_ node: Int, _ severity: Severity) -> Void
    ) {
        guard let document = push.document else { return }
        forEachShownText(push, document) { value in
            let words = document.wordRoles(value)
            if words.isSuperset(of: [.laterCallEvent, .call]), document.wordCount(value) <= 4 {
                body(value, .warning)
            }
        }
        forEachCallMember(push, document) { key, value in
            switch document.kind(value) {
            case .string:
                let roles = document.keyRoles(key)
                let words = document.wordRoles(value)
                if roles.contains(.discriminator), words.contains(.laterCallEvent) {
                    body(value, .error)
                } else if roles.contains(.callEventKey), words.contains(.laterCallEvent) {
                    body(value, .warning)
                } else if roles.contains(.discriminator), words.contains(.maybeLaterCallEvent),
                    !words.contains(.call) || document.hasSeveralWords(value)
                {
                    body(value, .warning)
                } else if document.hasText(value, "true"),
                    document.wordRoles(key).contains(.laterCallEvent)
                {
                    // All data of some services are texts.
                    body(key, .warning)
                }
            case .trueLiteral where document.wordRoles(key).contains(.laterCallEvent):
                body(key, .warning)
            case .trueLiteral, .falseLiteral, .null, .number, .object, .array, .key: break
            }
        }
    }

    /// Calls `body` with the members outside `aps`, and with those in the alert of a VoIP push that
    /// are not Apple's: PushKit passes them too.
    private static func forEachCallMember(
        _ push: ValidationContext, _ document: JSONDocument,
        _ body: (_ key: Int, _ value: Int) -> Void
    ) {
        push.forEachCustomMember(body)
        guard push.type == .voip, let alert = push.member(.alert)?.value,
            document.kind(alert) == .object
        else { return }
        for member in document.members(of: alert)
        where !APSKey.isOfAlert(member.key, in: document) { body(member.key, member.value) }
    }

    /// Calls `body` with visible texts: the alert or its parts, and `title` and similar keys in the
    /// root object.
    private static func forEachShownText(
        _ push: ValidationContext, _ document: JSONDocument, _ body: (_ node: Int) -> Void
    ) {
        if let alert = push.member(.alert) {
            if document.kind(alert.value) == .string { body(alert.value) }
            if document.kind(alert.value) == .object {
                for member in document.members(of: alert.value)
                where document.kind(member.value) == .string { body(member.value) }
            }
        }
        guard push.hasRootObject else { return }
        for member in document.members(of: 0) where document.kind(member.value) == .string {
            let names: [StaticString] = ["title", "message", "alert", "body", "msg_content"]
            if names.contains(where: { document.hasText(member.key, $0) }) { body(member.value) }
        }
    }

    private static func forEachOtherContent(_ push: ValidationContext, _ body: (Int) -> Void) {
        guard push.customRoles.contains(.discriminator), let document = push.document,
            !saysCall(push, document)
        else { return }
        push.forEachCustomMember { key, value in
            guard document.keyRoles(key).contains(.discriminator) else { return }
            if document.wordRoles(value).contains(.notCall) { body(value) }
        }
    }

    /// Whether a key or a short value means a call: `"sub_type": "calls"`.
    private static func saysCall(_ push: ValidationContext, _ document: JSONDocument) -> Bool {
        var found = false
        push.forEachCustomMember { key, value in
            guard !found else { return }
            found =
                document.wordRoles(value).contains(.call)
                || (document.kind(value) == .object && document.wordRoles(key).contains(.call))
        }
        return found
    }

    /// A discriminator is decisive. A key such as `message` counts only if the payload names no
    /// call, because a call may have a text.
    private static func notACall(_ push: ValidationContext, _ findings: inout Findings) {
        var isSaid = false
        let severity: Severity? = push.typeIsGuess ? .note : nil
        forEachOtherContent(push) {
            isSaid = true
            findings.report(.node($0), severity: severity)
        }
        guard !isSaid, push.customRoles.contains(.notCall), let document = push.document,
            !push.tellsCallsApart, !push.isOpaque, !saysCall(push, document)
        else { return }
        for member in document.members(of: 0)
        where document.keyRoles(member.key).contains(.notCall) {
            findings.report(
                .node(member.key), "a key speaks of something else than a call",
                severity: severity)
        }
    }
}
