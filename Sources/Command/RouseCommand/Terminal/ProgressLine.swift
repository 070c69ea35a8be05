// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// A line on standard error with the progress of a long run, if that is a terminal.
final class ProgressLine: Sendable {
    private struct State {
        var last = ContinuousClock.now
        var isOnScreen = false
    }

    /// The time until the first update, and between updates.
    private static let interval = Duration.milliseconds(500)

    private let isShown = isatty(STDERR_FILENO) == 1
    private let state = Mutex(State())

    /// Shows the progress, if an update is due.
    func show(_ text: () -> String) {
        guard isShown else { return }
        let isDue = state.withLock { state in
            guard state.last.duration(to: .now) >= Self.interval else { return false }
            state.last = .now
            state.isOnScreen = true
            return true
        }
        if isDue { StandardError.write("\r\u{1b}[K" + text()) }
    }

    /// Removes the line.
    func clear() {
        let isOnScreen = state.withLock { state in
            defer { state.isOnScreen = false }
            return state.isOnScreen
        }
        if isOnScreen { StandardError.write("\r\u{1b}[K") }
    }
}
