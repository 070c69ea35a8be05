// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A file that takes the place of another in one step: readers of the path see either the old text
/// or the whole new one.
///
/// The new file is beside the old one until ``commit()``, has its permissions and, where the system
/// allows it, its owner. A symbolic link stays one: the file that it leads to is replaced. Without
/// a commit the new file is removed with the object. Used by one task.
final class ReplacementFile {
    private let target: String
    private let temporary: String
    private let descriptor: Int32

    /// Begins to replace a file, which must be there and be writable.
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
        // The owner first: changing it may clear bits of the mode. It needs a right that most
        // users lack, and then the file is theirs.
        _ = fchown(descriptor, status.st_uid, status.st_gid)
        guard fchmod(descriptor, status.st_mode & 0o7777) == 0 else {
            throw Self.problem(path, errno)
        }
    }

    deinit {
        close(descriptor)
        // Gone after a commit; then there is nothing to remove.
        unlink(temporary)
    }

    /// Appends to the new text.
    func write(_ bytes: [UInt8]) throws(LintProblem) {
        var written = 0
        while written < bytes.count {
            // SAFETY: the span that write reads lies inside the array, which is not changed
            // meanwhile.
            let count = bytes.withUnsafeBytes { buffer in
                writeSome(buffer[written...])
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Self.problem(target, errno) }
            written += count
        }
    }

    /// Puts the new file into the place of the old one, durably.
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
