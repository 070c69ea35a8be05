// SPDX-License-Identifier: Apache-2.0

public import WakeBudget
public import WakeModel

/// A request for a wake, with what its caller says beside it.
public struct Inquiry: Sendable {
    /// The request, not validated yet.
    public var request: WakeRequest
    /// The environment of the device token; may be left out when the app is configured for one
    /// only.
    public var environment: APNsEnvironment?
    /// Its urgency. Calls have none.
    public var urgency: Urgency
    /// How it merges into a wake that waits for the same device.
    public var coalescing: Coalescing
    /// What the caller calls the wake.
    public var ref: WakeRef?
    /// What recognises a repetition of the request, if the caller gave a key.
    public var idempotency: IdempotencyKey?
    /// Whether the expiration was given as a span from now: a repetition is then the same request,
    /// although it expires later.
    public var hasLifetime: Bool

    /// Creates a value.
    public init(
        _ request: WakeRequest, environment: APNsEnvironment? = nil, urgency: Urgency = .normal,
        coalescing: Coalescing = .replace, ref: WakeRef? = nil,
        idempotency: IdempotencyKey? = nil, hasLifetime: Bool = false
    ) {
        self.request = request
        self.environment = environment
        self.urgency = urgency
        self.coalescing = coalescing
        self.ref = ref
        self.idempotency = idempotency
        self.hasLifetime = hasLifetime
    }
}
