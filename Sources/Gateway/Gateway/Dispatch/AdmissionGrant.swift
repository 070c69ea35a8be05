// SPDX-License-Identifier: Apache-2.0

/// The in-flight slots that a running admission may use, and the number under which ``HeldLeases``
/// records the leases that it may grant.
struct AdmissionGrant: Sendable {
    let room: ClaimGrant
    let promise: Int
}
