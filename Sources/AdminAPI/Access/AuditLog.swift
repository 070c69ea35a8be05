// SPDX-License-Identifier: Apache-2.0

public import Logging

/// One line for each change that somebody made through the API or by a reload: who, what, to what.
public struct AuditLog: Sendable {
    private let logger: Logger

    /// An audit log that writes to this logger, at `notice`.
    public init(_ logger: Logger) { self.logger = logger }

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
