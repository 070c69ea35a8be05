// SPDX-License-Identifier: Apache-2.0

import WakeModel

/// Rules about Apple's keys and names that others keep for themselves.
extension Rules {
    static let genericKeys: [Rule] = [
        Rule(
            "G010", .error, "`aps` is missing or not an object",
            why: "This push type takes its instructions from the dictionary `aps`.",
            from: [.generating], fix: "Add \"aps\":{\"content-available\":1} at the top level.",
            for: .background, check: missingAPS),
        Rule(
            "G011", .warning, "a key inside `aps` is none of Apple's",
            why: "Custom keys inside `aps` are ignored; they belong beside it.",
            from: [.generating], fix: "Move it out of `aps` to the top level."
        ) { push, findings in
            forEachForeignKey(push) { key, nearMiss in
                if nearMiss == nil { findings.report(.node(key)) }
            }
        },
        Rule(
            "G012", .warning, "a key inside `aps` is misspelt",
            why: "Apple's keys are exact, in lower case with hyphens; all others are ignored.",
            from: [.practice, .generating], fix: "Write the key as Apple does."
        ) { push, findings in
            forEachForeignKey(push) { key, nearMiss in
                guard let name = nearMiss?.name else { return }
                findings.report(
                    .node(key), "a key inside `aps` is misspelt: `\(name)` was probably meant",
                    fix: "Write `\(name)`.")
            }
        },
        Rule(
            "G013", .warning, "one of Apple's keys stands beside `aps`",
            why: "Apple's keys have no effect outside `aps`.", from: [.generating],
            fix: "Move it into `aps`.", for: .background, check: keysBesideAPS),
        Rule(
            "G014", .error, "a key inside `aps` has a value of the wrong type or range",
            why: "Apple documents the type of each key's value.", from: [.generating],
            fix: "Give a value of the documented type.", check: wrongValues),
        Rule(
            "G016", .warning, "a custom key is reserved by another push service",
            why: "Firebase Cloud Messaging strips or refuses such keys.", from: [.fcmReservedKeys],
            fix: "Rename the key.", check: reservedKeys),
    ]

    private static func missingAPS(_ push: Examination, _ findings: inout Findings) {
        guard push.hasRootObject else { return }
        if let aps = push.aps {
            if push.apsObject == nil {
                findings.report(.node(aps.value), "`aps` is not an object")
            }
        } else {
            findings.report(.whole, "`aps` is missing")
        }
    }

    private static func forEachForeignKey(
        _ push: Examination, _ body: (_ key: Int, _ nearMiss: APSKey?) -> Void
    ) {
        guard push.hasForeignAPSKeys, let document = push.document, let aps = push.apsObject else {
            return
        }
        for member in document.members(of: aps) {
            if APSKey.named(member.key, in: document) == nil {
                body(member.key, NearMiss.key(near: document.text(member.key)))
            }
        }
    }

    /// The five keys that are seen at the top level. The two that no app would choose for itself
    /// are recognised in other spellings too.
    private static func keysBesideAPS(_ push: Examination, _ findings: inout Findings) {
        guard push.rootKeys.lengths & lengthsOfMistakes != 0, let document = push.document else {
            return
        }
        for member in document.members(of: 0) {
            if let key = APSKey.named(member.key, in: document),
                topLevelMistakes.contains(APSKeySet(key))
            {
                findings.report(.node(member.key), "`\(key.name)` stands beside `aps`")
            } else if let key = spelling(of: member.key, in: document) {
                findings.report(
                    .node(member.key), "a spelling of `\(key.name)` stands beside `aps`",
                    fix: "Write `\(key.name)` inside `aps`.")
            }
        }
    }

    private static let topLevelMistakes: APSKeySet = [
        APSKeySet(.contentAvailable), APSKeySet(.alert), APSKeySet(.badge), APSKeySet(.sound),
        APSKeySet(.mutableContent),
    ]

    /// The lengths that those keys have in any of their spellings.
    private static let lengthsOfMistakes: UInt64 = ([5] + Array(14...63)).reduce(0) {
        $0 | KeyGlance.bit(ofLength: $1)
    }

    private static func spelling(of key: Int, in document: JSONDocument) -> APSKey? {
        guard (14...64).contains(document.content(key).count) else { return nil }
        let letters = NearMiss.letters(document.text(key))
        if letters == Array("contentavailable".utf8) { return .contentAvailable }
        if letters == Array("mutablecontent".utf8) { return .mutableContent }
        return nil
    }

    /// `content-available` of a background push has rules of its own (BG010–BG012), and so has
    /// `null` (G015).
    private static func wrongValues(_ push: Examination, _ findings: inout Findings) {
        guard push.type != .background || !push.apsKeys.isSubset(of: [.init(.contentAvailable)]),
            let document = push.document, let aps = push.apsObject
        else { return }
        for member in document.members(of: aps) {
            guard let key = APSKey.named(member.key, in: document),
                key != .contentAvailable || push.type != .background,
                document.kind(member.value) != .null
            else { continue }
            if !key.shape.fits(member.value, in: document) {
                findings.report(
                    .node(member.value), "`\(key.name)` must be \(key.shape.noun)",
                    fix: "Give \(key.shape.noun), or leave the key out.")
            }
        }
    }

    private static func reservedKeys(_ push: Examination, _ findings: inout Findings) {
        let firstBytes = push.settings.reservedFirstBytes
        guard push.rootKeys.firstBytes & firstBytes != 0, let document = push.document else {
            return
        }
        for member in document.members(of: 0) {
            var glance = KeyGlance()
            glance.look(at: member.key, in: document)
            guard glance.firstBytes & firstBytes != 0 else { continue }
            for reserved in push.settings.reservedKeys
            where reserved.matches(member.key, in: document) {
                findings.report(.node(member.key))
                break
            }
        }
    }
}
