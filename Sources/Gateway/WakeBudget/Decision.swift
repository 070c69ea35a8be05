// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// The decision on a request for a wake.
public enum Decision: Hashable, Sendable {
    /// It may be sent immediately. It waits as the device's pending wake until it is claimed.
    case send
    /// It becomes the device's pending wake, due at this instant by the present state, because of
    /// these rules.
    case deferred(until: WallInstant, because: DelayReasons)
    /// It merges into the device's pending wake in this way; that wake is due at this instant,
    /// because of these rules (none when it is due already), and carries it from now on.
    case coalesced(Coalescing, until: WallInstant, because: DelayReasons)
    /// VoIP: the same call was requested within the deadline, so this is the same wake.
    case sameCall
    /// It cannot be sent before its expiry: the earliest instant at which the rules would have
    /// allowed it, and the rules.
    case expired(earliest: WallInstant, because: DelayReasons)
    /// It must not be sent.
    case suppressed(Suppression)
}

/// The reason why a wake is not sent at all.
public enum Suppression: Hashable, Sendable {
    /// Background App Refresh was reported off, so iOS would not launch the app (WWDC20 session
    /// 10063). The report counts until this instant. An alert push still reaches the user.
    case backgroundAppRefreshOff(until: WallInstant)
    /// VoIP: the device had the maximum of calls in the last 60 minutes; another is allowed from
    /// this instant on.
    case tooManyCalls(until: WallInstant)

    /// The reason and the fix, as a sentence for the answer to a request.
    public var sentence: String {
        switch self {
        case .backgroundAppRefreshOff(let until):
            "The app reported Background App Refresh off, so a background push cannot wake it. The "
                + "report counts until \(until), or until another comes. Use an alert push to "
                + "reach the user."
        case .tooManyCalls(let until):
            "This device has had as many calls in 60 minutes as it may have; from \(until) on "
                + "another is let through. VoIP pushes are for calls only; use a background push "
                + "for data."
        }
    }
}
