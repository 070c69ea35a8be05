// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// A line on standard error that says how far a long run is, where that is a terminal.
final class ProgressLine: Sendable {
    private struct State {
        var last = ContinuousClock.now
        var isOnScreen = false
    }

    /// How long a run lasts before it says so, and how often it does.
    private static let interval = Duration.milliseconds(500)

    private let isShown = isatty(STDERR_FILENO) == 1
    private let state = Mutex(State())

    /// Shows how far the run is, if it is time.
    func show(_ text: () -> String) {
        guard isShown else { return }
        let isDue = state.withLock { state in
            guard state.last.duration(to: .now) >= Self.interval else { return false }
            state.last = .now
            state.isOnScreen = true
            return true
        }
        if isDue { write("\r\u{1b}[K" + text()) }
    }

    /// Takes the line away.
    func clear() {
        let isOnScreen = state.withLock { state in
            defer { state.isOnScreen = false }
            return state.isOnScreen
        }
        if isOnScreen { write("\r\u{1b}[K") }
    }

    private func write(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }
}
