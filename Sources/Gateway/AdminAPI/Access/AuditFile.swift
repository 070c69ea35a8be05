// SPDX-License-Identifier: Apache-2.0

import Foundation
public import WakeModel

/// A change made by a caller, as recorded in an audit log.
public struct AuditEntry: Sendable {
    /// Names and values, in the order in which they are written.
    let members: [(name: String, value: String)]

    /// An entry about what `actor` did to `subject`, from where. None of it holds a secret or a
    /// device token; `details` with `nil` are left out.
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

    /// The entry as one line of JSON. What would end a line or move a cursor is escaped.
    var line: [UInt8] {
        JSONValue.object(members.map { ($0.name, .string($0.value)) }).bytes
            + [UInt8(ascii: "\n")]
    }
}

/// The file of an audit log: a line of JSON for each entry, only ever appended to.
///
/// It is opened for each line, because changes are rare: so a rotated file needs no signal, and
/// `rouse keys` may append while a gateway runs.
public struct AuditFile: Sendable {
    private let path: String

    /// Why a line could not be written, as a sentence.
    public struct Failure: Error, CustomStringConvertible {
        /// The sentence.
        public let description: String
    }

    /// The file at this path. It is made with the first line, for its owner only.
    public init(path: String) { self.path = path }

    /// Makes the file if it does not exist, and throws if it cannot be appended to.
    public func check() throws(Failure) { close(try open()) }

    /// Appends an entry as a line.
    public func append(_ entry: AuditEntry) throws(Failure) {
        let descriptor = try open()
        defer { close(descriptor) }
        let line = (Self.endsWithinLine(descriptor) ? [UInt8(ascii: "\n")] : []) + entry.line
        // One call, so that the lines of two programs do not mix.
        // SAFETY: `write` reads as many bytes as the array has, which lives until it returns.
        let count = line.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        guard count == line.count else { throw failure(count < 0 ? errno : ENOSPC) }
    }

    /// Whether the last entry was written in part, to a disk that had no room for the rest.
    private static func endsWithinLine(_ descriptor: Int32) -> Bool {
        var last = UInt8(ascii: "\n")
        // SAFETY: `read` writes one byte at most, into a live local. An empty file has no byte
        // before its end, to which `lseek` could go.
        return lseek(descriptor, -1, SEEK_END) >= 0 && read(descriptor, &last, 1) == 1
            && last != UInt8(ascii: "\n")
    }

    private func open() throws(Failure) -> Int32 {
        // Neither a link nor a pipe: a user who may write the folder must not choose where it goes.
        let flags = O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
        let descriptor = Foundation.open(path, flags, 0o600)
        guard descriptor >= 0 else { throw failure(errno) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw Failure(description: "\(path) is not a regular file.")
        }
        if status.st_size == 0 { handToOwnerOfFolder(descriptor) }
        return descriptor
    }

    /// A file that root makes belongs to the owner of its folder, so that a gateway that runs as
    /// another user can append to it.
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
