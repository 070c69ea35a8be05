// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A part of a terminal that is written over, again and again, until the program is interrupted.
struct LiveScreen {
    /// How often it is written.
    static let interval = Duration.seconds(1)

    private let console: Console

    init(_ console: Console) { self.console = console }

    /// Shows what `lines` gives; a failure ends it, for one that passes is shown and tried again
    /// only where the gateway had been reached before.
    func run(_ lines: () throws(CommandFailure) -> [String]) async throws(CommandFailure) {
        var shown = 0
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
            // Up to where the last page began, then each line over the old one, then what is left.
            let up = shown > 0 ? "\u{1b}[\(shown)A" : ""
            console.writeRaw(up + page.map { "\u{1b}[K\($0)\n" }.joined() + "\u{1b}[J")
            shown = page.count
            do {
                try await Task.sleep(for: Self.interval)
            } catch {
                return
            }
        }
    }
}
