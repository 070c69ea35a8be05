// SPDX-License-Identifier: Apache-2.0

public import PayloadRules
public import WakeModel

/// The result of a request for a wake at its admission, from the store, the intake or the gateway.
/// The wake's later outcome is not part of it.
public enum AdmissionResult: Hashable, Sendable {
    /// The bounds of `Retry-After` of an overloaded gateway, in seconds; between them it is the
    /// time until the waiting requests are written.
    public static let overloadPauseSeconds = 1...60

    /// The wake is stored, and ends, or has ended, in exactly one recorded outcome; or it was
    /// stored before, and nothing new is.
    case admitted(AdmittedWake)
    /// The push is invalid by Apple's rules, with all findings.
    case invalid([Diagnostic])
    /// No such app is configured.
    case unknownApp
    /// The app is configured for this environment, and not for the requested one.
    case wrongEnvironment(configured: APNsEnvironment)
    /// The app is configured for both environments, and the request names none.
    case ambiguousEnvironment
    /// APNs does not accept this push type with the app's credential: the reason and the fix, as a
    /// sentence.
    case wrongCredential(String)
    /// The idempotency key was used before with another body; nothing is stored.
    case idempotencyConflict
    /// Too many requests wait; nothing is stored. It can be tried again after this number of
    /// seconds.
    case overloaded(retryAfterSeconds: Int)
    /// Nothing can be stored at present: the reason, as a sentence. Nothing is stored, unless the
    /// sentence says that this is not known.
    case unavailable(String)
    /// The rows of the wake's device cannot be read, so nothing is stored; other devices are not
    /// affected. The reason, as a sentence.
    case damaged(String)

    /// The result of a request after a failure of the store.
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

/// A stored wake: the receipt for an acceptance.
public struct AdmittedWake: Hashable, Sendable {
    /// Its name.
    public let id: WakeID
    /// When it was accepted.
    public let acceptedAt: WallInstant
    /// The time from which on it is never sent, as known when it was accepted.
    public let deadline: WallInstant
    /// What the budget decided.
    public let decision: WakeDecision
    /// Whether it repeats an earlier request.
    public let isRepeated: Bool
    /// The warnings and notes of the rules. A gateway's answer has them, a store's does not.
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

    /// The same, as the answer to a repeated request.
    var repeated: AdmittedWake {
        AdmittedWake(
            id: id, acceptedAt: acceptedAt, deadline: deadline, decision: decision,
            isRepeated: true)
    }
}
