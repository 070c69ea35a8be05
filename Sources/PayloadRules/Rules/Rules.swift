// SPDX-License-Identifier: Apache-2.0

import WakeModel

/// All rules, in one table. Each family has a file of its own.
public enum Rules {
    /// Every rule that is checked, by id.
    public static let table: [Rule] =
        (genericText + genericKeys + genericValues + headers + background + backgroundContent
        + voip + voipContent).sorted { $0.id < $1.id }

    /// The rule with this id; `nil` for an unknown one, and for one that needs no check because a
    /// type upholds it (see ``upheldByConstruction``).
    public static func rule(_ id: RuleID) -> Rule? { table.first { $0.id == id } }

    /// The rules that no request can break, and the type or property that upholds each.
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

    /// The rules for a whole request of this kind.
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

    private static let backgroundRequest = table.filter { $0.scope != .voip }
    private static let voipRequest = table.filter { $0.scope != .background }
    private static let backgroundPayload = backgroundRequest.filter { $0.part == .payload }
    private static let voipPayload = voipRequest.filter { $0.part == .payload }
}
