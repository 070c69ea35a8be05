// SPDX-License-Identifier: Apache-2.0

/// Receives the gateway's counts. Called from any thread, once for a transaction or an answer of
/// APNs; must return quickly. Every string is from a bounded set, and every app is or was
/// configured.
public protocol GatewayMetrics: Sendable {
    /// The gateway serves these apps, from its start or from a reload on.
    func serves(_ apps: [AppIdentity])
    /// Wakes were accepted, durably, with this decision (``WakeDecision/word``).
    func accepted(_ count: Int, of queue: WakeQueueKey, decision: String)
    /// Wakes have ended; with the reason of APNs if it refused them: one of Apple's table, or
    /// `other`.
    func ended(_ count: Int, of queue: WakeQueueKey, state: WakeState, reason: String?)
    /// Requests were refused: `invalid`, `unknown-app`, `wrong-credential`, `conflict`,
    /// `overloaded`, `unavailable`, `damaged`.
    func refused(_ count: Int, why: String)
    /// APNs answered so long after the wake was passed to the sender.
    func answered(afterMilliseconds milliseconds: Int64, of queue: WakeQueueKey)
    /// Wakes were passed to the sender, the latest of them so long after it was due.
    func dispatched(_ count: Int, of queue: WakeQueueKey, lagMilliseconds: Int64)
    /// Due wakes were deferred by the budget.
    func deferred(_ count: Int)
    /// A transaction of this many wakes took so long, waiting for the disk included.
    func committed(_ count: Int, verb: String, microseconds: Int64)
    /// Rows of the store cannot be read, and were not counted since the start.
    func damaged(_ count: Int, table: DamagedRow.Table)
    /// The number of webhooks that are kept for endpoints that are not configured any more.
    func webhooksWaitUnconfigured(_ count: Int)
}

/// Counts nothing.
public struct NoMetrics: GatewayMetrics {
    /// Counts nothing.
    public init() {}
    /// Does nothing.
    public func serves(_ apps: [AppIdentity]) {}
    /// Does nothing.
    public func accepted(_ count: Int, of queue: WakeQueueKey, decision: String) {}
    /// Does nothing.
    public func ended(_ count: Int, of queue: WakeQueueKey, state: WakeState, reason: String?) {}
    /// Does nothing.
    public func refused(_ count: Int, why: String) {}
    /// Does nothing.
    public func answered(afterMilliseconds milliseconds: Int64, of queue: WakeQueueKey) {}
    /// Does nothing.
    public func dispatched(_ count: Int, of queue: WakeQueueKey, lagMilliseconds: Int64) {}
    /// Does nothing.
    public func deferred(_ count: Int) {}
    /// Does nothing.
    public func committed(_ count: Int, verb: String, microseconds: Int64) {}
    /// Does nothing.
    public func damaged(_ count: Int, table: DamagedRow.Table) {}
    /// Does nothing.
    public func webhooksWaitUnconfigured(_ count: Int) {}
}
