// SPDX-License-Identifier: Apache-2.0

extension WakeState {
    /// What the state means, as a sentence for the documentation.
    public var meaning: String {
        switch self {
        case .pending: "It is on disk, and waits for its time or for room."
        case .claimed: "It is on its way to APNs."
        case .sent: "Accepted by APNs; delivery is not confirmed; a receipt adds `launched_at`."
        case .coalesced: "It was merged into another wake, and shares that one's outcome."
        case .superseded: "The app was opened, or synced, before it left."
        case .suppressed: "It must not be sent; `suppression` says why."
        case .expired:
            "APNs did not accept it before its deadline, or it could not be sent before that."
        case .rejected: "APNs refused it, for a reason that another try does not change."
        case .undeliverable: "APNs says that the device token is dead."
        case .failed: "It was given up; `cause` says why."
        case .cancelled: "Somebody cancelled it, or had its device forgotten."
        case .damaged:
            "What the store held of it, or of its device, cannot be read any more; it is not sent."
        }
    }
}
