// SPDX-License-Identifier: Apache-2.0

/// A part of a terminal that is written over, again and again, until the program is interrupted.
struct LiveScreen {
    /// How often it is written.
    static let interval = Duration.seconds(1)

    private let console: Console

    init(_ console: Console) { self.console = console }

    /// Shows what `lines` gives; a failure ends it, for one that passes is shown and tried again
    /// only where the gateway had been reached before.
    func run(_ lines: () throws(CommandFailure) -> [String]) async throws(CommandFailure) {
        var shown: LiveFrame?
        var hasSucceeded = false
        while true {
            let page: [String]
            do throws(CommandFailure) {
                page = try lines()
                hasSucceeded = true
            } catch {
                guard hasSucceeded, error.status == .unavailable else { throw error }
                page = [console.coloured(error.message, .bad)]
            }
            // Asked each time: a window may have become another size meanwhile.
            let frame = LiveFrame(page, on: .current)
            console.writeRaw(frame.text(over: shown))
            shown = frame
            do {
                try await Task.sleep(for: Self.interval)
            } catch {
                return
            }
        }
    }
}
