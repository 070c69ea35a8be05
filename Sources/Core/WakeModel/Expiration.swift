// SPDX-License-Identifier: Apache-2.0

/// The value of `apns-expiration`: the end of the time in which APNs may try to deliver.
///
/// The header is an absolute time in epoch seconds; a relative number of seconds is one of the
/// most common mistakes (rule H011), so this type can only be made from an instant.
public enum Expiration: Hashable, Sendable {
    /// 0: one attempt, nothing is stored. The default for VoIP (rule VO005).
    case immediately
    /// Stored and retried until this instant. Whole seconds count; the rest is dropped.
    case at(WallInstant)

    /// The header's value: `0`, or seconds since the epoch.
    ///
    /// An instant at or before the first second of the epoch becomes 1, because 0 means
    /// "immediately" and a negative number is invalid.
    public var headerValue: String {
        switch self {
        case .immediately: "0"
        case .at(let instant): String(max(1, instant.secondsSinceEpoch))
        }
    }
}
