// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import WakeModel

/// Reads small secret files without leaving copies behind in buffers of a library.
enum KeyFile {
    /// The largest file read: 64 KiB. A key has 250 bytes, a PKCS#12 archive a few thousand.
    static let maximumByteCount = 65_536

    /// The file's bytes. Throws ``WakeModel/InvalidField`` with the system's reason.
    static func read(_ path: String, field: String) throws(InvalidField) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw unreadable(path, field, errno) }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: maximumByteCount + 1)
        var count = 0
        while count < bytes.count {
            let (start, room) = (count, bytes.count - count)
            // SAFETY: at most `room` bytes are written, from `start` on, inside the array.
            let got = bytes.withUnsafeMutableBytes { buffer in
                Glibc.read(descriptor, buffer.baseAddress?.advanced(by: start), room)
            }
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { throw unreadable(path, field, errno) }
            if got == 0 { break }
            count += got
        }
        guard count <= maximumByteCount else {
            throw InvalidField(
                field: field, problem: "(\(path)) is larger than \(maximumByteCount) bytes",
                remedy: "Name the key or certificate itself.")
        }
        bytes.removeLast(bytes.count - count)
        return bytes
    }

    private static func unreadable(_ path: String, _ field: String, _ code: Int32) -> InvalidField {
        InvalidField(
            field: field, problem: "(\(path)) cannot be read: \(String(cString: strerror(code)))",
            remedy: "Check the path and its permissions.")
    }
}
