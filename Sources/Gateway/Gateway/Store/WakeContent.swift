// SPDX-License-Identifier: Apache-2.0

import WakeBudget
import WakeModel

/// What the push of a background wake carries.
struct WakeContent {
    /// The JSON body.
    let payload: [UInt8]
    /// The value of `apns-expiration`.
    let expiration: Expiration
    /// The collapse id, if any.
    let collapseID: CollapseID?

    /// The content merged from an older one and this one, by this one's coalescing mode, and the
    /// result: what cannot be united is replaced; see ``WakeBudget/PayloadUnion``.
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
    /// What its push carries; read with its payload.
    var content: WakeContent {
        WakeContent(payload: payload, expiration: expiration, collapseID: collapseID)
    }

    /// Takes over what an older or a newer wake carries. One that replaces takes out all that was
    /// before it, so both together unite with what is older only if both of them do. Whether they
    /// were united, or the newer one took the place of the older.
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
