// SPDX-License-Identifier: Apache-2.0

import StrictJSON

/// The rule about the types and ranges of Apple's values (facts §5.3 and §5.4).
extension Rules {
    static let genericTypes: [Rule] = [
        Rule(
            "G014", .error,
            "a key inside `aps`, or of a service's request, has a value of the wrong type",
            why: "Apple documents the type of each key's value.", from: [.generating],
            fix: "Give a value of the documented type.", check: wrongValues)
    ]

    private static func wrongValues(_ push: ValidationContext, _ findings: inout Findings) {
        guard push.type != .background || !push.apsKeys.isSubset(of: [.init(.contentAvailable)]),
            let document = push.document, let aps = push.apsObject
        else { return }
        for member in document.members(of: aps) {
            guard let key = APSKey.named(member.key, in: document),
                document.kind(member.value) != .null, !hasRuleOfItsOwn(key, member.value, push)
            else { continue }
            let shape = key.shape(in: push.type)
            guard shape.fits(member.value, in: document) else {
                report(shape, "\(key.name)", member.value, document, &findings)
                continue
            }
            if document.kind(member.value) == .object {
                checkParts(of: key, member.value, push, document, &findings)
            }
        }
    }

    private static func checkParts(
        of key: APSKey, _ object: Int, _ push: ValidationContext, _ document: JSONDocument,
        _ findings: inout Findings
    ) {
        let parts = key.parts(in: push.type)
        for member in document.members(of: object) where document.kind(member.value) != .null {
            for part in parts where document.hasText(member.key, part.name) {
                let isRange = push.type == .alert && document.kind(member.value) == .number
                if case .unitInterval = part.shape, isRange { continue }
                if !part.shape.fits(member.value, in: document) {
                    report(part.shape, "\(part.name)", member.value, document, &findings)
                }
            }
        }
    }

    private static func report(
        _ shape: APSKey.Shape, _ name: String, _ value: Int, _ document: JSONDocument,
        _ findings: inout Findings
    ) {
        let intended = shape.intended(by: value, in: document)
        let kind = document.kind(value)
        // Only text that cannot be from the payload is included.
        let isLiteral = kind == .trueLiteral || kind == .falseLiteral
        let fix =
            switch intended {
            case nil: "Give \(shape.noun), or leave the key out."
            case .some(let literal) where isLiteral: "Write \(literal)."
            case .some: "Give \(shape.noun)."
            }
        // A language bridge converts 1 to true and 0 to false, and devices accept them (BG011).
        var message = "`\(name)` is \(kind.noun), and must be \(shape.noun)"
        if case .oneOf = shape, kind == .string { message = "`\(name)` is not \(shape.noun)" }
        findings.report(
            .node(value), message, fix: fix,
            severity: isLiteral && shape.isFlag ? .warning : nil,
            repair: intended.map {
                Repair(edits: [document.replacing(value, with: $0)], isSafe: true)
            })
    }

    /// Whether another rule checks the value: BG010 to BG012 for `content-available` of a
    /// background push, AL005 for the ranges of an alert's numbers, LA001, LA002 and WG001 for the
    /// keys of a Live Activity or widget push, and G015 for `null`.
    private static func hasRuleOfItsOwn(
        _ key: APSKey, _ value: Int, _ push: ValidationContext
    ) -> Bool {
        switch key {
        case _ where key.isIgnored(in: push.type): true
        case .contentAvailable: push.type == .background
        case .badge, .relevanceScore:
            push.type == .alert && push.document?.kind(value) == .number
        case .event, .timestamp, .staleDate, .dismissalDate: push.type == .liveactivity
        case .contentChanged: push.type == .widgets || push.type == .controls
        default: false
        }
    }
}

extension JSONNode.Kind {
    /// The kind as a noun: "a string".
    var noun: StaticString {
        switch self {
        case .object: "an object"
        case .array: "an array"
        case .key: "a key"
        case .string: "a string"
        case .number: "a number"
        case .trueLiteral: "true"
        case .falseLiteral: "false"
        case .null: "null"
        }
    }
}
