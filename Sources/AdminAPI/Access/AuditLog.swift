// SPDX-License-Identifier: Apache-2.0

public import Logging

/// One line for each change that somebody made through the API or by a reload: who, what, to what.
///
/// Wakes, receipts and what apps report of their devices are no such changes but the traffic
/// itself: the store keeps their history.
public struct AuditLog: Sendable {
    private let logger: Logger

    /// An audit log that writes where this logger does, at `notice`. What level the logger has does
    /// not matter: whoever wants fewer lines of the gateway's doings still wants each of these.
    public init(_ logger: Logger) {
        var logger = logger
        logger.logLevel = .notice
        self.logger = logger
    }

    /// Notes a change. `subject` is what it was done to, never a device token.
    public func note(_ change: String, by actor: String, to subject: String) {
        logger.notice(
            "audit",
            metadata: [
                "change": "\(change)", "by": "\(actor.isEmpty ? "anybody" : actor)",
                "subject": "\(subject)",
            ])
    }
}
