// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Input files of a command, with the exit code that fits each way to fail.
enum InputFile {
    /// The largest file of certificates that is read, in bytes. Those of distributions have a
    /// quarter of a megabyte.
    private static let certificatesByteCount = 16_777_216
    /// The beginnings of one that OpenSSL accepts (PEM_read_bio_X509(3)).
    private static let certificateStarts = ["", "X509 ", "TRUSTED "].map {
        "-----BEGIN \($0)CERTIFICATE-----"
    }

    /// Fails for a path that cannot be read: 66 when nothing is there, 77 without permission. An
    /// argument that looks like the text itself, a payload or a key, is not repeated.
    static func check(_ path: String, _ field: String) throws(CommandFailure) {
        guard access(path, R_OK) != 0 else { return }
        guard !path.contains(where: { $0 == "{" || $0.isNewline }) else {
            throw CommandFailure(
                .noInput,
                "\(field) is a text where the name of a file belongs. Write the text to a file and "
                    + "give its name.")
        }
        let reason = String(cString: strerror(errno))
        switch errno {
        case EACCES, EPERM:
            throw CommandFailure(
                .notAllowed, "\(field) (\(path)) may not be read: \(reason). Check its permissions."
            )
        default:
            throw CommandFailure(
                .noInput, "\(field) (\(path)) cannot be read: \(reason). Check the path.")
        }
    }

    /// The text of a file of certificates in PEM. Fails with `status` for one without any.
    @discardableResult
    static func checkCertificates(
        _ path: String, _ field: String, _ status: ExitStatus = .configuration
    ) throws(CommandFailure) -> String {
        let bytes = try read(path, field, limit: certificatesByteCount)
        let text = String(decoding: bytes, as: UTF8.self)
        guard certificateStarts.contains(where: text.contains) else {
            throw CommandFailure(
                status, "\(field) (\(path)) holds no certificate. Name a file with PEM.")
        }
        return text
    }

    /// The bytes of a file, or of standard input for `-`, up to `limit` bytes and one more, by
    /// which a caller detects that there are too many.
    static func read(
        _ path: String, _ field: String, limit: Int
    ) throws(CommandFailure) -> [UInt8] {
        if path != "-" { try check(path, field) }
        let descriptor = path == "-" ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw CommandFailure(
                .noInput, "\(field) (\(path)) cannot be read: \(String(cString: strerror(errno))).")
        }
        guard let bytes = Descriptor(descriptor).read(upTo: limit + 1) else {
            throw CommandFailure(
                .noInput, "\(field) (\(path)) cannot be read to its end. Is it a file?")
        }
        return bytes
    }
}
