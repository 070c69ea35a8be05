// SPDX-License-Identifier: Apache-2.0

import Logging
import Synchronization

/// Remembers the texts of warnings.
final class WarningLog: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { lines.withLock { $0 } }
    var logger: Logger { Logger(label: "test") { _ in Handler(log: self) } }

    private struct Handler: LogHandler {
        let log: WarningLog
        var metadata: Logger.Metadata = [:]
        var logLevel: Logger.Level = .warning

        func log(event: LogEvent) {
            log.lines.withLock { $0.append(event.message.description) }
        }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }
    }
}
