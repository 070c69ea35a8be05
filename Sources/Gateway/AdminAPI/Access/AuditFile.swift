// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
public import WakeModel

/// One entry of the audit log: a change that a caller made.
public struct AuditEntry: Sendable {
    /// Names and values, in the order of output.
    let members: [(name: String, value: String)]

    /// Creates an entry: `actor` made the change to `subject`, from the address `origin`. No value
    /// may contain a secret or a device token. `details` with the value `nil` are omitted.
    public init(
        at instant: WallInstant, _ change: String, by actor: String, from origin: String,
        to subject: String, _ details: KeyValuePairs<String, String?> = [:]
    ) {
        members =
            [
                ("at", instant.description), ("change", change), ("by", actor),
                ("from", origin), ("subject", subject),
            ] + details.compactMap { name, value in value.map { (name, $0) } }
    }

    /// The entry as one line of JSON. Control characters are escaped.
    var line: [UInt8] {
        JSONValue.object(members.map { ($0.name, .string($0.value)) }).bytes
            + [UInt8(ascii: "\n")]
    }
}

/// An append-only file with one JSON object per line.
///
/// The file is opened for each line: changes are rare, a log rotation needs no signal, and `rouse
/// keys` can append while a gateway runs.
public struct AuditFile: Sendable {
    private let path: String

    /// The reason why a line could not be written, as a sentence.
    public struct Failure: Error, CustomStringConvertible {
        /// The sentence.
        public let description: String
    }

    /// Refers to the file at this path. The first write creates it with the permissions 0600.
    public init(path: String) { self.path = path }

    /// Creates the file if it does not exist. Throws ``Failure`` if it cannot be opened for
    /// appending.
    public func check() throws(Failure) { close(try open()) }

    /// Appends an entry as one line. Throws ``Failure``; the line may then have been written in
    /// part.
    public func append(_ entry: AuditEntry) throws(Failure) {
        let descriptor = try open()
        defer { close(descriptor) }
        let line = (Self.endsWithinLine(descriptor) ? [UInt8(ascii: "\n")] : []) + entry.line
        // One `write` call, so that lines of two processes are not interleaved.
        // SAFETY: `write` reads as many bytes as the array has; the array is valid until the call
        // returns.
        let count = line.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        guard count == line.count else { throw failure(count < 0 ? errno : ENOSPC) }
    }

    /// Whether the file ends with an incomplete line, because the disk was full during a write.
    private static func endsWithinLine(_ descriptor: Int32) -> Bool {
        var last = UInt8(ascii: "\n")
        // SAFETY: `read` writes at most one byte, to a live local variable. For an empty file
        // `lseek` fails, because the position would be negative.
        return lseek(descriptor, -1, SEEK_END) >= 0 && read(descriptor, &last, 1) == 1
            && last != UInt8(ascii: "\n")
    }

    private func open() throws(Failure) -> Int32 {
        // Symbolic links and pipes are refused, so that a user with write access to the folder
        // cannot redirect the log.
        let flags = O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
        let descriptor = Glibc.open(path, flags, 0o600)
        guard descriptor >= 0 else { throw failure(errno) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw Failure(description: "\(path) is not a regular file.")
        }
        if status.st_size == 0 { handToOwnerOfFolder(descriptor) }
        return descriptor
    }

    /// Gives a file that root created to the owner of its folder, so that a gateway that runs as
    /// that user can append to it.
    private func handToOwnerOfFolder(_ descriptor: Int32) {
        var folder = stat()
        let parent = URL(filePath: path).deletingLastPathComponent().path(percentEncoded: false)
        guard geteuid() == 0, stat(parent, &folder) == 0 else { return }
        _ = fchown(descriptor, folder.st_uid, folder.st_gid)
    }

    private func failure(_ code: Int32) -> Failure {
        let why =
            code == ELOOP ? "it is a symbolic link" : String(cString: strerror(code))
        return Failure(description: "\(path) cannot be written: \(why).")
    }
}
