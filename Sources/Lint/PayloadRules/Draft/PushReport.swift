// SPDX-License-Identifier: Apache-2.0

/// The findings about a ``PushDraft``.
public struct PushReport: Sendable, Hashable {
    /// The push type by which the draft was checked: the value of its header, or the inferred one.
    public let pushType: String
    /// Whether the draft has no push type, so that ``pushType`` was inferred from its content.
    public let pushTypeIsInferred: Bool
    /// All findings, in the order of their places; those about headers are first.
    public let diagnostics: [Diagnostic]
}
