// SPDX-License-Identifier: Apache-2.0

public import Gateway
public import Logging

/// One entry for each change made by a caller: who, from where, what, to what, and when. It goes to
/// a file of its own (``AuditFile``) or, without one, to the log.
///
/// Changes are pauses, cancellations, forgotten devices, channels made and deleted, API keys that
/// come, go or change, and reloads. Wakes, receipts and what apps report of their devices are no
/// such changes but the traffic itself: the store keeps their history. Broadcasts are none either,
/// and are kept nowhere.
public struct AuditLog: Sendable {
    private let logger: Logger
    private let file: AuditFile?
    private let clock: any GatewayClock

    /// An audit log that writes to this file. Without one, and where the file fails, it writes
    /// where the logger does, at `notice`. The logger's level does not apply: a quieter log must
    /// still have these.
    public init(
        _ logger: Logger, file: AuditFile? = nil, clock: any GatewayClock = SystemGatewayClock()
    ) {
        var logger = logger
        logger.logLevel = .notice
        self.logger = logger
        self.file = file
        self.clock = clock
    }

    /// Notes a change. `subject` is what it was done to, never a device token; `details` with
    /// `nil` are left out.
    public func note(
        _ change: String, by actor: String, from origin: String, to subject: String,
        _ details: KeyValuePairs<String, String?> = [:]
    ) {
        let entry = AuditEntry(
            at: clock.now(), change, by: actor, from: origin, to: subject, details)
        if let file {
            do throws(AuditFile.Failure) {
                return try file.append(entry)
            } catch {
                logger.error("the audit log cannot be written", metadata: ["error": "\(error)"])
            }
        }
        logger.notice(
            "audit",
            metadata: Logger.Metadata(
                entry.members.dropFirst().map { ($0.name, .string(Self.printable($0.value))) }
            ) { first, _ in first })
    }

    /// A text without what would end the line or move a cursor.
    private static func printable(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { result, scalar in
            result +=
                scalar.properties.generalCategory == .control
                ? scalar.escaped(asASCII: true) : String(scalar)
        }
    }

    /// Notes a change that the caller of a request made.
    func note(
        _ change: String, in context: AdminRequestContext, to subject: String,
        _ details: KeyValuePairs<String, String?> = [:]
    ) {
        note(
            change, by: context.callerName.isEmpty ? "anybody" : context.callerName,
            from: context.origin, to: subject, details)
    }
}
