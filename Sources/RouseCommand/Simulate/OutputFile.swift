// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A file that a command is told to write, with the exit code that fits each way to fail.
struct OutputFile: Sendable {
    private let handle: FileHandle
    private let name: String

    /// Creates a file, or empties it.
    init(_ path: String, _ field: String) throws(CommandFailure) {
        name = "\(field) (\(path))"
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            let reason = String(cString: strerror(errno))
            let isForbidden = errno == EACCES || errno == EPERM || errno == EROFS
            throw CommandFailure(
                isForbidden ? .notAllowed : .noInput,
                "\(name) cannot be written: \(reason). Check the path.")
        }
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    /// Appends bytes.
    func append(_ bytes: [UInt8]) throws(CommandFailure) {
        do {
            try handle.write(contentsOf: Data(bytes))
        } catch {
            throw CommandFailure(
                .unavailable, "\(name) cannot be written to its end. Is there room on the disk?")
        }
    }

    /// Closes the file, which shows whether all was written.
    func close() throws(CommandFailure) {
        do {
            try handle.close()
        } catch {
            throw CommandFailure(
                .unavailable, "\(name) cannot be written to its end. Is there room on the disk?")
        }
    }

    /// Writes a whole file.
    static func write(
        _ text: String, to path: String, _ field: String
    ) throws(CommandFailure) {
        let file = try OutputFile(path, field)
        try file.append(Array(text.utf8))
        try file.close()
    }
}
