// SPDX-License-Identifier: Apache-2.0

/// Whether a push that got no answer can have reached APNs.
///
/// This word decides everything that follows from a failure (design: the life of a wake): what was
/// not sent may be sent again freely; what may have been sent counts against the device's budget,
/// and a VoIP push among it is never sent again, because a phone must not ring twice.
public enum Certainty: String, Hashable, Sendable, CaseIterable {
    /// The push certainly did not reach APNs as a whole request.
    case notSent = "not-sent"
    /// It may have: it was written, in part or in whole, and no answer came.
    case unknown
}
