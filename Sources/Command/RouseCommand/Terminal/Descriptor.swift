// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// An open file, which is closed with the last reference to it.
final class Descriptor: Sendable {
    private let number: Mutex<Int32?>

    /// Takes over an open descriptor.
    init(_ number: Int32) { self.number = Mutex(number) }

    deinit { _ = close() }

    /// Reads up to `limit` bytes, fewer where the file ends; `nil` when it cannot be read.
    func read(upTo limit: Int) -> [UInt8]? {
        number.withLock { number in
            guard let number else { return nil }
            var bytes: [UInt8] = []
            var part = [UInt8](repeating: 0, count: min(limit, 65_536))
            while bytes.count < limit {
                // SAFETY: `read` writes at most as many bytes as the buffer has, within the call.
                let count = part.withUnsafeMutableBytes {
                    Glibc.read(number, $0.baseAddress, min($0.count, limit - bytes.count))
                }
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else { return nil }
                if count == 0 { break }
                bytes += part[..<count]
            }
            return bytes
        }
    }

    /// Writes bytes at its end. Returns whether all were written.
    func write(_ bytes: [UInt8]) -> Bool {
        number.withLock { $0.map { Self.write(bytes, to: $0) == 0 } ?? false }
    }

    /// Closes it. Returns whether all that was written was taken.
    func close() -> Bool {
        number.withLock { number in
            defer { number = nil }
            return number.map { Glibc.close($0) == 0 } ?? true
        }
    }

    /// Writes bytes to a descriptor. Returns 0, or the reason why not all were written.
    static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
        var rest = bytes[...]
        while !rest.isEmpty {
            // SAFETY: `write` reads at most as many bytes as the buffer has, which is valid and
            // unchanged until the closure returns.
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            let code = errno
            if count < 0, code == EINTR { continue }
            guard count > 0 else { return code }
            rest = rest.dropFirst(count)
        }
        return 0
    }
}

/// The process's standard error. A failed write is ignored, because there is no other place to
/// report it.
enum StandardError {
    static func write(_ text: String) {
        _ = Descriptor.write(Array(text.utf8), to: STDERR_FILENO)
    }
}
