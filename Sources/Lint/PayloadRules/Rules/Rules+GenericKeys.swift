// SPDX-License-Identifier: Apache-2.0

import StrictJSON

/// Rules about Apple's keys and the reserved names of other services.
extension Rules {
    static let genericKeys: [Rule] = [
        Rule(
            "G010", .error, "`aps` is missing or not an object",
            why: "This push type takes its instructions from the dictionary `aps`.",
            from: [.generating], fix: "Add the dictionary `aps` at the top level.",
            for: [.alert, .background, .liveactivity, .widgets, .controls], check: missingAPS),
        Rule(
            "G011", .warning, "a key inside `aps` is none of Apple's",
            why: "Custom keys inside `aps` are ignored; they belong beside it.",
            from: [.generating], fix: "Move it out of `aps` to the top level.",
            for: .every
        ) { push, findings in
            guard push.type != .voip else { return headersInAPS(push, &findings) }
            forEachForeignKey(push) { key, nearMiss in
                guard nearMiss == nil else { return }
                let isForWebsite = push.document?.hasText(key, "url-args") == true
                findings.report(
                    .node(key), isForWebsite ? "`url-args` is for pushes of a website" : nil,
                    fix: push.document.flatMap {
                        header(namedBy: key, in: $0) ?? headers(in: key + 1, $0)
                    },
                    severity: isForWebsite ? .note : nil)
            }
            if push.type == .alert, push.hasVisibleKeys {
                forEachAppleKey(push) { key, node in
                    guard keysOfActivities.contains(key) else { return }
                    findings.report(
                        .node(node), "`\(key.name)` has an effect in a Live Activity only")
                }
            }
            noteForeignAlertKeys(push, &findings)
        },
        Rule(
            "G012", .warning, "a key inside `aps`, or of a service's request, is misspelt",
            why: """
                Apple's keys are exact, in lower case with hyphens; all others are ignored. Push \
                services ignore what is not spelt as in their own requests.
                """,
            from: [.practice, .generating], fix: "Write the key as Apple does.",
            check: misspeltKeys),
        Rule(
            "G013", .warning, "one of Apple's keys is beside `aps`",
            why: "Apple's keys have no effect outside `aps`.", from: [.generating],
            fix: "Move it into `aps`.",
            for: [.alert, .background, .liveactivity, .widgets, .controls, .location],
            check: keysBesideAPS),
        Rule(
            "G016", .warning, "a custom key is reserved by another push service",
            why: "Firebase Cloud Messaging strips or refuses such keys.", from: [.fcmReservedKeys],
            fix: "Rename the key.", check: reservedKeys),
        Rule(
            "G020", .warning, "the key that names the simulated app is misspelt",
            why: "The simulator reads `Simulator Target Bundle`; any other key is custom data.",
            from: [.practice], fix: "Write `Simulator Target Bundle`.", in: .draft,
            check: misspeltSimulatorKey),
    ]

    /// Keys of a Live Activity that another push may have by mistake.
    private static let keysOfActivities: Set<APSKey> = [
        .timestamp, .event, .staleDate, .dismissalDate, .attributes,
    ]

    /// Reports the headers in a VoIP payload. PushKit passes all other keys to the app, regardless
    /// of `aps`.
    private static func headersInAPS(_ push: ValidationContext, _ findings: inout Findings) {
        guard let document = push.document else { return }
        forEachForeignKey(push) { key, _ in
            guard document.text(key).starts(with: "apns-".utf8),
                let fix = header(namedBy: key, in: document)
            else { return }
            findings.report(.node(key), fix: fix)
        }
    }

    /// What to do with a key that has the name of a header; `nil` for any other.
    private static func header(namedBy key: Int, in document: JSONDocument) -> String? {
        let headers = ["apns-push-type", "apns-topic", "apns-priority", "apns-expiration"]
        let name = String(decoding: document.text(key).prefix(32), as: UTF8.self).lowercased()
        if headers.contains(name) { return "Send it as a header." }
        return headers.contains("apns-" + name)
            ? "Send it as the header apns-\(name), or move it out of `aps` to the top level." : nil
    }

    /// What to do with an object of headers; `nil` for any other value.
    private static func headers(in value: Int, _ document: JSONDocument) -> String? {
        guard document.kind(value) == .object else { return nil }
        return document.members(of: value).contains {
            document.text($0.key).starts(with: "apns-".utf8)
        } ? "Send what is in it as headers of the request." : nil
    }

    /// The key of Xcode's `.apns` files for the simulated app.
    private static let simulatorKey: StaticString = "Simulator Target Bundle"

    private static func misspeltSimulatorKey(_ push: ValidationContext, _ findings: inout Findings)
    {
        guard push.hasRootObject, let document = push.document else { return }
        let name = NearMiss.letters(of: simulatorKey)
        for member in document.members(of: 0)
        where abs(document.content(member.key).count - simulatorKey.utf8CodeUnitCount) <= 4 {
            guard !document.hasText(member.key, simulatorKey) else { continue }
            let letters = NearMiss.letters(document.text(member.key))
            guard
                letters == name || letters == name + Array("id".utf8)
                    || NearMiss.distance(letters, name, limit: 2) != nil
            else { continue }
            findings.report(
                .node(member.key),
                repair: Repair(
                    edits: [document.replacing(member.key, with: "\"\(simulatorKey)\"")],
                    isSafe: true))
        }
    }

    private static func missingAPS(_ push: ValidationContext, _ findings: inout Findings) {
        guard push.hasRootObject, !push.isForPass, let document = push.document else { return }
        if let aps = push.aps {
            if push.apsObject == nil {
                findings.report(.node(aps.value), "`aps` is not an object")
            }
            return
        }
        guard push.rootMember("mdm") == nil else {
            findings.report(
                .whole, "`aps` is missing, as in a push of type mdm",
                fix: "Set apns-push-type to mdm, or add `aps`.")
            return
        }
        let platforms: [StaticString] = ["android", "web", "webpush", "ios"]
        let isForSeveral = platforms.contains { push.rootMember($0) != nil }
        let misspelt = document.members(of: 0).first { isMisspeltAPS($0, document) }
        if let key = misspelt?.key, !isForSeveral || !document.hasText(key, "app") {
            let name = String(decoding: document.text(key), as: UTF8.self)
            findings.report(
                .node(key), "`aps` is missing; \(shown(name)) was probably meant for it",
                fix: "Write `aps`.",
                repair: Repair(edits: [document.replacing(key, with: "\"aps\"")], isSafe: false))
            return
        }
        guard push.type == .background else {
            findings.report(.whole, "`aps` is missing")
            return
        }
        let hasMistake = document.members(of: 0).contains {
            mistakenKey($0.key, in: document) == .contentAvailable
        }
        let text = "\"aps\":{\"content-available\":1}"
        findings.report(
            .whole, "`aps` is missing", fix: "Add \(text) at the top level.",
            repair: hasMistake
                ? nil
                : Repair(
                    edits: [document.inserting(Array(text.utf8), intoObject: 0)], isSafe: false))
    }

    /// Whether a member is `aps` with one wrong letter or in capitals: it wakes the app, or shows
    /// and plays something, and holds Apple's keys alone.
    private static func isMisspeltAPS(
        _ member: (key: Int, value: Int), _ document: JSONDocument
    ) -> Bool {
        guard (2...4).contains(document.content(member.key).count),
            document.kind(member.value) == .object
        else { return false }
        let letters = NearMiss.letters(document.text(member.key))
        // Other short names are those of platforms and services.
        let names = ["aps", "app", "apd", "apa", "asp", "ap", "as", "apss", "aaps", "asps"]
        guard names.contains(String(decoding: letters, as: UTF8.self)) else { return false }
        let inner = document.members(of: member.value)
        let keys = inner.map { APSKey.named($0.key, in: document) }
        guard !keys.contains(nil) else { return false }
        return inner.contains {
            document.hasText($0.key, "content-available") && document.kind($0.value) == .number
        } || keys.contains(.alert) && (keys.contains(.badge) || keys.contains(.sound))
    }

    static func forEachForeignKey(
        _ push: ValidationContext, _ body: (_ key: Int, _ nearMiss: APSKey?) -> Void
    ) {
        guard push.hasForeignAPSKeys, let document = push.document, let aps = push.apsObject else {
            return
        }
        // Each rule starts a new search, so that all get the same results.
        var search = NearMissSearch()
        for member in document.members(of: aps) {
            if APSKey.named(member.key, in: document) == nil {
                body(member.key, search.key(near: document.text(member.key)))
            }
        }
    }

    /// Whether a key of a draft is there in another spelling, or `content-available` beside `aps`,
    /// which the rules G012 and G013 report as an error where the push needs the key.
    static func isMisspelt(_ wanted: APSKey, in push: ValidationContext) -> Bool {
        guard push.draft != nil else { return false }
        var isFound = false
        if wanted == .contentAvailable, push.aps != nil, let document = push.document {
            isFound = document.members(of: 0).contains {
                mistakenKey($0.key, in: document) == wanted
            }
        }
        forEachForeignKey(push) { _, nearMiss in isFound = isFound || nearMiss == wanted }
        return isFound
    }

    /// Whether a push of a draft needs a key that is not there.
    private static func lacks(_ key: APSKey, _ push: ValidationContext) -> Bool {
        guard push.draft != nil else { return false }
        let needed: [APSKey] =
            switch push.type {
            case .background: [.contentAvailable]
            case .alert:
                push.hasVisibleKeys || push.typeIsGuess ? [] : [.alert, .badge, .sound]
            case .liveactivity where event(of: push) == .start:
                [.timestamp, .contentState, .attributes, .attributesType, .alert]
            case .liveactivity: [.timestamp, .event, .contentState]
            case .widgets, .controls: [.contentChanged]
            default: []
            }
        return needed.contains(key) && !push.apsKeys.contains(key)
    }

    private static func misspeltKeys(_ push: ValidationContext, _ findings: inout Findings) {
        forEachForeignKey(push) { key, nearMiss in
            guard let nearMiss, let document = push.document else { return }
            let name = nearMiss.name
            let isFree = !push.apsKeys.contains(nearMiss)
            findings.report(
                .node(key), "a key inside `aps` is misspelt: `\(name)` was probably meant",
                fix: "Write `\(name)`.", severity: lacks(nearMiss, push) ? .error : nil,
                repair: isFree ? renaming(key, to: name, in: document) : nil)
        }
        var spellings: [[UInt8]: StaticString]?
        forEachAlertPart(push) { key, _, parts in
            guard let document = push.document,
                !parts.contains(where: { document.hasText(key, $0) })
            else { return }
            let known = spellings ?? Self.spellings(of: parts)
            spellings = known
            guard let name = known[NearMiss.letters(document.text(key))] else { return }
            findings.report(
                .node(key), "a key of the alert is misspelt: `\(name)` was probably meant",
                fix: "Write `\(name)`.", repair: renaming(key, to: name, in: document))
        }
    }

    /// Renames a key in another spelling, or a long one with a typing error. A short one may be
    /// another word.
    private static func renaming(
        _ key: Int, to name: StaticString, in document: JSONDocument
    ) -> Repair {
        let letters = NearMiss.letters(of: name)
        let isSafe = letters.count >= 8 || NearMiss.letters(document.text(key)) == letters
        return Repair(edits: [document.replacing(key, with: "\"\(name)\"")], isSafe: isSafe)
    }

    /// Calls `body` with the members of an alert dictionary and their valid names.
    static func forEachAlertPart(
        _ push: ValidationContext,
        _ body: (_ key: Int, _ value: Int, _ parts: [StaticString]) -> Void
    ) {
        guard let alert = push.member(.alert), let document = push.document,
            document.kind(alert.value) == .object
        else { return }
        let parts = APSKey.alert.parts(in: push.type).map(\.name)
        for member in document.members(of: alert.value) { body(member.key, member.value, parts) }
    }

    private static func spellings(of parts: [StaticString]) -> [[UInt8]: StaticString] {
        Dictionary(parts.map { (NearMiss.letters(of: $0), $0) }) { first, _ in first }
    }

    private static func noteForeignAlertKeys(_ push: ValidationContext, _ findings: inout Findings)
    {
        var spellings: [[UInt8]: StaticString]?
        forEachAlertPart(push) { key, value, parts in
            guard let document = push.document,
                !parts.contains(where: { document.hasText(key, $0) })
            else { return }
            if APSKey.retiredAlertParts.contains(where: { document.hasText(key, $0) }) {
                findings.report(
                    .node(key), "Apple does not list this key of the alert any more",
                    fix: "Leave it out.", severity: .note)
                return
            }
            if let own = APSKey.named(key, in: document) {
                findings.report(
                    .node(key), "`\(own.name)` is inside `alert`, where it has no effect",
                    fix: "Move it beside `alert`, into `aps`.")
                return
            }
            let known = spellings ?? Self.spellings(of: parts)
            spellings = known
            let letters = NearMiss.letters(document.text(key))
            guard known[letters] == nil else { return }
            if namesOfText.contains(String(decoding: letters, as: UTF8.self)), showsOnlyTitle(push),
                document.kind(value) == .string, !document.isEmptyString(value)
            {
                findings.report(
                    .node(key), "a key of the alert is none of Apple's, and nothing shows its text",
                    fix: "Write `body`.")
            } else {
                findings.report(
                    .node(key), "a key of the alert is none of Apple's",
                    fix: "Move it out of `aps` to the top level.", severity: .note)
            }
        }
    }

    /// Names by which other services call the text of an alert.
    private static let namesOfText: Set<String> = [
        "message", "msg", "text", "content", "description",
    ]

    /// Whether the alert has a title and no other text, and no extension of the app adds one.
    private static func showsOnlyTitle(_ push: ValidationContext) -> Bool {
        guard let document = push.document, let alert = push.member(.alert)?.value,
            !push.apsKeys.contains(.mutableContent)
        else { return false }
        let has = { document.member($0, of: alert) != nil } as (StaticString) -> Bool
        return (has("title") || has("title-loc-key")) && !has("body") && !has("loc-key")
    }

    /// Reports keys at the top level. The two that an app is unlikely to choose are recognised in
    /// other spellings too.
    private static func keysBesideAPS(_ push: ValidationContext, _ findings: inout Findings) {
        if push.draft != nil { flagsInData(push, &findings) }
        guard push.rootKeys.lengths & lengthsOfMistakes != 0, let document = push.document else {
            return
        }
        for member in document.members(of: 0) {
            guard
                let key = mistakenKey(member.key, in: document)
                    ?? timeOfActivity(member, push, document),
                key != .alert || mayBeAlert(member.value, push.type, document)
            else { continue }
            let isExact = document.hasText(member.key, key.name)
            let isCopy =
                push.apsKeys.contains(key)
                || ValidationContext.visibleKeys.contains(key) && repeatsAlert(push, document)
            if !isCopy, push.type == .background, ValidationContext.visibleKeys.contains(key),
                push.apsKeys.contains(.contentAvailable)
            {
                // A silent push may carry the new count for the app, which `aps` must not hold.
                findings.report(
                    .node(member.key), "`\(key.name)` is beside `aps`, where only the app reads it",
                    fix: "Leave it there if the push is silent.", severity: .note)
                continue
            }
            findings.report(
                .node(member.key),
                isExact
                    ? "`\(key.name)` is beside `aps`"
                    : "a spelling of `\(key.name)` is beside `aps`",
                fix: isExact ? nil : "Write `\(key.name)` inside `aps`.",
                // A copy of what is in `aps` is for the app.
                severity: isCopy
                    ? .note
                    : key == .contentAvailable && push.aps != nil && lacks(key, push)
                        ? .error : nil,
                repair: isCopy ? nil : movingIntoAPS(member.key, as: key, push, document))
        }
    }

    /// Reports the keys for the system that are in an object beside `aps`, exactly as Apple spells
    /// them, and not in `aps`.
    private static func flagsInData(_ push: ValidationContext, _ findings: inout Findings) {
        guard push.hasRootObject, push.apsObject != nil, let document = push.document else {
            return
        }
        for outer in document.members(of: 0)
        where document.kind(outer.value) == .object && !document.hasText(outer.key, "aps") {
            for key in [APSKey.contentAvailable, .mutableContent] {
                guard !push.apsKeys.contains(key),
                    let member = document.member(key.name, of: outer.value)
                else { continue }
                findings.report(
                    .node(member.key), "`\(key.name)` is in an object beside `aps`",
                    severity: .warning)
            }
        }
    }

    /// Whether a text of the alert is beside `aps` too, by a name that is not Apple's, as where one
    /// payload is for several platforms.
    private static func repeatsAlert(_ push: ValidationContext, _ document: JSONDocument) -> Bool {
        guard let alert = push.member(.alert)?.value else { return false }
        let isObject = document.kind(alert) == .object
        let texts = (isObject ? document.members(of: alert).map(\.value) : [alert]).filter {
            document.kind($0) == .string && !document.isEmptyString($0)
        }
        return document.members(of: 0).contains { member in
            document.kind(member.value) == .string
                && APSKey.named(member.key, in: document) == nil
                && texts.contains { document.literal($0) == document.literal(member.value) }
        }
    }

    /// Whether a value may be an alert: an object without its keys is custom data.
    private static func mayBeAlert(
        _ value: Int, _ type: PushTypeSet, _ document: JSONDocument
    ) -> Bool {
        guard document.kind(value) == .object, document.childCount(of: value) > 0 else {
            return true
        }
        let parts = APSKey.alert.parts(in: type).map { NearMiss.letters(of: $0.name) }
        return document.members(of: value).contains { member in
            guard document.content(member.key).count <= 64 else { return false }
            return parts.contains(NearMiss.letters(document.text(member.key)))
        }
    }

    /// Moves a member of the root object into `aps`, which is added if it is absent. This changes
    /// what the push does, so that a person should review it.
    private static func movingIntoAPS(
        _ key: Int, as name: APSKey, _ push: ValidationContext, _ document: JSONDocument
    ) -> Repair? {
        guard !push.apsKeys.contains(name) else { return nil }
        let value = document.literal(key + 1)
        let member = Array("\"\(name.name)\":".utf8) + value
        if let aps = push.apsObject {
            return Repair(
                edits: [
                    document.removing(memberWithKey: key, of: 0),
                    document.inserting(member, intoObject: aps),
                ], isSafe: false)
        }
        guard push.aps == nil else { return nil }
        let range = Int(document.nodes[key].start)..<Int(document.nodes[key + 1].end)
        let wrapped = Array("\"aps\":{".utf8) + member + [UInt8(ascii: "}")]
        return Repair(edits: [.init(range: range, replacement: wrapped)], isSafe: false)
    }

    private static let topLevelMistakes: APSKeySet = [
        APSKeySet(.contentAvailable), APSKeySet(.alert), APSKeySet(.badge), APSKeySet(.sound),
        APSKeySet(.mutableContent), APSKeySet(.interruptionLevel), APSKeySet(.relevanceScore),
    ]

    /// The possible lengths of these keys in all spellings.
    private static let lengthsOfMistakes: UInt64 = ([5, 10] + Array(14...63)).reduce(0) {
        $0 | KeyGlance.bit(ofLength: $1)
    }

    private static func mistakenKey(_ key: Int, in document: JSONDocument) -> APSKey? {
        if let exact = APSKey.named(key, in: document) {
            return topLevelMistakes.contains(exact) ? exact : nil
        }
        guard (14...64).contains(document.content(key).count) else { return nil }
        let letters = NearMiss.letters(document.text(key))
        if letters == Array("contentavailable".utf8) { return .contentAvailable }
        if letters == Array("mutablecontent".utf8) { return .mutableContent }
        return nil
    }

    /// A time of a Live Activity whose name no app chooses, and that is a number.
    private static func timeOfActivity(
        _ member: (key: Int, value: Int), _ push: ValidationContext, _ document: JSONDocument
    ) -> APSKey? {
        guard push.type == .liveactivity, document.kind(member.value) == .number else { return nil }
        return APSKey.named(member.key, in: document).flatMap {
            [.staleDate, .dismissalDate].contains($0) ? $0 : nil
        }
    }

    private static func reservedKeys(_ push: ValidationContext, _ findings: inout Findings) {
        let firstBytes = push.settings.reservedFirstBytes
        // Firebase, whose keys are the default, sends no VoIP pushes.
        guard push.type != .voip || !push.settings.reservesDefaultKeys,
            push.rootKeys.firstBytes & firstBytes != 0,
            let document = push.document,
            // A push for the simulator has the form that the other service sent.
            !document.members(of: 0).contains(where: { document.hasText($0.key, simulatorKey) })
        else { return }
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
