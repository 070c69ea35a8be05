// SPDX-License-Identifier: Apache-2.0

import StrictJSON

/// Rules about background pushes: the contents of `aps`, and the headers.
extension Rules {
    static let background: [Rule] = [
        Rule(
            "BG001", .error, "nothing in the payload wakes the app",
            why: "Only `content-available` 1 inside `aps` makes a push a background push.",
            from: [.backgroundUpdates, .pushTypeMatrix], fix: "Set `content-available` to 1.",
            for: .background, check: nothingWakes),
        interactionKey("BG002", .alert),
        interactionKey("BG003", .sound),
        interactionKey("BG004", .badge),
        Rule(
            "BG005", .warning, "`aps` holds more than `content-available`",
            why: "Apple asks that `aps` of a background push hold `content-available` alone.",
            from: [.backgroundUpdates], fix: "Remove the key.", for: .background,
            check: otherKeys),
        Rule(
            "BG010", .error, "`content-available` is not a number",
            why: "Apple documents a number; clients differ in what they make of anything else.",
            from: [.generating, .practice], fix: "Write 1, without quotes.", for: .background
        ) { push, findings in
            guard let member = push.contentAvailable, let document = push.document else {
                return
            }
            switch document.kind(member.value) {
            case .string where document.hasText(member.value, "1"):
                findings.report(.node(member.value), repair: writingOne(member.value, document))
            case .string, .object, .array, .null, .falseLiteral:
                findings.report(
                    .node(member.value),
                    repair: writingOne(member.value, document, isSafe: false))
            case .number, .trueLiteral, .key:
                break
            }
        },
        Rule(
            "BG011", .warning, "`content-available` is true instead of 1",
            why: "Apple documents the number 1; true often works, and nobody promises it.",
            from: [.generating], fix: "Write 1.", for: .background
        ) { push, findings in
            guard let member = push.contentAvailable, let document = push.document,
                document.kind(member.value) == .trueLiteral
            else { return }
            findings.report(.node(member.value), repair: writingOne(member.value, document))
        },
        Rule(
            "BG012", .warning, "`content-available` is a number other than 1",
            why: "Only 1 has a meaning.", from: [.generating], fix: "Write 1.",
            for: [.background, .alert]
        ) { push, findings in
            guard let member = push.contentAvailable, let document = push.document,
                document.kind(member.value) == .number, !document.isNumber(member.value, "1")
            else { return }
            if push.type == .alert {
                // Beside an alert it does no harm.
                guard push.draft != nil, push.hasVisibleKeys, document.double(member.value) != 1
                else { return }
                findings.report(
                    .node(member.value), "`content-available` is not 1, and has no effect",
                    fix: "Remove the key.",
                    severity: document.double(member.value) == 0 ? .note : nil)
            } else if document.double(member.value) == 1 {
                findings.report(
                    .node(member.value), "`content-available` is 1 in another form",
                    severity: .note,
                    repair: writingOne(member.value, document))
            } else {
                findings.report(
                    .node(member.value),
                    repair: writingOne(member.value, document, isSafe: false))
            }
        },
        Rule(
            "BG016", .warning, "an empty text beside `content-available`",
            why: "An empty alert or sound makes a push neither silent nor visible.",
            // In a background push, BG002 and BG003 apply to the key, empty or not.
            from: [.practice], fix: "Remove the key.", for: .alert, check: emptyVisibleKeys),
        Rule(
            "BG017", .warning, "`mutable-content` in a silent push",
            why: "A notification service extension runs for visible alerts only.",
            from: [.serviceExtension], fix: "Remove it, or send an alert push.", for: .background
        ) { push, findings in
            guard let member = push.member(.mutableContent) else { return }
            findings.report(.node(member.key), repair: removing(member.key, push))
        },
        Rule(
            "BG018", .note, "the request has no expiration",
            why: """
                APNs by itself would keep the push for up to 30 days, and a hint that old is \
                worthless.
                """,
            from: [.metrics], fix: "Say until when the wake is worth something.",
            for: .background, in: .headers
        ) { push, findings in
            if case .absent = expiration(of: push) { findings.report(.header(expirationHeader)) }
        },
        Rule(
            "BG019", .note, "apns-expiration is 0",
            why: "The push is lost where the device is offline or saves power.",
            from: [.sending, .metrics], fix: "Give a time ahead if the wake can wait.",
            for: .background, in: .headers
        ) { push, findings in
            if case .zero = expiration(of: push) { findings.report(.header(expirationHeader)) }
        },
        Rule(
            "BG026", .note, "a silent push has a collapse id",
            why: """
                Apple documents it for merging what the user sees; of background pushes the \
                device keeps one anyway.
                """,
            from: [.sending], fix: "Leave it out.", for: .background, in: .headers
        ) { push, findings in
            if push.headers?.hasCollapseID == true { findings.report(.header(collapseIDHeader)) }
        },
    ]

    private static func interactionKey(_ id: RuleID, _ key: APSKey) -> Rule {
        Rule(
            id, .error, "a background push has `\(key.name)`",
            why: """
                A background push must not hold keys that reach the user, not even empty ones or \
                0; it is not shown either.
                """,
            from: [.backgroundUpdates],
            fix: "Remove `\(key.name)`, or send an alert push.", for: .background
        ) { push, findings in
            guard let member = push.member(key) else { return }
            findings.report(.node(member.key), repair: removing(member.key, push))
        }
    }

    /// Replaces a value by the number 1.
    private static func writingOne(
        _ value: Int, _ document: JSONDocument, isSafe: Bool = true
    ) -> Repair {
        Repair(edits: [document.replacing(value, with: "1")], isSafe: isSafe)
    }

    /// Removes a key of `aps`. This changes the meaning of the push, so that a person should review
    /// it.
    static func removing(_ key: Int, _ push: ValidationContext) -> Repair? {
        guard let document = push.document, let aps = push.apsObject else { return nil }
        return Repair(edits: [document.removing(memberWithKey: key, of: aps)], isSafe: false)
    }

    private static func nothingWakes(_ push: ValidationContext, _ findings: inout Findings) {
        guard push.hasRootObject, !push.isForPass, let document = push.document else { return }
        guard let member = push.contentAvailable else {
            guard !isMisspelt(.contentAvailable, in: push) else { return }
            let place = push.aps.map { Findings.Place.node($0.value) } ?? .whole
            findings.report(
                place, "`content-available` is missing from `aps`, so nothing wakes the app",
                repair: addingContentAvailable(push, document))
            return
        }
        switch document.kind(member.value) {
        case .trueLiteral: return
        case .number where document.isNumber(member.value, "1"): return
        case .number where document.double(member.value) == 1: return
        default: findings.report(.node(member.value))
        }
    }

    /// Adds the key to `aps`, unless it seems to be there or in the root object in another
    /// spelling.
    private static func addingContentAvailable(
        _ push: ValidationContext, _ document: JSONDocument
    ) -> Repair? {
        guard let aps = push.apsObject else { return nil }
        let hasSpelling = [0, aps].contains { object in
            document.members(of: object).contains {
                NearMiss.isNearContentAvailable(document.text($0.key))
            }
        }
        guard !hasSpelling else { return nil }
        let member = Array("\"content-available\":1".utf8)
        return Repair(edits: [document.inserting(member, intoObject: aps)], isSafe: false)
    }

    private static func otherKeys(_ push: ValidationContext, _ findings: inout Findings) {
        let ruled: APSKeySet = [
            APSKeySet(.contentAvailable), APSKeySet(.alert), APSKeySet(.sound), APSKeySet(.badge),
            // Rule BG017 covers it.
            APSKeySet(.mutableContent),
        ]
        guard !push.apsKeys.isSubset(of: ruled), let document = push.document,
            let aps = push.apsObject
        else { return }
        for member in document.members(of: aps) {
            guard let key = APSKey.named(member.key, in: document),
                !ruled.contains(APSKeySet(key))
            else { continue }
            findings.report(
                .node(member.key), "a background push has `\(key.name)`",
                repair: removing(member.key, push))
        }
    }

    /// The alert and the sound beside `content-available`, if neither has a text.
    static func emptyTexts(
        _ push: ValidationContext
    ) -> [(name: StaticString, key: Int, value: Int)] {
        let visible: APSKeySet = [APSKeySet(.alert), APSKeySet(.sound)]
        guard push.apsKeys.contains(.contentAvailable), !push.apsKeys.isDisjoint(with: visible),
            let document = push.document
        else { return [] }
        let members = [APSKey.alert, .sound].compactMap { key in
            push.member(key).map { (name: key.name, key: $0.key, value: $0.value) }
        }
        let isEmpty = { (value: Int) in
            switch document.kind(value) {
            case .string: document.isEmptyString(value)
            case .object: document.childCount(of: value) == 0
            default: false
            }
        }
        // A key that is not empty makes the push visible.
        return members.allSatisfy { isEmpty($0.value) } ? members : []
    }

    private static func emptyVisibleKeys(_ push: ValidationContext, _ findings: inout Findings) {
        let members = emptyTexts(push)
        guard let first = members.first else { return }
        let names = members.map { "`\($0.name)`" }
        findings.report(
            .node(first.value),
            names.count == 1 ? "\(names[0]) is empty" : "\(names[0]) and \(names[1]) are empty",
            fix: names.count == 1 ? nil : "Remove both.", repair: removing(first.key, push))
    }
}
