// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// The process's standard output, with the first failed write.
///
/// A reader that closes its end of the pipe (`EPIPE`) is not a failure. Any other error, such as a
/// full disk, ends the command with ``ExitStatus/output``, because output is missing.
enum StandardOutput {
    private static let firstError = Mutex<Int32?>(nil)

    /// Writes bytes to standard output. After a failed write, nothing more is written.
    static func write(_ bytes: [UInt8]) {
        guard firstError.withLock({ $0 == nil }) else { return }
        let code = Descriptor.write(bytes, to: STDOUT_FILENO)
        if code != 0 { firstError.withLock { $0 = code } }
    }

    /// The reason why output is missing; `nil` when all was written, or the reader closed the
    /// output.
    static var failure: CommandFailure? {
        guard let code = firstError.withLock({ $0 }), code != EPIPE else { return nil }
        return CommandFailure(
            .output,
            "Standard output cannot be written: \(String(cString: strerror(code))). "
                + "What this command printed is not complete.")
    }

    /// Throws ``failure``, if there is one: before something is done that only makes sense when its
    /// text was written.
    static func check() throws(CommandFailure) {
        if let failure { throw failure }
    }
}
