// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// The state of a wake: waiting, claimed, or ended in one of several ways.
public enum WakeState: String, Hashable, Sendable, CaseIterable, CustomStringConvertible {
    /// Stored, and waiting for its due time or a free slot.
    case pending
    /// Passed to the sender under a lease.
    case claimed
    /// Ended: APNs accepted it.
    case sent
    /// Ended: another wake carries it, and shares its outcome with it.
    case coalesced
    /// Ended: the app came to the foreground and synced by itself.
    case superseded
    /// Ended: it must not be sent.
    case suppressed
    /// Ended: its deadline passed first.
    case expired
    /// Ended: APNs refused it.
    case rejected
    /// Ended: APNs reported the device token as unregistered.
    case undeliverable
    /// Ended: it is not retried any more.
    case failed
    /// Ended on request.
    case cancelled
    /// Ended: its row, or its device's, cannot be read any more.
    case damaged

    /// Whether it is final.
    public var isEnd: Bool { self != .pending && self != .claimed }

    /// The name, in lower case.
    public var description: String { rawValue }
}

/// How a wake ended. Every accepted wake ends in exactly one of these.
public enum WakeEnd: Hashable, Sendable {
    /// APNs answered 200; with the key for Apple's delivery log if there was one (sandbox).
    case sent(apnsUniqueID: String?)
    /// Another wake carries it.
    case coalesced(into: WakeID)
    /// The app was in the foreground and synced by itself.
    case superseded
    /// It must not be sent.
    case suppressed(WakeSuppression)
    /// The deadline passed before it could be sent.
    case expired
    /// APNs refused it, for a reason that another attempt does not change.
    case rejected(Refusal)
    /// APNs says that the device token is dead.
    case undeliverable(Refusal)
    /// It was given up.
    case failed(FailureCause)
    /// On request.
    case cancelled
    /// Its row in the store, or that of its device, cannot be read any more, so it is not sent.
    case damaged

    /// The state of this end.
    public var state: WakeState {
        switch self {
        case .sent: .sent
        case .coalesced: .coalesced
        case .superseded: .superseded
        case .suppressed: .suppressed
        case .expired: .expired
        case .rejected: .rejected
        case .undeliverable: .undeliverable
        case .failed: .failed
        case .cancelled: .cancelled
        case .damaged: .damaged
        }
    }
}

/// A refusal of APNs, as it is stored.
public struct Refusal: Hashable, Sendable {
    /// The HTTP status.
    public let status: Int
    /// The reason, verbatim; `nil` when the answer held none.
    public let reason: RejectionReason?
    /// With 410: since when APNs reports the device token as unregistered.
    public let tokenDeadSince: WallInstant?

    /// Creates a refusal.
    public init(status: Int, reason: RejectionReason?, tokenDeadSince: WallInstant? = nil) {
        self.status = status
        self.reason = reason
        self.tokenDeadSince = tokenDeadSince
    }

    /// Creates a refusal from an answer.
    public init(_ rejection: PushOutcome.Rejection) {
        self.init(
            status: rejection.status, reason: rejection.reason,
            tokenDeadSince: rejection.timestamp)
    }

    /// The consequence: by the reason's row in the table, else by the status.
    public var advice: RejectionReason.Advice {
        reason?.advice(status: status) ?? .forUnknownReason(status: status)
    }
}

/// The reason why a wake is not retried any more.
public enum FailureCause: String, Hashable, Sendable, CaseIterable {
    /// A push that must not be delivered twice may have reached APNs: see
    /// ``WakeModel/WakeKind/mayRepeat(collapseID:)``.
    case fateUnknown = "fate-unknown"
    /// It was tried the maximum number of times.
    case triesUsedUp = "tries-used-up"

    /// The cause as a sentence.
    public var sentence: String {
        switch self {
        case .fateUnknown:
            "Its fate is unknown: it may have reached APNs. It is not sent again, because nobody "
                + "is to get the same call, alert or speech twice; an alert with a collapse id "
                + "would be."
        case .triesUsedUp:
            "It was tried as often as the limit allows."
        }
    }
}
