// SPDX-License-Identifier: Apache-2.0

import WakeBudget
import WakeModel

/// The content of the push of a background wake.
struct WakeContent {
    /// The JSON body.
    let payload: [UInt8]
    /// The value of `apns-expiration`.
    let expiration: Expiration
    /// The collapse id, if any.
    let collapseID: CollapseID?

    /// The content merged from an older one and this one, by this one's coalescing mode, and the
    /// result: contents that cannot be united are replaced; see ``WakeBudget/PayloadUnion``.
    func merged(
        behind older: WakeContent, _ coalescing: Coalescing
    ) -> (content: WakeContent, outcome: Coalescing) {
        guard coalescing == .union else { return (self, .replace) }
        var outcome = Coalescing.replace
        var payload = payload
        if case .united(let both) = PayloadUnion.merge(old: older.payload, new: payload) {
            payload = both
            outcome = .union
        }
        var expiration = expiration
        if case .at(let old) = older.expiration, case .at(let new) = expiration {
            expiration = .at(max(old, new))
        }
        return (
            WakeContent(payload: payload, expiration: expiration, collapseID: collapseID), outcome
        )
    }
}

extension WakeRow {
    /// The content of its push; read with its payload.
    var content: WakeContent {
        WakeContent(payload: payload, expiration: expiration, collapseID: collapseID)
    }

    /// Merges the content of an older or a newer wake. One that replaces removes all older content,
    /// so both together unite with older content only if both of them do. Returns whether they were
    /// united or the older one was replaced.
    @discardableResult
    mutating func merge(
        _ other: WakeContent, _ otherCoalescing: Coalescing, _ otherUrgency: Urgency, isNewer: Bool
    ) -> Coalescing {
        let (merged, outcome) =
            isNewer
            ? other.merged(behind: content, otherCoalescing)
            : content.merged(behind: other, coalescing)
        payload = merged.payload
        expiration = merged.expiration
        collapseID = merged.collapseID
        if otherCoalescing == .replace { coalescing = .replace }
        urgency = max(urgency, otherUrgency)
        return outcome
    }
}
