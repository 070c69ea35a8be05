// SPDX-License-Identifier: Apache-2.0

package import Logging
import Synchronization

/// Remembers what is logged, with all metadata but the reason.
package final class RecordedLines: Sendable {
    private let lines = Mutex<[String]>([])

    package init() {}

    package var all: [String] { lines.withLock { $0 } }
    package var logger: Logger { Logger(label: "test") { _ in Handler(lines: self) } }

    private struct Handler: LogHandler {
        let lines: RecordedLines
        var metadata: Logger.Metadata = [:]
        var logLevel: Logger.Level = .info

        func log(event: LogEvent) {
            let words = (event.metadata ?? [:]).filter { $0.key != "why" }
                .map { "\($0.key)=\($0.value)" }.sorted()
            lines.lines.withLock { lines in
                lines.append(([event.message.description] + words).joined(separator: " "))
            }
        }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }
    }
}
