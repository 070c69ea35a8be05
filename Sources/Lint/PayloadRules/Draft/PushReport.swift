// SPDX-License-Identifier: Apache-2.0

/// What the rules say of a ``PushDraft``.
public struct PushReport: Sendable, Hashable {
    /// The push type that the draft was judged by: the one that it gives, as it is written, or the
    /// one that it looks like.
    public let pushType: String
    /// Whether the draft gives no push type, so that ``pushType`` was inferred from its content.
    public let pushTypeIsInferred: Bool
    /// All findings, in the order of their places; those about headers come first.
    public let diagnostics: [Diagnostic]
}
