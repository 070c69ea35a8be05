// SPDX-License-Identifier: Apache-2.0

/// The result of checking a request.
public enum Verdict: Hashable, Sendable {
    /// No rule found an error. `remarks` are warnings and notes.
    case valid(ValidWake, remarks: [Diagnostic])
    /// At least one rule found an error. The list contains all findings, including warnings and
    /// notes.
    case invalid([Diagnostic])

    /// All findings, in the order of their places.
    public var diagnostics: [Diagnostic] {
        switch self {
        case .valid(_, let remarks): remarks
        case .invalid(let diagnostics): diagnostics
        }
    }

    /// The wake, if no rule found an error.
    public var validWake: ValidWake? {
        switch self {
        case .valid(let wake, _): wake
        case .invalid: nil
        }
    }
}
