// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// One push of a log or a plan, as ``PushHistory`` checks it.
public struct SentPush: Sendable {
    /// What APNs answered.
    public struct Answer: Hashable, Sendable {
        /// The HTTP status.
        public var status: Int
        /// The `reason` of the body, such as `Unregistered`; `nil` for a 200.
        public var reason: String?
        /// The `timestamp` of a 410: when APNs saw that the device token was no longer active.
        public var inactiveAt: WallInstant?

        /// Spells out an answer.
        public init(status: Int, reason: String? = nil, inactiveAt: WallInstant? = nil) {
            self.status = status
            self.reason = reason
            self.inactiveAt = inactiveAt
        }
    }

    /// What the sender did with the device token.
    public struct TokenCare: Hashable, Sendable {
        /// When the app last registered the token, if known.
        public var registeredAt: WallInstant?
        /// Whether the sender deleted the token on the answer to this push.
        public var isDeleted: Bool

        /// Creates the state of a token.
        public init(registeredAt: WallInstant? = nil, isDeleted: Bool = false) {
            self.registeredAt = registeredAt
            self.isDeleted = isDeleted
        }
    }

    /// When it was sent.
    public var at: WallInstant
    /// Any stable name of the device token, such as a digest; it is never shown.
    public var device: String
    /// What was sent. Its ``PushDraft/now`` is not used.
    public var draft: PushDraft
    /// What APNs answered, where the log has it; the rules SQ001 to SQ004 need it.
    public var answer: Answer?
    /// What the sender did with the token, where the log has it; SQ001 and SQ002 look at it.
    public var token: TokenCare

    /// Describes one push of a log.
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
