// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// The answer to a claim of the pending wake.
public enum ClaimVerdict: Hashable, Sendable {
    /// It is debited and may be sent.
    case charged(BudgetDebit)
    /// It may not go yet: until when, and because of which rules.
    case notYet(until: WallInstant, because: DelayReasons)
    /// Its time was over; it is no longer pending.
    case expired
    /// None was pending.
    case nothingPending
}

/// The outcome of a debited send.
public enum SendFate: String, Hashable, Sendable, CaseIterable {
    /// APNs accepted it.
    case accepted
    /// It may have reached APNs: it stays debited.
    case unknown
    /// It certainly was not sent: it is refunded.
    case notSent = "not-sent"
}

/// Where a wake is after its send was settled.
public enum SettledWake: Hashable, Sendable {
    /// It has ended.
    case ended
    /// It waits again.
    case pending
    /// Another wake waits by now; it carries this one. `isNewer` says that this one's newest
    /// request came after that one's.
    case coalesced(isNewer: Bool)
}

/// What a report did to the pending wake.
public enum PendingEnd: String, Hashable, Sendable, CaseIterable {
    /// The app came to the foreground and syncs by itself.
    case superseded
    /// Background App Refresh is off.
    case suppressed
}
