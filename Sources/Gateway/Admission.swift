// SPDX-License-Identifier: Apache-2.0

public import PayloadRules
public import WakeModel

/// A valid wake that the gateway has decided to take, and its times.
public struct NewWake: Sendable {
    /// Its name, and its `apns-id`.
    public let id: WakeID
    /// What was asked for, found valid.
    public let wake: ValidWake
    /// The environment of its device token.
    public let environment: APNsEnvironment
    /// When it was accepted.
    public let acceptedAt: WallInstant
    /// When it may be sent at the earliest.
    public let dueAt: WallInstant
    /// From when on it is never sent any more.
    public let deadline: WallInstant

    /// Spells out one wake.
    public init(
        id: WakeID, wake: ValidWake, environment: APNsEnvironment, acceptedAt: WallInstant,
        dueAt: WallInstant, deadline: WallInstant
    ) {
        self.id = id
        self.wake = wake
        self.environment = environment
        self.acceptedAt = acceptedAt
        self.dueAt = dueAt
        self.deadline = deadline
    }

    /// The app it is for.
    public var app: AppIdentity {
        AppIdentity(bundleID: wake.bundleID, environment: environment)
    }
}

/// What makes two requests the same request: the client's key, and a digest of what it asked.
public struct IdempotencyMark: Hashable, Sendable {
    /// A digest of the caller's name and the caller's key, 32 bytes.
    public let key: [UInt8]
    /// A digest of the request's body, 32 bytes.
    public let request: [UInt8]
    /// Until when the key is remembered.
    public let expiresAt: WallInstant

    /// Spells out one mark.
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
    public let idempotency: IdempotencyMark?

    /// Spells out one submission.
    public init(wake: NewWake, idempotency: IdempotencyMark? = nil) {
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
    /// From when on it is never sent any more.
    public let deadline: WallInstant

    /// Spells out one receipt.
    public init(id: WakeID, acceptedAt: WallInstant, deadline: WallInstant) {
        self.id = id
        self.acceptedAt = acceptedAt
        self.deadline = deadline
    }
}

/// A store's answer to one submission.
public enum Admission: Hashable, Sendable {
    /// The wake is kept, and will end in exactly one recorded outcome.
    case admitted(AdmittedWake)
    /// The same key and the same body came before: this is that wake, and nothing new is kept.
    case repeated(AdmittedWake)
    /// The same key came before with another body; nothing is kept.
    case conflict
}
