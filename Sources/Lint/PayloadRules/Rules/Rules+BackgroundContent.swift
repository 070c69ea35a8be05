// SPDX-License-Identifier: Apache-2.0

import StrictJSON

/// Rules about the purpose of a background push, by the names in its custom data.
extension Rules {
    static let backgroundContent: [Rule] = [
        Rule(
            "BG022", .warning, "the payload carries what must not be lost",
            why: """
                Of several held background pushes only the newest survives, and delivery is not \
                guaranteed.
                """,
            from: [.backgroundUpdates],
            fix: "Send a hint, and let the app fetch what changed when it wakes.",
            for: .background, check: uniqueState),
        Rule(
            "BG023", .note, "no version, cursor or event id is in the custom data",
            why: "The app cannot tell whether it missed something.", from: [.proposal],
            fix: "Add what the app can compare with what it has, such as \"version\".",
            for: .background
        ) { push, findings in
            if push.hasRootObject, !push.customRoles.contains(.version) { findings.report(.whole) }
        },
        Rule(
            "BG024", .warning, "the payload speaks of something that a person waits for",
            why: "A background push comes late or never; what is urgent needs another channel.",
            from: [.proposal],
            fix: "Use an alert push for messages and codes, a VoIP push for calls.",
            for: .background, check: urgentContent),
    ]

    private static func uniqueState(_ push: ValidationContext, _ findings: inout Findings) {
        let suspects: NameRole = [.change, .oneTimeCode, .prose]
        guard !push.customRoles.isDisjoint(with: suspects), let document = push.document else {
            return
        }
        push.forEachCustomMember { key, value in
            let roles = document.keyRoles(key)
            if roles.contains(.change), isContent(value, document), !isCursor(value, document) {
                findings.report(.node(key), "the payload carries changes to apply")
            } else if roles.contains(.oneTimeCode), isContent(value, document, orNumber: true) {
                findings.report(.node(key), "the payload carries a one-time code")
            } else if roles.contains(.prose), isProse(value, document) {
                // The app may show it at once, and fetch the rest later.
                findings.report(
                    .node(key), "the payload carries what somebody wrote", severity: .note)
            }
        }
    }

    private static func urgentContent(_ push: ValidationContext, _ findings: inout Findings) {
        guard push.customRoles.contains(.discriminator), let document = push.document else {
            return
        }
        push.forEachCustomMember { key, value in
            // The end of a call, or the deletion of a message, needs to reach only a running app.
            let words = document.wordRoles(value)
            guard words.contains(.urgent), words.isDisjoint(with: [.laterCallEvent, .upkeep]),
                document.keyRoles(key).contains(.discriminator)
            else { return }
            // A message can wait until the app fetches it, and another push may tell of it. A
            // payload that names a call may be that of a VoIP push.
            let isCertain = words.contains(.ringing) && !(push.isBare && push.tellsCallsApart)
            findings.report(.node(value), severity: isCertain ? nil : .note)
        }
    }

    private static func isContent(
        _ value: Int, _ document: JSONDocument, orNumber: Bool = false
    ) -> Bool {
        switch document.kind(value) {
        case .object, .array: document.childCount(of: value) > 0
        case .string: !document.isEmptyString(value)
        case .number: orNumber
        case .key, .trueLiteral, .falseLiteral, .null: false
        }
    }

    /// Whether an object only says from where to fetch: `"delta": {"since": 7}`.
    private static func isCursor(_ value: Int, _ document: JSONDocument) -> Bool {
        document.kind(value) == .object
            && document.members(of: value).allSatisfy {
                document.keyRoles($0.key).contains(.version) && document.kind($0.value) != .object
                    && document.kind($0.value) != .array
            }
    }

    /// Whether a value is a text of several words, or contains one: a single word is probably a
    /// name or an id.
    private static func isProse(_ value: Int, _ document: JSONDocument) -> Bool {
        (value..<max(value + 1, Int(document.nodes[value].next))).contains { node in
            guard document.kind(node) == .string else { return false }
            return document.text(node).split { $0 == 0x20 || $0 == 0x0a }.count >= 2
        }
    }
}
