// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Replaces a file atomically: readers of the path get either the old or the complete new text.
///
/// The new file is in the same folder until ``commit()``, with the same permissions and, if
/// allowed, the same owner. A symbolic link is kept; its target is replaced. Without a commit the
/// new file is removed at the end of the object's lifetime. Must be used by one task.
final class ReplacementFile {
    private let target: String
    private let temporary: String
    private let descriptor: Int32

    /// Creates the new file. Throws if the old one does not exist or is not writable.
    init(replacing path: String) throws(LintProblem) {
        guard let target = realPath(path) else { throw Self.problem(path, errno) }
        guard access(target, W_OK) == 0 else { throw Self.problem(path, errno) }
        var status = stat()
        guard stat(target, &status) == 0 else { throw Self.problem(path, errno) }
        let slash = target.lastIndex(of: "/") ?? target.startIndex
        let folder = target[...slash]
        let name = target[target.index(after: slash)...]
        var template = Array("\(folder).\(name).XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw Self.problem(path, errno) }
        self.target = target
        self.descriptor = descriptor
        temporary = String(
            decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        // The owner first, because changing it may clear mode bits. Most users lack the permission;
        // the file then belongs to them.
        _ = fchown(descriptor, status.st_uid, status.st_gid)
        guard fchmod(descriptor, status.st_mode & 0o7777) == 0 else {
            throw Self.problem(path, errno)
        }
    }

    deinit {
        close(descriptor)
        // After a commit the file does not exist, and this has no effect.
        unlink(temporary)
    }

    /// Appends bytes to the new file.
    func write(_ bytes: [UInt8]) throws(LintProblem) {
        var written = 0
        while written < bytes.count {
            // SAFETY: the range that write reads is inside the array, which does not change during
            // the call.
            let count = bytes.withUnsafeBytes { buffer in
                writeSome(buffer[written...])
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Self.problem(target, errno) }
            written += count
        }
    }

    /// Replaces the old file durably.
    func commit() throws(LintProblem) {
        guard fsync(descriptor) == 0, rename(temporary, target) == 0 else {
            throw Self.problem(target, errno)
        }
    }

    private func writeSome(_ bytes: Slice<UnsafeRawBufferPointer>) -> Int {
        let bytes = UnsafeRawBufferPointer(rebasing: bytes)
        #if canImport(Glibc)
        return Glibc.write(descriptor, bytes.baseAddress, bytes.count)
        #elseif canImport(Musl)
        return Musl.write(descriptor, bytes.baseAddress, bytes.count)
        #else
        return Darwin.write(descriptor, bytes.baseAddress, bytes.count)
        #endif
    }

    private static func problem(_ path: String, _ code: Int32) -> LintProblem {
        let kind: LintProblem.Kind =
            code == EACCES || code == EPERM || code == EROFS ? .notAllowed : .unwritable
        return LintProblem(
            kind, "\(path) cannot be replaced: \(String(cString: strerror(code))). It is unchanged."
        )
    }
}
