// SPDX-License-Identifier: Apache-2.0

import APNsClient
import Glibc
import OpenSSLCrypto

/// Standard output, for a secret that is shown once: that it was written is certain before anything
/// relies on it.
enum SecretOutput {
    /// Writes a line. Throws ``ExitStatus/output`` unless all of it was taken, by a pipe or
    /// terminal or by the disk behind a file.
    static func write(_ line: String) throws(CommandFailure) {
        try check()
        var bytes = Array((line + "\n").utf8)
        defer { bytes.cleanse() }
        let code = Descriptor.write(bytes, to: STDOUT_FILENO)
        guard code == 0 else { throw unwritable(code) }
        // A pipe or a terminal has nothing to flush.
        guard fsync(STDOUT_FILENO) == 0 || errno == EINVAL || errno == EROFS else {
            throw unwritable(errno)
        }
    }

    /// Throws unless standard output is open for writing. A descriptor that the system's own
    /// machinery opened in the place of a closed one is none.
    private static func check() throws(CommandFailure) {
        var status = stat()
        guard fstat(STDOUT_FILENO, &status) == 0 else { throw unwritable(errno) }
        let kinds: Set = [S_IFREG, S_IFCHR, S_IFIFO, S_IFSOCK]
        let access = fcntl(STDOUT_FILENO, F_GETFL) & O_ACCMODE
        guard kinds.contains(status.st_mode & S_IFMT), access == O_WRONLY || access == O_RDWR else {
            throw unwritable(EBADF)
        }
    }

    private static func unwritable(_ code: Int32) -> CommandFailure {
        CommandFailure(
            .output,
            "Standard output cannot be written: \(String(cString: strerror(code))). Nothing was "
                + "recorded, and what was shown, if anything, is no key.")
    }
}
