// SPDX-License-Identifier: Apache-2.0

/// The severity of a finding. Only errors make a wake invalid.
public enum Severity: String, Hashable, Sendable, CaseIterable, Comparable, CustomStringConvertible
{
    /// Information.
    case note
    /// Probably wrong, degraded or risky.
    case warning
    /// Rejected or ignored by APNs or the device, or contrary to a documented requirement.
    case error

    /// Orders by severity: a note is less than a warning, and a warning less than an error.
    public static func < (left: Severity, right: Severity) -> Bool { left.weight < right.weight }

    /// The name, in lower case.
    public var description: String { rawValue }

    private var weight: Int {
        switch self {
        case .note: 0
        case .warning: 1
        case .error: 2
        }
    }
}
