// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// What a ledger keeps of the wake that waits for its device.
public struct PendingWake: Hashable, Sendable {
    /// Since when it waits, in wrapping seconds.
    var since: WrappedSeconds
    /// When the newest of its requests came, in wrapping seconds.
    var newest: WrappedSeconds
    /// When its payload expires, in seconds since 1970; ``noExpiry`` for never.
    var expiry: UInt32
    /// How many requests it represents, its own included; 65 535 for more.
    public internal(set) var requests: UInt16
    /// Its urgency: that of the most urgent wake in it.
    public internal(set) var urgency: Urgency
    /// How it merges with what is older than it: united only if all its requests are.
    public internal(set) var coalescing: Coalescing
    /// Whether its own debits are the latest: it was sent, may have arrived, and is sent again.
    public internal(set) var isRepeat = false

    /// An expiry that does not come; later ones are treated as it (the year 2106).
    static let noExpiry = UInt32.max

    /// When the payload that it carries expires; `nil` when its sender gave no expiration.
    public var expiresAt: WallInstant? {
        expiry == Self.noExpiry ? nil : WallInstant(secondsSinceEpoch: Int64(expiry))
    }

    /// Whether its newest request came after that of another wake.
    func isNewer(than other: PendingWake) -> Bool {
        Int32(bitPattern: newest &- other.newest) > 0
    }

    /// The result of merging this wake and a newer one, by the newer one's coalescing mode. It has
    /// the older one's waiting time and the greater urgency. With `replace` it expires with the
    /// newer payload; with `union`, with the later of the two.
    func absorbing(_ newer: PendingWake) -> PendingWake {
        let waitsLonger = Int32(bitPattern: newer.since &- since) >= 0
        let (sum, overflow) = requests.addingReportingOverflow(newer.requests)
        return PendingWake(
            since: waitsLonger ? since : newer.since, newest: newer.newest,
            expiry: newer.coalescing == .replace ? newer.expiry : max(expiry, newer.expiry),
            requests: overflow ? .max : sum, urgency: max(urgency, newer.urgency),
            coalescing: newer.coalescing == .replace ? .replace : coalescing, isRepeat: isRepeat)
    }
}

/// When the pending wake may go, as far as is known now.
public struct Outlook: Hashable, Sendable {
    /// From when on it may be claimed, unless a report or a refund changes that.
    public let due: WallInstant
    /// From when on it is never sent any more: its expiry, or the end of its hold.
    public let deadline: WallInstant
    /// The rules that keep it back now; none when it is due.
    public let holds: DelayReasons
}

/// A send that was debited: what is needed to refund it, and to take its wake back.
public struct BudgetDebit: Hashable, Sendable {
    /// The second since 1970 at which it was debited.
    let second: Int64
    /// How often the clock had been corrected then, wrapping.
    let corrections: UInt8
    /// Which debit of its ledger it was, wrapping.
    let number: UInt8
    /// The wake.
    public let wake: PendingWake

    /// When it was debited: the next full second.
    public var at: WallInstant { WallInstant(secondsSinceEpoch: second) }
}
