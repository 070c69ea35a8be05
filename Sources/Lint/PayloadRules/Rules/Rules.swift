// SPDX-License-Identifier: Apache-2.0

import WakeModel

/// The rules. Each family has its own file.
public enum Rules {
    /// All rules, by id.
    public static let table: [Rule] =
        families.flatMap(\.self).sorted { $0.id < $1.id }

    private static let families: [[Rule]] = [
        genericText, genericKeys, genericTypes, genericValues, headers, draftHeaders,
        connectionHeaders, background,
        backgroundHeaders, backgroundContent, voip, voipHeaders, voipContent, alert, liveActivity,
        liveActivityContent, otherTypes, authentication, history,
    ]

    /// The rule with this id; `nil` for an unknown one.
    public static func rule(_ id: RuleID) -> Rule? { table.first { $0.id == id } }

    /// The rules that no `WakeRequest` can violate, and the type or property that prevents it. A
    /// ``PushDraft`` can violate them.
    public static let upheldByConstruction: [(rule: RuleID, by: String)] = [
        ("BG006", "WakeKind.allowedPriorities"),
        ("BG007", "WakeKind.allowedPriorities"),
        ("BG008", "WakeKind.allowedPriorities"),
        ("BG009", "BundleID.topic(for:)"),
        ("H001", "DeviceToken"),
        ("H002", "DeviceToken"),
        ("H004", "WakeKind.pushType"),
        ("H005", "WakeKind.pushType"),
        ("H006", "BundleID"),
        ("H007", "BundleID.topic(for:)"),
        ("H008", "WakeKind.allowedPriorities"),
        ("H009", "APNsID"),
        ("H010", "Expiration"),
        ("H016", "CollapseID"),
        ("VO001", "BundleID.topic(for:)"),
        ("VO006", "WakeKind.allowedPriorities"),
    ]

    /// The rules for a complete background wake or call. A plain push is checked as a draft.
    static func forRequest(of type: PushTypeSet) -> [Rule] {
        requestRules[type.rawValue.trailingZeroBitCount]
    }

    /// The rules for a payload without headers.
    static func forPayload(of type: PushTypeSet) -> [Rule] {
        payloadRules[type.rawValue.trailingZeroBitCount]
    }

    /// The rules for a draft of this type.
    static func forDraft(of type: PushTypeSet) -> [Rule] {
        draftRules[type.rawValue.trailingZeroBitCount]
    }

    /// The rules for a call or background wake whose content has no findings; see
    /// ``PayloadFastPath``.
    static func forCleanRequest(of kind: WakeKind) -> [Rule] {
        kind == .voip ? cleanVoIP : cleanBackground
    }

    private static let cleanBackground = rules(of: .background, [.size, .headers])
    private static let cleanVoIP = rules(of: .voip, [.size, .headers])
    private static let requestRules = rulesOfTypes([.size, .payload, .headers])
    private static let payloadRules = rulesOfTypes([.size, .payload])
    private static let draftRules = rulesOfTypes([.size, .payload, .headers, .draft])

    /// The rules of each type, at the index of its bit.
    private static func rulesOfTypes(_ sights: Set<Rule.Sight>) -> [[Rule]] {
        (0..<PushTypeSet.bitCount).map {
            rules(of: PushTypeSet(rawValue: 1 << UInt16($0)), sights)
        }
    }

    private static func rules(of type: PushTypeSet, _ sights: Set<Rule.Sight>) -> [Rule] {
        table.filter { $0.scope.contains(type) && sights.contains($0.sight) }
    }
}
