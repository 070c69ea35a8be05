// SPDX-License-Identifier: Apache-2.0

/// Rules about what a VoIP push is used for, by the names and words in its data (facts §7.6).
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
            forEachLaterCallEvent(push) { findings.report(.node($0)) }
        },
        Rule(
            "VO008", .error, "the push is not a call",
            why: """
                VoIP pushes are for calls only; an app that reports none is ended, and then gets \
                no more of them.
                """,
            from: [.pushKit], fix: "Use a background or an alert push.", for: .voip,
            check: notACall),
    ]

    /// Whether a discriminator's value says cancel, end, update and the like.
    static func saysLaterCallEvent(_ push: Examination) -> Bool {
        var found = false
        forEachLaterCallEvent(push) { _ in found = true }
        return found
    }

    /// Whether a discriminator's value says chat, sync, location and the like, and no call.
    static func saysOtherThanCall(_ push: Examination) -> Bool {
        var found = false
        forEachOtherContent(push) { _ in found = true }
        return found
    }

    private static func forEachLaterCallEvent(_ push: Examination, _ body: (Int) -> Void) {
        forEachDiscriminator(push) { value, roles in
            if roles.contains(.laterCallEvent) { body(value) }
        }
    }

    private static func forEachOtherContent(_ push: Examination, _ body: (Int) -> Void) {
        forEachDiscriminator(push) { value, roles in
            if roles.contains(.notCall), !roles.contains(.call) { body(value) }
        }
    }

    private static func forEachDiscriminator(
        _ push: Examination, _ body: (_ value: Int, _ roles: NameRole) -> Void
    ) {
        guard push.customRoles.contains(.discriminator), let document = push.document else {
            return
        }
        push.forEachCustomMember { key, value in
            guard document.keyRoles(key).contains(.discriminator) else { return }
            body(value, document.wordRoles(value))
        }
    }

    /// A discriminator decides; a key such as `message` alone is an error only where the payload
    /// names no call either, since a call may well carry a text.
    private static func notACall(_ push: Examination, _ findings: inout Findings) {
        forEachOtherContent(push) { findings.report(.node($0)) }
        guard push.customRoles.contains(.notCall), let document = push.document else { return }
        let severity: Severity = push.callID == nil ? .error : .warning
        for member in document.members(of: 0)
        where document.keyRoles(member.key).contains(.notCall) {
            findings.report(
                .node(member.key), "a key speaks of something else than a call",
                severity: severity)
        }
    }
}
