// SPDX-License-Identifier: Apache-2.0

import Glibc

/// How large a terminal is, in characters.
struct TerminalSize: Hashable, Sendable {
    /// What every terminal has had, for one that does not say.
    static let usual = TerminalSize(columns: 80, rows: 24)

    let columns: Int
    let rows: Int

    /// That of the terminal on standard output, as it is now.
    static var current: TerminalSize { of(STDOUT_FILENO) }

    /// That of the terminal on a descriptor, as it is now.
    static func of(_ descriptor: Int32) -> TerminalSize {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0
        else { return usual }
        return TerminalSize(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }
}
