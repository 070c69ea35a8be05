// SPDX-License-Identifier: Apache-2.0

import StrictJSON

/// Rules about values and strings anywhere in the body.
extension Rules {
    /// The number of avoidable `\u` escapes from which rule G018 applies; fewer cost little.
    static let avoidableEscapeLimit = 4

    static let genericValues: [Rule] = [
        Rule(
            "G015", .warning, "a value is null",
            why: "It arrives in the app as NSNull, on which code that expects a string crashes.",
            from: [.remoteNotificationHandler], fix: "Leave the key out.", check: nulls),
        Rule(
            "G017", .warning, "a value looks like a secret or personal data",
            why: "Apple asks that no customer data or sensitive data be sent in clear.",
            from: [.generating],
            fix: "Send a reference that the app resolves, or encrypt the value.", check: secrets),
        Rule(
            "G018", .note, "characters are written as \\u escapes",
            why: "An escape takes 6 bytes or 12, where UTF-8 needs 2 to 4.", from: [.practice],
            fix: "Write the characters themselves, in UTF-8.", check: avoidableEscapes),
        Rule(
            "G019", .warning, "a surrogate escape has no partner",
            why: "It is no character; parsers refuse it, replace it or keep it.",
            from: [.rfc8259("§8.2")],
            fix: "Do not cut text inside a character, and write characters as UTF-8."
        ) { push, findings in
            guard push.summary.traits.contains(.loneSurrogate), let document = push.document else {
                return
            }
            for (index, node) in document.nodes.enumerated()
            where node.traits.contains(.loneSurrogate) {
                findings.report(.node(index))
            }
        },
    ]

    private static func nulls(_ push: ValidationContext, _ findings: inout Findings) {
        guard push.summary.contains(.null), let document = push.document else { return }
        var appleValues: Set<Int> = []
        if let aps = push.apsObject {
            for member in document.members(of: aps) {
                guard let key = APSKey.named(member.key, in: document) else { continue }
                if document.kind(member.value) == .null {
                    appleValues.insert(member.value)
                    // Rule VO009 asks to remove the key.
                    if push.type == .voip, APSKey.withoutEffectInVoIP.contains(key) { continue }
                    findings.report(.node(member.value), "`\(key.name)` is null")
                } else if document.kind(member.value) == .object {
                    let parts = key.parts(in: push.type).map(\.name)
                    for part in document.members(of: member.value)
                    where document.kind(part.value) == .null {
                        guard let name = parts.first(where: { document.hasText(part.key, $0) })
                        else { continue }
                        appleValues.insert(part.value)
                        findings.report(.node(part.value), "`\(name)` is null")
                    }
                }
            }
        }
        for (index, node) in document.nodes.enumerated()
        where node.kind == .null && !appleValues.contains(index) {
            findings.report(.node(index), severity: .note)
        }
    }

    private static func secrets(_ push: ValidationContext, _ findings: inout Findings) {
        guard let document = push.document else { return }
        for index in document.nodes.indices {
            guard let kind = Sensitive.kind(ofNode: index, in: document) else { continue }
            // One in ten numeric identifiers passes the check of card numbers by chance.
            if kind == .cardNumber, namesSomething(index, in: document) { continue }
            let key = index > 0 && document.kind(index - 1) == .key ? index - 1 : nil
            let name = key.map { String(decoding: document.text($0), as: UTF8.self).lowercased() }
            // The address of a call or a chat has the same form as a mail address.
            if kind == .emailAddress, let name,
                ["uri", "jid", "sip"].contains(where: name.hasSuffix)
            {
                continue
            }
            // A calling service passes a short-lived token for one call to the app, and the app
            // must show the caller.
            let isForCall =
                push.type == .voip
                && (kind == .jsonWebToken
                    || kind == .emailAddress
                        && key.map { document.keyRoles($0).contains(.caller) } == true)
            // Services identify users and chats by texts that have the form of an address.
            let isOfUser = kind == .emailAddress && name?.contains("mail") != true
            findings.report(
                .node(index), "a value looks like \(kind.noun)",
                severity: isForCall || isOfUser ? .note : nil)
        }
    }

    /// Whether the member's key ends like that of an identifier: `id`, `orderId`, `message_id`.
    private static func namesSomething(_ value: Int, in document: JSONDocument) -> Bool {
        guard value > 0, document.kind(value - 1) == .key else { return false }
        let key = String(decoding: document.text(value - 1), as: UTF8.self)
        guard key.lowercased().hasSuffix("id"), !key.lowercased().contains("card") else {
            return false
        }
        // Not `paid`.
        guard let before = key.dropLast(2).last else { return true }
        return !before.isLetter || before.isLowercase && key.dropLast().last == "I"
    }

    private static func avoidableEscapes(_ push: ValidationContext, _ findings: inout Findings) {
        let count = push.summary.avoidableEscapeCount
        guard count >= avoidableEscapeLimit, let document = push.document,
            let first = document.nodes.firstIndex(where: { $0.traits.contains(.avoidableEscape) })
        else { return }
        findings.report(
            .node(first), "\(count) characters are written as \\u escapes, from here on",
            repair: Repair(
                edits: document.nodes.indices
                    .filter { document.nodes[$0].traits.contains(.avoidableEscape) }
                    .flatMap(document.replacingEscapes), isSafe: true))
    }
}
