// SPDX-License-Identifier: Apache-2.0

import StrictJSON
import WakeModel

/// Rules about alert pushes.
extension Rules {
    static let alert: [Rule] = [
        Rule(
            "AL001", .error, "an alert push has nothing to show, play or count",
            why: "An alert push needs at least one of `alert`, `badge` and `sound`.",
            from: [.sending, .generating], fix: "Add `alert`, or send another push type.",
            for: .alert
        ) { push, findings in
            guard push.hasRootObject, !push.isForPass else { return }
            guard push.hasVisibleKeys else {
                guard ![.alert, .badge, .sound].contains(where: { isMisspelt($0, in: push) }) else {
                    return
                }
                // It may be of another type: servers of calls send an empty `aps` beside data, or
                // have their own data in it, which rule G011 reports.
                let isOther = push.hasEmptyAPSBesideData || push.hasOwnDataInAPS
                guard !push.typeIsGuess || !isOther else { return }
                findings.report(
                    push.aps.map { .node($0.value) } ?? .whole,
                    severity: push.typeIsGuess ? .warning : nil)
                return
            }
            guard let document = push.document, let alert = push.member(.alert) else { return }
            let isAlone = push.apsKeys.isDisjoint(with: besideAlert)
            guard isAlone && isBlank(alert.value, push, document) || isForeign(push) else { return }
            findings.report(
                .node(alert.value), "the alert has nothing to show",
                fix: "Give it a text, or send another push type.", severity: .warning)
        },
        Rule(
            "AL002", .warning, "`mutable-content` in a push without a visible alert",
            why: "A notification service extension runs for pushes that show an alert only.",
            from: [.serviceExtension], fix: "Add `alert`, or remove `mutable-content`.", for: .alert
        ) { push, findings in
            guard let member = push.member(.mutableContent), let document = push.document,
                document.isNumber(member.value, "1"), !showsAlert(push, document),
                // Rule AL001 speaks of a push that shows nothing at all, BG016 of an empty alert.
                push.hasVisibleKeys, emptyTexts(push).isEmpty || push.member(.alert) == nil
            else { return }
            findings.report(.node(member.key))
        },
        Rule(
            "AL003", .warning, "a critical push has no critical sound",
            why: """
                A critical alert plays its sound even when the device is muted, and takes that \
                from the sound dictionary. It needs an entitlement too.
                """,
            from: [.generating, .proposal],
            fix: "Make `sound` a dictionary with `critical` 1, and ask for the entitlement.",
            for: .alert
        ) { push, findings in
            guard let level = push.member(.interruptionLevel), let document = push.document,
                document.kind(level.value) == .string, document.hasText(level.value, "critical"),
                !hasCriticalSound(push, document)
            else { return }
            findings.report(.node(level.value))
        },
        Rule(
            "AL004", .note, "the interruption level needs an entitlement",
            why: "Without it the system treats the push as `active`.", from: [.generating],
            fix: "Check the app's entitlements.", for: .alert
        ) { push, findings in
            guard let level = push.member(.interruptionLevel), let document = push.document,
                document.kind(level.value) == .string
            else { return }
            for (name, entitlement) in entitlements where document.hasText(level.value, name) {
                findings.report(
                    .node(level.value), "`\(name)` needs an entitlement",
                    fix: "Check that the app has \(entitlement).")
            }
        },
        Rule(
            "AL005", .error, "a number is out of its range",
            why: """
                A relevance score and a volume lie between 0 and 1, and a badge is a whole number \
                that is not negative.
                """,
            from: [.generating], fix: "Give a number in the range.", for: .alert,
            check: numbersOutOfRange),
        Rule(
            "AL006", .warning, "the arguments do not fit the localised text",
            why: "Each placeholder of the text takes one argument, and each argument is a string.",
            from: [.generating], fix: "Give one string for each placeholder.",
            for: [.alert, .liveactivity], check: wrongArguments),
        Rule(
            "AL007", .note, "a push that can wait is sent at priority 10",
            why: "Priority 10 is for what needs the user at once, and costs the device power.",
            from: [.sending], fix: "Use 5.", for: .alert, in: .draft
        ) { push, findings in
            guard isSentAtOnce(push), push.hasRootObject else { return }
            if isPassive(push) {
                findings.report(
                    .header(priorityHeader), "a passive push is sent at priority 10")
            } else if push.apsKeys.contains(.badge), !push.apsKeys.contains(.alert),
                !push.apsKeys.contains(.sound)
            {
                findings.report(
                    .header(priorityHeader), "a push that sets a badge only is sent at priority 10")
            }
        },
    ]

    private static let entitlements: [(StaticString, StaticString)] = [
        ("time-sensitive", "com.apple.developer.usernotifications.time-sensitive"),
        ("critical", "com.apple.developer.usernotifications.critical-alerts"),
    ]

    /// Keys that make an empty alert valid, and the one for which rule BG016 applies.
    private static let besideAlert: APSKeySet = [
        APSKeySet(.badge), APSKeySet(.sound), APSKeySet(.contentAvailable),
    ]

    /// Whether an alert is empty, or has only keys of Apple's without visible text. A key in
    /// another spelling may be a visible one.
    private static func isBlank(
        _ alert: Int, _ push: ValidationContext, _ document: JSONDocument
    ) -> Bool {
        guard document.kind(alert) == .object else {
            return document.kind(alert) == .string && document.isEmptyString(alert)
        }
        return !showsAlert(push, document)
            && document.members(of: alert).allSatisfy { member in
                let names = APSKey.alert.parts(in: push.type).map(\.name)
                return (names + APSKey.retiredAlertParts).contains {
                    document.hasText(member.key, $0)
                }
            }
    }

    /// Whether an alert has only keys that are none of Apple's, and nothing else is shown, played
    /// or counted, nor is there an extension of the app that might show them.
    private static func isForeign(_ push: ValidationContext) -> Bool {
        guard let document = push.document,
            push.apsKeys.isDisjoint(with: [
                APSKeySet(.badge), APSKeySet(.sound), APSKeySet(.mutableContent),
            ])
        else { return false }
        var isForeign = false
        var hasOther = false
        forEachAlertPart(push) { key, _, parts in
            let letters = NearMiss.letters(document.text(key))
            let isNear = (parts + APSKey.retiredAlertParts).contains {
                NearMiss.letters(of: $0) == letters
            }
            if isNear || APSKey.named(key, in: document) != nil { hasOther = true }
            isForeign = true
        }
        return isForeign && !hasOther
    }

    /// Whether the push has an alert that is not empty.
    private static func showsAlert(_ push: ValidationContext, _ document: JSONDocument) -> Bool {
        guard let alert = push.member(.alert) else { return false }
        switch document.kind(alert.value) {
        case .string: return !document.isEmptyString(alert.value)
        case .object: break
        default: return false
        }
        let shown: [StaticString] = [
            "title", "subtitle", "body", "title-loc-key", "subtitle-loc-key", "loc-key",
        ]
        return document.members(of: alert.value).contains { member in
            shown.contains { document.hasText(member.key, $0) }
                && document.kind(member.value) != .null
                && !(document.kind(member.value) == .string
                    && document.isEmptyString(member.value))
        }
    }

    private static func hasCriticalSound(
        _ push: ValidationContext, _ document: JSONDocument
    ) -> Bool {
        guard let sound = push.member(.sound), document.kind(sound.value) == .object else {
            return false
        }
        return document.members(of: sound.value).contains {
            // Rule G014 speaks of `true`.
            document.hasText($0.key, "critical")
                && (document.isNumber($0.value, "1") || document.kind($0.value) == .trueLiteral)
        }
    }

    private static func isPassive(_ push: ValidationContext) -> Bool {
        guard let level = push.member(.interruptionLevel), let document = push.document else {
            return false
        }
        return document.kind(level.value) == .string && document.hasText(level.value, "passive")
    }

    private static func numbersOutOfRange(_ push: ValidationContext, _ findings: inout Findings) {
        guard let document = push.document else { return }
        for key in [APSKey.badge, .relevanceScore] {
            guard let member = push.member(key), document.kind(member.value) == .number else {
                continue
            }
            let shape = key.shape(in: push.type)
            if !shape.fits(member.value, in: document) {
                findings.report(
                    .node(member.value), "`\(key.name)` is not \(shape.noun)",
                    fix: "Give \(shape.noun).")
            }
        }
        guard let sound = push.member(.sound), document.kind(sound.value) == .object else { return }
        for member in document.members(of: sound.value)
        where document.hasText(member.key, "volume") && document.kind(member.value) == .number {
            if !APSKey.Shape.unitInterval.fits(member.value, in: document) {
                findings.report(
                    .node(member.value), "`volume` is not \(APSKey.Shape.unitInterval.noun)",
                    fix: "Give \(APSKey.Shape.unitInterval.noun).")
            }
        }
    }

    /// The keys of arguments, and the keys of their texts.
    private static let argumentKeys: [(arguments: StaticString, text: StaticString)] = [
        ("title-loc-args", "title-loc-key"), ("subtitle-loc-args", "subtitle-loc-key"),
        ("loc-args", "loc-key"),
    ]

    private static func wrongArguments(_ push: ValidationContext, _ findings: inout Findings) {
        guard let alert = push.member(.alert), let document = push.document,
            document.kind(alert.value) == .object
        else { return }
        checkArguments(in: alert.value, document, &findings)
        for member in document.members(of: alert.value)
        where document.kind(member.value) == .object {
            checkArguments(in: member.value, document, &findings)
        }
    }

    private static func checkArguments(
        in object: Int, _ document: JSONDocument, _ findings: inout Findings
    ) {
        for (argumentKey, textKey) in argumentKeys {
            guard let arguments = document.member(argumentKey, of: object),
                document.kind(arguments.value) == .array
            else { continue }
            for element in document.elements(of: arguments.value)
            where document.kind(element) != .string {
                findings.report(
                    .node(element),
                    "an argument of `\(argumentKey)` is \(document.kind(element).noun)",
                    fix: "Write it as a string.")
            }
            guard let text = document.member(textKey, of: object) else {
                findings.report(
                    .node(arguments.key), "`\(argumentKey)` is set without `\(textKey)`",
                    fix: "Add `\(textKey)`, or remove the arguments.")
                continue
            }
            guard document.kind(text.value) == .string else { continue }
            let expected = placeholderCount(document.text(text.value))
            let given = document.childCount(of: arguments.value)
            // The key of a text in the app's bundle does not show the placeholders.
            if expected > 0, expected != given {
                findings.report(
                    .node(arguments.key),
                    "`\(textKey)` has \(expected) placeholders, and `\(argumentKey)` \(given)")
            }
        }
    }

    /// The number of arguments of a format: its `%@`, or the highest number in `%1$@`.
    private static func placeholderCount(_ text: ArraySlice<UInt8>) -> Int {
        var sequential = 0
        var highest = 0
        var index = text.startIndex
        while index < text.endIndex {
            guard text[index] == UInt8(ascii: "%") else {
                index += 1
                continue
            }
            let digits = text[(index + 1)...].prefix(while: {
                $0 &- UInt8(ascii: "0") < 10
            }).prefix(2)
            let rest = text[(index + 1 + digits.count)...]
            if !digits.isEmpty, rest.starts(with: "$@".utf8) {
                highest = max(highest, Int(String(decoding: digits, as: UTF8.self)) ?? 0)
            } else if digits.isEmpty, rest.first == UInt8(ascii: "@") {
                sequential += 1
            }
            // A doubled percent sign is a literal character.
            index += rest.first == UInt8(ascii: "%") && digits.isEmpty ? 2 : 1
        }
        return max(sequential, highest)
    }
}
