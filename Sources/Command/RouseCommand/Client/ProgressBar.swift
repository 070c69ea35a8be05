// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A bar on standard error that says how far a batch is, where that is a terminal. Used by one
/// task.
final class ProgressBar {
    /// How wide the bar itself is, in characters.
    static let width = 40

    private let total: Int
    private let start = ContinuousClock.now
    private let isShown = isatty(STDERR_FILENO) == 1
    private var isOnScreen = false

    init(total: Int) { self.total = total }

    /// Shows that so many are done.
    func show(_ done: Int) {
        guard isShown else { return }
        isOnScreen = true
        let seconds = start.duration(to: .now) / .seconds(1)
        write("\r\u{1b}[K" + Self.text(done: done, of: total, seconds: seconds))
    }

    /// Takes the bar away.
    func clear() {
        guard isOnScreen else { return }
        isOnScreen = false
        write("\r\u{1b}[K")
    }

    /// Takes away a bar that some task may have shown. Any thread may do it.
    static func wipe() {
        guard isatty(STDERR_FILENO) == 1 else { return }
        try? FileHandle.standardError.write(contentsOf: Data("\r\u{1b}[K".utf8))
    }

    /// The bar in characters, with the rate and the time that is left.
    static func text(done: Int, of total: Int, seconds: Double) -> String {
        let filled = total > 0 ? width * done / total : width
        let bar =
            String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled)
        let rate = seconds > 0 ? Double(done) / seconds : 0
        let left = rate > 0 ? Int((Double(total - done) / rate).rounded(.up)) : 0
        return "[\(bar)] \(done) of \(total), \(Int(rate))/s, \(left) s left"
    }

    private func write(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }
}
