// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// A request for a wake, with its caller's options.
public struct Inquiry: Sendable {
    /// The request, not validated yet.
    public var request: WakeRequest
    /// The environment of the device token; may be left out when the app is configured for one
    /// only.
    public var environment: APNsEnvironment?
    /// The caller's options.
    public var options: WakeOptions
    /// The key that identifies a repetition of the request, if the caller sent one.
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
