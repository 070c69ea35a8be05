// SPDX-License-Identifier: Apache-2.0

import Glibc

/// An output file of a command, with the exit code that fits each way to fail.
struct OutputFile: Sendable {
    /// Which file it is; `nil` for what is no regular file, such as a pipe or a terminal.
    let identity: FileIdentity?
    private let file: Descriptor
    private let name: String

    /// Creates a file, or empties it unless it is one of `others`: files that the command reads or
    /// writes besides.
    init(
        _ path: String, _ field: String, apartFrom others: Set<FileIdentity> = []
    ) throws(CommandFailure) {
        name = "\(field) (\(path))"
        let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            let reason = String(cString: strerror(errno))
            let isForbidden = errno == EACCES || errno == EPERM || errno == EROFS
            throw CommandFailure(
                isForbidden ? .notAllowed : .noInput,
                "\(name) cannot be written: \(reason). Check the path.")
        }
        file = Descriptor(descriptor)
        identity = FileIdentity(descriptor: descriptor)
        guard let identity else { return }
        guard !others.contains(identity) else {
            throw CommandFailure(
                .usage, "\(name) is a file that this run reads or writes already. Name another.")
        }
        guard ftruncate(descriptor, 0) == 0 else {
            let reason = String(cString: strerror(errno))
            throw CommandFailure(.notAllowed, "\(name) cannot be emptied: \(reason).")
        }
    }

    /// Appends bytes.
    func append(_ bytes: [UInt8]) throws(CommandFailure) {
        guard file.write(bytes) else { throw incomplete }
    }

    /// Closes the file, which shows whether all was written.
    func close() throws(CommandFailure) {
        guard file.close() else { throw incomplete }
    }

    private var incomplete: CommandFailure {
        CommandFailure(
            .output, "\(name) cannot be written to its end. Is there room on the disk?")
    }

    /// Appends a text and closes the file.
    func finish(with text: String) throws(CommandFailure) {
        try append(Array(text.utf8))
        try close()
    }
}

/// Which file it is, whatever paths lead there.
struct FileIdentity: Hashable, Sendable {
    private let device: UInt64
    private let number: UInt64

    /// The file behind a path; `nil` for none, and for what is no regular file.
    init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// The open file; `nil` for what is no regular file.
    init?(descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    private init?(_ status: stat) {
        guard status.st_mode & S_IFMT == S_IFREG else { return nil }
        device = UInt64(truncatingIfNeeded: status.st_dev)
        number = UInt64(truncatingIfNeeded: status.st_ino)
    }
}
