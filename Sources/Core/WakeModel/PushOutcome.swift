// SPDX-License-Identifier: Apache-2.0

/// The answer of APNs to one push. Both cases are answers; the absence of one is an error instead.
public enum PushOutcome: Hashable, Sendable {
    /// Status 200: APNs accepted the push. It does not mean that the push was delivered or that the
    /// app ran (Apple, "Viewing the status of push notifications using metrics and APNs").
    case accepted(Acceptance)
    /// Any other status.
    case rejected(Rejection)

    /// An answer with status 200.
    public struct Acceptance: Hashable, Sendable {
        /// What it means, and what not, in words.
        public static let meaning = "Accepted by APNs; delivery is not confirmed."

        /// The `apns-id` of the answer: the one sent, or one that APNs made.
        public var apnsID: APNsID?
        /// The key for the Delivery Log of Apple's Push Notifications Console. Sandbox only.
        public var apnsUniqueID: String?

        /// Both identifiers, each `nil` when the answer had none.
        public init(apnsID: APNsID?, apnsUniqueID: String? = nil) {
            self.apnsID = apnsID
            self.apnsUniqueID = apnsUniqueID
        }
    }

    /// An answer with any other status.
    public struct Rejection: Hashable, Sendable {
        /// The HTTP status.
        public var status: Int
        /// The reason, verbatim; `nil` when the body held none.
        public var reason: RejectionReason?
        /// With 410: when APNs found the device token dead. A registration after it revives the
        /// token (Apple, "Handling notification responses from APNs").
        public var timestamp: WallInstant?
        /// The `apns-id` of the answer.
        public var apnsID: APNsID?

        /// Creates a rejection.
        public init(
            status: Int, reason: RejectionReason?, timestamp: WallInstant? = nil,
            apnsID: APNsID? = nil
        ) {
            self.status = status
            self.reason = reason
            self.timestamp = timestamp
            self.apnsID = apnsID
        }

        /// What to do about it: by the reason's row in the table, else by the status.
        public var advice: RejectionReason.Advice {
            reason?.advice(status: status) ?? .forMissingReason(status: status)
        }
    }
}
