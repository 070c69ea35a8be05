// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logging
import Synchronization
import WakeModel

/// How the gateway writes its log to standard error.
enum LogFormat: String, CaseIterable, ExpressibleByArgument, Sendable {
    /// Lines for people.
    case text
    /// A JSON object on each line, for programs that collect logs.
    case json

    /// A logger of this form.
    func logger(_ label: String, _ level: Logger.Level) -> Logger {
        var logger =
            switch self {
            case .text: Logger(label: label)
            case .json: Logger(label: label) { JSONLogHandler(label: $0) }
            }
        logger.logLevel = level
        return logger
    }
}

/// Writes log entries to standard error, each as a JSON object on a line of its own:
///
/// | Key | Value |
/// |---|---|
/// | `time` | RFC 3339, in UTC with milliseconds |
/// | `level` | `trace` … `critical` |
/// | `logger` | what writes: `rouse`, or `apns-simulator` |
/// | `message` | what happened, the same text for the same event |
/// | `metadata` | an object: its values are texts, or objects and lists of them |
struct JSONLogHandler: LogHandler {
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?
    private let label: String

    /// Lines of two threads do not mix.
    private static let output = Mutex(())

    init(label: String) { self.label = label }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var all = metadata
        if let metadataProvider { all.merge(metadataProvider.get()) { $1 } }
        if let own = event.metadata { all.merge(own) { $1 } }
        if let error = event.error { all["error"] = "\(error)" }
        let line = Self.line(
            at: WallInstant.now, event.level, label, "\(event.message)", all)
        Self.output.withLock { _ in
            StandardError.write(line + "\n")
        }
    }

    /// One entry, without the end of its line.
    static func line(
        at instant: WallInstant, _ level: Logger.Level, _ label: String, _ message: String,
        _ metadata: Logger.Metadata
    ) -> String {
        let members = [
            ("time", quoted(instant.description)), ("level", quoted(level.rawValue)),
            ("logger", quoted(label)), ("message", quoted(message)),
            ("metadata", value(.dictionary(metadata))),
        ]
        return "{\(members.map { "\"\($0)\":\($1)" }.joined(separator: ","))}"
    }

    private static func value(_ value: Logger.Metadata.Value) -> String {
        switch value {
        case .string(let text): quoted(text)
        case .stringConvertible(let other): quoted("\(other)")
        case .array(let values): "[\(values.map(self.value).joined(separator: ","))]"
        case .dictionary(let values):
            "{"
                + values.sorted { $0.key < $1.key }
                .map { "\(quoted($0.key)):\(self.value($0.value))" }.joined(separator: ",") + "}"
        }
    }

    /// A JSON string (RFC 8259 §7) without control characters for terminals.
    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\t": quoted += "\\t"
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted.printableJSON + "\""
    }
}
