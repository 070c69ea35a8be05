// SPDX-License-Identifier: Apache-2.0

public import PayloadRules

/// The gateway's answer to a request for a wake.
public enum Acceptance: Hashable, Sendable {
    /// The shortest and the longest that an overloaded gateway asks its callers to wait, in
    /// seconds; between them it is as long as what waits now takes to be written.
    public static let overloadPauseSeconds = 1...60

    /// It is kept, now or since the request that this one repeats; with what the rules remark.
    case admitted(AdmittedWake, diagnostics: [Diagnostic])
    /// It is no push that Apple would honour: all findings.
    case invalid([Diagnostic])
    /// No such app is configured, or not in this environment.
    case unknownApp
    /// The app is configured for both environments, and the request names none.
    case ambiguousEnvironment
    /// The idempotency key was used before with another body.
    case idempotencyConflict
    /// Too many requests wait; to be tried again after so many seconds.
    case overloaded(retryAfterSeconds: Int)
    /// Nothing can be kept at present: why, as a sentence.
    case unavailable(String)
    /// What the store holds of the wake's device cannot be read, so nothing was kept; others are
    /// not concerned. Why, as a sentence.
    case damaged(String)
}

/// Whether the gateway can do its work.
public struct Readiness: Hashable, Sendable {
    /// What stands in its way, each as a sentence; empty when it is ready.
    public let obstacles: [String]

    /// Names the obstacles.
    public init(obstacles: [String]) { self.obstacles = obstacles }

    /// Whether nothing stands in its way.
    public var isReady: Bool { obstacles.isEmpty }
}
