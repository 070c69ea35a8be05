// SPDX-License-Identifier: Apache-2.0

public import PayloadRules
public import WakeBudget
public import WakeModel

/// A valid wake on its way into the store, with what its caller says beside it.
public struct NewWake: Sendable {
    /// What was asked for, found valid.
    public let wake: ValidWake
    /// The environment of its device token.
    public let environment: APNsEnvironment
    /// When it came in.
    public let acceptedAt: WallInstant
    /// Not to be sent before this instant, whatever the budget allows; `nil` for no such wish.
    public let notBefore: WallInstant?
    /// How much it matters. Calls have none.
    public let urgency: Urgency
    /// How it merges into a wake that waits.
    public let coalescing: Coalescing
    /// What its caller calls it.
    public let ref: WakeRef?
    /// Random bits for its id, of which 62 are used.
    public let entropy: UInt64

    /// Creates a wake.
    public init(
        wake: ValidWake, environment: APNsEnvironment, acceptedAt: WallInstant,
        notBefore: WallInstant? = nil, urgency: Urgency = .normal,
        coalescing: Coalescing = .replace, ref: WakeRef? = nil, entropy: UInt64
    ) {
        self.wake = wake
        self.environment = environment
        self.acceptedAt = acceptedAt
        self.notBefore = notBefore
        self.urgency = urgency
        self.coalescing = coalescing
        self.ref = ref
        self.entropy = entropy
    }

    /// The app it is for.
    public var app: AppIdentity {
        AppIdentity(bundleID: wake.bundleID, environment: environment)
    }

    /// The queue it belongs to.
    public var queue: WakeQueueKey { WakeQueueKey(app: app, kind: wake.kind) }
}

/// What makes two requests the same request: the client's key, and a digest of what it asked.
public struct IdempotencyKey: Hashable, Sendable {
    /// A digest of the caller's name and the caller's key, 32 bytes.
    public let key: [UInt8]
    /// A digest of the request's body, 32 bytes.
    public let request: [UInt8]
    /// Until when the key is remembered.
    public let expiresAt: WallInstant

    /// Creates a mark.
    public init(key: [UInt8], request: [UInt8], expiresAt: WallInstant) {
        self.key = key
        self.request = request
        self.expiresAt = expiresAt
    }
}

/// One wake to admit, with the mark that recognises its repetition.
public struct Submission: Sendable {
    /// The wake.
    public let wake: NewWake
    /// The mark, if the client sent a key.
    public let idempotency: IdempotencyKey?

    /// Creates a submission.
    public init(wake: NewWake, idempotency: IdempotencyKey? = nil) {
        self.wake = wake
        self.idempotency = idempotency
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

/// A store's answer to one submission.
public enum Admission: Hashable, Sendable {
    /// The wake is kept, and will end, or has ended, in exactly one recorded outcome; or it is
    /// one that was kept before, and nothing new is.
    case admitted(AdmittedWake)
    /// The same key came before with another body; nothing is kept.
    case conflict
    /// What the store holds of its device cannot be read, so nothing is kept: why, as a sentence.
    case damaged(String)
    /// The store failed as a whole when the other submissions of its batch had been answered;
    /// nothing is kept, unless the failure's words say that this is not known. A gateway's answer:
    /// a store throws instead.
    case failed(StoreFailure)
}
