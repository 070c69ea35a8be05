// SPDX-License-Identifier: Apache-2.0

/// The value of `apns-priority`. An absent header means 10, for background pushes too, which is
/// why Rouse always writes it (Apple, "Sending notification requests to APNs").
public enum Priority: UInt8, Hashable, Sendable, CaseIterable, CustomStringConvertible {
    /// 10: deliver at once.
    case immediate = 10
    /// 5: deliver with regard to the device's power. The only one for background pushes (BG006).
    case powerConsiderate = 5
    /// 1: put power before all else; never wakes the device (BG008).
    case powerFirst = 1

    /// The header's value.
    public var description: String { String(rawValue) }
}
