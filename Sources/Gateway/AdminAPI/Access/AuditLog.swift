// SPDX-License-Identifier: Apache-2.0

public import Gateway
public import Logging

/// Records each change that a caller makes: the time, the caller, its address, the change and its
/// subject. Entries are appended to an ``AuditFile``, or written to the log if there is no file.
///
/// Changes are pauses and resumptions, cancellations, forgotten devices, removed registrations,
/// created and deleted channels, changes of API keys, and reloads. Wakes, receipts and reports
/// about devices are not recorded here, because the store keeps them. Broadcasts are not recorded.
public struct AuditLog: Sendable {
    private let logger: Logger
    private let file: AuditFile?
    private let clock: any GatewayClock

    /// Creates an audit log that writes to `file`. Without a file, and if a write to it fails,
    /// entries are written to `logger` at level `notice`, regardless of the logger's level.
    public init(
        _ logger: Logger, file: AuditFile? = nil, clock: any GatewayClock = SystemGatewayClock()
    ) {
        var logger = logger
        logger.logLevel = .notice
        self.logger = logger
        self.file = file
        self.clock = clock
    }

    /// Records a change. `subject` is the object of the change, never a device token. `details`
    /// with the value `nil` are omitted.
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

    /// Returns the text with control characters escaped.
    private static func printable(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { result, scalar in
            result +=
                scalar.properties.generalCategory == .control
                ? scalar.escaped(asASCII: true) : String(scalar)
        }
    }

    /// Records a change that the caller of a request made.
    func note(
        _ change: String, in context: AdminRequestContext, to subject: String,
        _ details: KeyValuePairs<String, String?> = [:]
    ) {
        note(
            change, by: context.callerName.isEmpty ? "anybody" : context.callerName,
            from: context.origin, to: subject, details)
    }
}
