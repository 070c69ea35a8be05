// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// One push of a log or a plan, as ``PushHistory`` looks at it.
public struct SentPush: Sendable {
    /// What APNs answered.
    public struct Answer: Hashable, Sendable {
        /// The HTTP status.
        public var status: Int
        /// The `reason` of the body, such as `Unregistered`; `nil` for a 200.
        public var reason: String?

        /// Spells out an answer.
        public init(status: Int, reason: String? = nil) {
            self.status = status
            self.reason = reason
        }
    }

    /// When it was sent.
    public var at: WallInstant
    /// Any stable name of the device token, such as a digest; it is never shown.
    public var device: String
    /// What was sent. Its ``PushDraft/now`` is not used.
    public var draft: PushDraft
    /// What APNs answered, where the log has it; the rules SQ001, SQ003 and SQ004 need it.
    public var answer: Answer?

    /// Describes one push of a log.
    public init(at: WallInstant, device: String, draft: PushDraft, answer: Answer? = nil) {
        self.at = at
        self.device = device
        self.draft = draft
        self.answer = answer
    }
}
