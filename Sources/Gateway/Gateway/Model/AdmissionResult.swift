// SPDX-License-Identifier: Apache-2.0

public import PayloadRules
public import WakeModel

/// The result of a request for a wake at its admission, from the store, the intake or the gateway.
/// The wake's later outcome is not part of it.
public enum AdmissionResult: Hashable, Sendable {
    /// The bounds of `Retry-After` of an overloaded gateway, in seconds; between them it is the
    /// time until the waiting requests are written.
    public static let overloadPauseSeconds = 1...60

    /// The wake is kept, and ends, or has ended, in exactly one recorded outcome; or it is one that
    /// was kept before, and nothing new is.
    case admitted(AdmittedWake)
    /// It is no push that Apple would honour: all findings.
    case invalid([Diagnostic])
    /// No such app is configured, or not in this environment.
    case unknownApp
    /// The app is configured for both environments, and the request names none.
    case ambiguousEnvironment
    /// APNs does not take this push type from a sender with the app's credential: why and what to
    /// do, as a sentence.
    case wrongCredential(String)
    /// The idempotency key was used before with another body; nothing is kept.
    case idempotencyConflict
    /// Too many requests wait; nothing is kept. To be tried again after so many seconds.
    case overloaded(retryAfterSeconds: Int)
    /// Nothing can be kept at present: why, as a sentence. Nothing is kept, unless the sentence
    /// says that this is not known.
    case unavailable(String)
    /// What the store holds of the wake's device cannot be read, so nothing is kept; others are not
    /// concerned. Why, as a sentence.
    case damaged(String)

    /// What a failure of the store makes of a request.
    init(_ failure: StoreFailure) {
        switch failure.kind {
        case .damaged: self = .damaged(failure.message)
        case .overloaded:
            self = .overloaded(retryAfterSeconds: Self.overloadPauseSeconds.lowerBound)
        case .full, .readOnly, .corrupt, .inUse, .unavailable:
            self = .unavailable(failure.message)
        }
    }
}

/// A wake that the store keeps: the receipt for an acceptance.
public struct AdmittedWake: Hashable, Sendable {
    /// Its name.
    public let id: WakeID
    /// When it was accepted.
    public let acceptedAt: WallInstant
    /// From when on it is never sent any more, as was known when it was accepted.
    public let deadline: WallInstant
    /// What the budget decided.
    public let decision: WakeDecision
    /// Whether an earlier request was this one already.
    public let isRepeated: Bool
    /// What the rules found in it, warnings and notes. A gateway's answer has them, a store's not.
    public var diagnostics: [Diagnostic] = []

    /// Creates a receipt.
    public init(
        id: WakeID, acceptedAt: WallInstant, deadline: WallInstant, decision: WakeDecision,
        isRepeated: Bool = false
    ) {
        self.id = id
        self.acceptedAt = acceptedAt
        self.deadline = deadline
        self.decision = decision
        self.isRepeated = isRepeated
    }

    /// The same, as the answer to a request that came before.
    var repeated: AdmittedWake {
        AdmittedWake(
            id: id, acceptedAt: acceptedAt, deadline: deadline, decision: decision,
            isRepeated: true)
    }
}
