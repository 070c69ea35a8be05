// SPDX-License-Identifier: Apache-2.0

/// How much a finding weighs. Only errors make a wake invalid.
public enum Severity: String, Hashable, Sendable, CaseIterable, Comparable, CustomStringConvertible
{
    /// For information.
    case note
    /// Probably wrong, degraded or risky.
    case warning
    /// Refused or ignored by APNs or the device, or against a documented must.
    case error

    /// Orders by weight: a note is less than a warning, and a warning less than an error.
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
