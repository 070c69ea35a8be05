// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// A bar on standard error that says how far long work is, how fast it goes and when it ends, where
/// that is a terminal. May be used from any thread.
final class ProgressBar: Sendable {
    /// How wide the bar itself is at most, and how wide at least if there is one, in characters.
    static let widths = 8...40
    /// How often it is drawn at most.
    private static let interval = Duration.milliseconds(100)
    /// How long work lasts before there is a bar for it, where it could end sooner.
    static let patience = Duration.milliseconds(500)

    private let total: Int
    private let noun: String
    private let start = ContinuousClock.now
    private let isShown = isatty(STDERR_FILENO) == 1
    private let state: Mutex<State>

    private struct State {
        var next: ContinuousClock.Instant
        var isOnScreen = false
    }

    /// A bar for so many pieces of work, called by a `noun` if the number does not say enough. It
    /// comes up after `patience`.
    init(total: Int, noun: String = "", patience: Duration = .zero) {
        self.total = total
        self.noun = noun
        state = Mutex(State(next: start.advanced(by: patience)))
    }

    /// Shows that so many are done, of as many as it was made for, or of `total`.
    func show(_ done: Int, of total: Int? = nil) {
        let now = ContinuousClock.now
        let isDue = state.withLock { state in
            guard isShown, now >= state.next else { return false }
            state.next = now.advanced(by: Self.interval)
            state.isOnScreen = true
            return true
        }
        guard isDue else { return }
        let text = Self.text(
            done: done, of: total ?? self.total, seconds: start.duration(to: now) / .seconds(1),
            noun: noun, columns: TerminalSize.of(STDERR_FILENO).columns)
        StandardError.write("\r\u{1b}[K" + text)
    }

    /// Takes the bar away.
    func clear() {
        let wasOnScreen = state.withLock { state in
            guard state.isOnScreen else { return false }
            state = State(next: .now)
            return true
        }
        if wasOnScreen { StandardError.write("\r\u{1b}[K") }
    }

    /// Takes away a bar that some task may have shown. Any thread may do it.
    static func wipe() {
        guard isatty(STDERR_FILENO) == 1 else { return }
        StandardError.write("\r\u{1b}[K")
    }

    /// The bar in characters, with the rate and the time that is left, in a line of so many
    /// columns: a line that wraps is not overwritten by the next one.
    static func text(
        done: Int, of total: Int, seconds: Double, noun: String = "", columns: Int
    ) -> String {
        let rate = seconds > 0 ? Double(done) / seconds : 0
        let left = rate > 0 ? (Double(max(0, total - done)) / rate).rounded(.up) : 0
        let things = noun.isEmpty ? "" : " " + noun
        let end = rate > 0 ? ", \(time(Int(min(left, 1e9)))) left" : ""
        // What takes longer than a second has a rate all the same.
        let tenths = Int((rate * 10).rounded())
        let pace = rate >= 10 || rate == 0 ? "\(Int(rate))" : "\(tenths / 10).\(tenths % 10)"
        let words = "\(done) of \(total)\(things), \(pace)/s\(end)"
        // Beside it are brackets and a space, and the last column stays free.
        let width = min(widths.upperBound, columns - words.count - 4)
        guard width >= widths.lowerBound else { return String(words.prefix(max(0, columns - 1))) }
        let filled = total > 0 ? width * min(done, total) / total : width
        let bar =
            String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled)
        return "[\(bar)] \(words)"
    }

    /// A number of seconds as people say it.
    private static func time(_ seconds: Int) -> String {
        switch seconds {
        case ..<60: "\(seconds) s"
        case ..<3_600: "\(seconds / 60) min \(seconds % 60) s"
        default: "\(seconds / 3_600) h \(seconds % 3_600 / 60) min"
        }
    }
}
