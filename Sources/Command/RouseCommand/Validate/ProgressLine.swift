// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A line on standard error that says how far a long run is, where that is a terminal. Used by one
/// task.
final class ProgressLine {
    /// How long a run lasts before it says so, and how often it does.
    private static let interval = Duration.milliseconds(500)

    private let isShown = isatty(STDERR_FILENO) == 1
    private var last = ContinuousClock.now
    private var isOnScreen = false

    /// Shows how far the run is, if it is time.
    func show(files: Int, of count: Int, lineBytes: Int) {
        guard isShown, last.duration(to: .now) >= Self.interval else { return }
        last = .now
        isOnScreen = true
        let lines = lineBytes > 0 ? ", \(lineBytes / 1_048_576) MiB of lines" : ""
        write("\r\u{1b}[K\(files) of \(count) files checked\(lines)")
    }

    /// Takes the line away.
    func clear() {
        guard isOnScreen else { return }
        isOnScreen = false
        write("\r\u{1b}[K")
    }

    private func write(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }
}
