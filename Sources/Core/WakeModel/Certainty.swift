// SPDX-License-Identifier: Apache-2.0

/// Whether a push without an answer may have reached APNs.
///
/// It determines what follows from a failure: a push that was not sent may be sent again; one that
/// may have been sent counts against the device's budget, and, if it is a VoIP push, is never sent
/// again, because a phone must not ring twice.
public enum Certainty: String, Hashable, Sendable, CaseIterable {
    /// The push certainly did not reach APNs as a whole request.
    case notSent = "not-sent"
    /// It may have: it was written, in part or in whole, and no answer came.
    case unknown
}
