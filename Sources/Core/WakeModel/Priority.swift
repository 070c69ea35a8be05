// SPDX-License-Identifier: Apache-2.0

/// The value of `apns-priority`. An absent header means 10, for background pushes too, which is
/// why Rouse always writes it (Apple, "Sending notification requests to APNs").
public enum Priority: UInt8, Hashable, Sendable, CaseIterable, CustomStringConvertible {
    /// 10: deliver immediately.
    case immediate = 10
    /// 5: deliver with regard to the device's power. The only one for background pushes (BG006).
    case powerConsiderate = 5
    /// 1: put power before all else; never wakes the device (BG008).
    case powerFirst = 1

    /// The header's value.
    public var description: String { String(rawValue) }
}

extension WakeKind {
    /// Throws ``InvalidField`` for a priority that Apple does not allow for pushes of this kind.
    public func check(_ priority: Priority) throws(InvalidField) {
        let allowed = allowedPriorities
        guard !allowed.contains(priority) else { return }
        let list = allowed.map(\.description).joined(separator: " or ")
        throw InvalidField(
            field: "priority",
            problem: "is \(priority), which APNs does not take for \(self) pushes",
            remedy: allowed.count == 1
                ? "Leave it out: \(self) pushes always have \(list)." : "Use \(list).")
    }
}
