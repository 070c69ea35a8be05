// SPDX-License-Identifier: Apache-2.0

import WakeModel

/// All rules, in one table. Each family has a file of its own.
public enum Rules {
    /// Every rule, by id.
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

    /// The rules that no `WakeRequest` can break, and the type or property that upholds each. A
    /// ``PushDraft`` can break them.
    public static let upheldByConstruction: [(rule: RuleID, by: String)] = [
        ("BG006", "WakeKind.priority"),
        ("BG007", "WakeKind.priority"),
        ("BG008", "WakeKind.priority"),
        ("BG009", "BundleID.topic(for:)"),
        ("H001", "DeviceToken"),
        ("H002", "DeviceToken"),
        ("H004", "WakeKind.pushType"),
        ("H005", "WakeKind.pushType"),
        ("H006", "BundleID"),
        ("H007", "BundleID.topic(for:)"),
        ("H008", "WakeKind.priority"),
        ("H009", "APNsID"),
        ("H010", "Expiration"),
        ("H016", "CollapseID"),
        ("VO001", "BundleID.topic(for:)"),
        ("VO006", "WakeKind.priority"),
    ]

    /// The rules for a whole wake of this kind.
    static func forRequest(of kind: WakeKind) -> [Rule] {
        switch kind {
        case .background: backgroundRequest
        case .voip: voipRequest
        }
    }

    /// The rules for a payload by itself.
    static func forPayload(of kind: WakeKind) -> [Rule] {
        switch kind {
        case .background: backgroundPayload
        case .voip: voipPayload
        }
    }

    /// The rules for a draft of this type.
    static func forDraft(of type: PushTypeSet) -> [Rule] {
        draftRules[type.rawValue.trailingZeroBitCount]
    }

    /// The rules for a wake of this kind whose content is clean; see ``PayloadFastPath``.
    static func forCleanRequest(of kind: WakeKind) -> [Rule] {
        switch kind {
        case .background: cleanBackground
        case .voip: cleanVoIP
        }
    }

    private static let cleanBackground = rules(of: .background, [.size, .headers])
    private static let cleanVoIP = rules(of: .voip, [.size, .headers])
    private static let backgroundRequest = rules(of: .background, [.size, .payload, .headers])
    private static let voipRequest = rules(of: .voip, [.size, .payload, .headers])
    private static let backgroundPayload = rules(of: .background, [.size, .payload])
    private static let voipPayload = rules(of: .voip, [.size, .payload])
    private static let draftRules: [[Rule]] = (0..<PushTypeSet.bitCount).map {
        rules(of: PushTypeSet(rawValue: 1 << UInt16($0)), [.size, .payload, .headers, .draft])
    }

    private static func rules(of type: PushTypeSet, _ sights: Set<Rule.Sight>) -> [Rule] {
        table.filter { $0.scope.contains(type) && sights.contains($0.sight) }
    }
}
