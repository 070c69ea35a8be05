// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// A request for a wake, with what its caller says beside it.
public struct Inquiry: Sendable {
    /// The request, not validated yet.
    public var request: WakeRequest
    /// The environment of the device token; may be left out when the app is configured for one
    /// only.
    public var environment: APNsEnvironment?
    /// What the caller chooses beside the push.
    public var options: WakeOptions
    /// What recognises a repetition of the request, if the caller gave a key.
    public var idempotency: IdempotencyKey?
    /// Whether the expiration was given as a span from now: a repetition is then the same request,
    /// although it expires later.
    public var hasLifetime: Bool

    /// Creates a value.
    public init(
        _ request: WakeRequest, environment: APNsEnvironment? = nil,
        options: WakeOptions = WakeOptions(), idempotency: IdempotencyKey? = nil,
        hasLifetime: Bool = false
    ) {
        self.request = request
        self.environment = environment
        self.options = options
        self.idempotency = idempotency
        self.hasLifetime = hasLifetime
    }
}
