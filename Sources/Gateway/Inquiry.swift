// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// A request for a wake, with what its caller says beside it.
public struct Inquiry: Sendable {
    /// What is asked for; nothing of it is checked yet.
    public let request: WakeRequest
    /// The environment of the device token; may be left out when the app is configured for one
    /// only.
    public let environment: APNsEnvironment?
    /// What recognises a repetition of the request, if the caller gave a key.
    public let idempotency: IdempotencyMark?

    /// Spells out one.
    public init(
        _ request: WakeRequest, environment: APNsEnvironment? = nil,
        idempotency: IdempotencyMark? = nil
    ) {
        self.request = request
        self.environment = environment
        self.idempotency = idempotency
    }
}
