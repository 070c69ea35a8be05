// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// The new state of a claimed wake.
public struct Settlement: Hashable, Sendable {
    /// The effect on the wake.
    public enum Effect: Hashable, Sendable {
        /// It has ended.
        case end(WakeEnd)
        /// It is returned to the queue and due again at this instant. `charged` is whether the
        /// attempt may have reached APNs and counts as a try.
        case retry(at: WallInstant, charged: Bool)
        /// It is returned to the queue without an effect: nothing was sent.
        case release
    }

    /// Proof of the lease.
    public let ticket: Claim.Ticket
    /// When this was known.
    public let at: WallInstant
    /// The result of the attempt; `nil` when none was made.
    public let attempt: AttemptResult?
    /// The effect.
    public let effect: Effect

    /// Creates a settlement.
    public init(
        ticket: Claim.Ticket, at: WallInstant, attempt: AttemptResult?, effect: Effect
    ) {
        self.ticket = ticket
        self.at = at
        self.attempt = attempt
        self.effect = effect
    }
}

/// A store's answer to one settlement.
public enum SettlementVerdict: Hashable, Sendable {
    /// It took effect now.
    case applied
    /// The same lease was settled before; nothing changed.
    case repeated
    /// The lease is no longer valid: it lapsed and was reclaimed. Nothing changed.
    case stale
    /// The wake's row cannot be read, so the result cannot be recorded; the wake ended as
    /// ``WakeState/damaged``.
    case damaged
}

/// The result of one attempt to send.
public enum AttemptResult: Hashable, Sendable {
    /// APNs accepted the push.
    case accepted(apnsUniqueID: String?)
    /// APNs refused it.
    case refused(Refusal)
    /// No answer came.
    case unanswered(SendFailure)
    /// The gateway that held the lease never recorded a result.
    case abandoned
}

/// One attempt in a wake's history.
public struct AttemptRecord: Hashable, Sendable {
    /// The most attempts that a store keeps for one wake; older ones are dropped.
    public static let maximumKept = 16

    /// When the wake was claimed for it.
    public let startedAt: WallInstant
    /// When its result was known.
    public let endedAt: WallInstant
    /// The result.
    public let result: AttemptResult

    /// Creates an attempt.
    public init(startedAt: WallInstant, endedAt: WallInstant, result: AttemptResult) {
        self.startedAt = startedAt
        self.endedAt = endedAt
        self.result = result
    }
}
