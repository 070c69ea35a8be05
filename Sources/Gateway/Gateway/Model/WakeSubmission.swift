// SPDX-License-Identifier: Apache-2.0

public import PayloadRules
public import WakeModel

/// A valid wake to be stored, with its caller's options and the key that recognises its repetition.
public struct WakeSubmission: Sendable {
    /// The request, validated.
    public let wake: ValidWake
    /// The environment of its device token.
    public let environment: APNsEnvironment
    /// The time of the request.
    public let acceptedAt: WallInstant
    /// Not to be sent before this instant, regardless of the budget; `nil` without one.
    public let notBefore: WallInstant?
    /// The caller's options.
    public let options: WakeOptions
    /// Random bits for its id, of which 62 are used.
    public let entropy: UInt64
    /// The key, if the client sent one.
    public var idempotency: IdempotencyKey?

    /// Creates a submission.
    public init(
        wake: ValidWake, environment: APNsEnvironment, acceptedAt: WallInstant,
        notBefore: WallInstant? = nil, options: WakeOptions = WakeOptions(), entropy: UInt64,
        idempotency: IdempotencyKey? = nil
    ) {
        self.wake = wake
        self.environment = environment
        self.acceptedAt = acceptedAt
        self.notBefore = notBefore
        self.options = options
        self.entropy = entropy
        self.idempotency = idempotency
    }

    /// The app it is for.
    public var app: AppIdentity {
        AppIdentity(bundleID: wake.bundleID, environment: environment)
    }

    /// The queue it belongs to.
    public var queue: WakeQueueKey { WakeQueueKey(app: app, kind: wake.kind) }
}
