// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// A push of a log or a plan, for ``PushHistory``.
public struct SentPush: Sendable {
    /// The answer of APNs.
    public struct Answer: Hashable, Sendable {
        /// The HTTP status.
        public var status: Int
        /// The `reason` of the body, such as `Unregistered`; `nil` for a 200.
        public var reason: String?
        /// The `timestamp` of a 410: the time at which APNs confirmed that the device token was
        /// inactive.
        public var inactiveAt: WallInstant?

        /// Creates an answer.
        public init(status: Int, reason: String? = nil, inactiveAt: WallInstant? = nil) {
            self.status = status
            self.reason = reason
            self.inactiveAt = inactiveAt
        }
    }

    /// The handling of the device token by the sender.
    public struct TokenCare: Hashable, Sendable {
        /// The time of the app's last registration of the token, if known.
        public var registeredAt: WallInstant?
        /// Whether the sender deleted the token because of the answer to this push.
        public var isDeleted: Bool

        /// Creates the state of a token.
        public init(registeredAt: WallInstant? = nil, isDeleted: Bool = false) {
            self.registeredAt = registeredAt
            self.isDeleted = isDeleted
        }
    }

    /// The time at which the push was sent.
    public var at: WallInstant
    /// A stable identifier of the device token, such as a digest; it is never shown.
    public var device: String
    /// The push. Its ``PushDraft/now`` is not used.
    public var draft: PushDraft
    /// The answer of APNs; `nil` if it is unknown. The rules SQ001 to SQ004 need it.
    public var answer: Answer?
    /// The handling of the token, if it is known. The rules SQ001 and SQ002 use it.
    public var token: TokenCare

    /// Creates a push of a log.
    public init(
        at: WallInstant, device: String, draft: PushDraft, answer: Answer? = nil,
        token: TokenCare = .init()
    ) {
        self.at = at
        self.device = device
        self.draft = draft
        self.answer = answer
        self.token = token
    }
}
