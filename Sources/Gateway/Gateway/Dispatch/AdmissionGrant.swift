// SPDX-License-Identifier: Apache-2.0

/// The room in flight that an admission under way may use, and the number under which
/// ``HeldLeases`` knows of the leases that it may give.
struct AdmissionGrant: Sendable {
    let room: ClaimGrant
    let promise: Int
}
