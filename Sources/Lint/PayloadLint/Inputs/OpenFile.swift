// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A file that is open for reading. It is closed at the end of the value's lifetime.
struct OpenFile: ~Copyable {
    private let descriptor: Int32
    /// The path as given.
    let path: String

    /// Opens a file, or standard input for `-`. Throws if it cannot be read.
    init(path: String) throws(LintProblem) {
        self.path = path
        descriptor = path == "-" ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.problem(path, errno) }
    }

    deinit { close(descriptor) }

    /// Reads up to `count` bytes; empty at the end of the file. Blocks until there are some.
    func read(upTo count: Int) throws(LintProblem) -> [UInt8] {
        var failure: Int32 = 0
        // SAFETY: read writes at most `count` bytes to the buffer, which has that capacity, and
        // returns their number; only these are declared initialized.
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initializedCount in
            var received: Int
            repeat {
                #if canImport(Glibc)
                received = Glibc.read(descriptor, buffer.baseAddress, count)
                #elseif canImport(Musl)
                received = Musl.read(descriptor, buffer.baseAddress, count)
                #else
                received = Darwin.read(descriptor, buffer.baseAddress, count)
                #endif
            } while received < 0 && errno == EINTR
            failure = received < 0 ? errno : 0
            initializedCount = max(0, received)
        }
        guard failure == 0 else { throw Self.problem(path, failure) }
        return bytes
    }

    /// Reads the rest of the file. If it has more than `limit` bytes, the result has more than
    /// `limit` bytes too, but not many more.
    func readAll(limit: Int) throws(LintProblem) -> [UInt8] {
        var size = 16_384
        var status = stat()
        if fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
            // One more byte, so that the end is detected without another buffer.
            size = max(1, min(Int(status.st_size) + 1, limit + 1))
        }
        var bytes = try read(upTo: size)
        while !bytes.isEmpty, bytes.count <= limit {
            let more = try read(upTo: max(16_384, size - bytes.count))
            if more.isEmpty { break }
            bytes += more
        }
        return bytes
    }

    private static func problem(_ path: String, _ code: Int32) -> LintProblem {
        let reason = String(cString: strerror(code))
        switch code {
        case EACCES, EPERM:
            return LintProblem(
                .notAllowed, "\(path) may not be read: \(reason). Check its permissions.",
                path: path)
        default:
            return LintProblem(
                .missing, "\(path) cannot be read: \(reason). Check the path.", path: path)
        }
    }
}
