// SPDX-License-Identifier: Apache-2.0

internal import CCryptoShims

/// SHA-256 (FIPS 180-4).
public enum SHA256 {
    /// The length of a digest, in bytes.
    public static let byteCount = 32

    /// The digest of a message.
    public static func digest(of message: some Collection<UInt8>) -> [UInt8] {
        output { digest in
            read(message) { CCrypto_sha256($0, $1, digest) }
        }
    }

    /// The 32 bytes that a shim writes.
    static func output(_ write: (UnsafeMutablePointer<UInt8>) -> Bool) -> [UInt8] {
        // SAFETY: the shims write exactly 32 bytes, which is the buffer's capacity.
        [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, count in
            let isWritten = buffer.baseAddress.map(write) ?? false
            precondition(isWritten, "OpenSSL has no memory for SHA-256.")
            count = byteCount
        }
    }
}

/// Hands bytes to a shim that reads `count` of them from `start` and keeps none.
func read<Result>(
    _ bytes: some Collection<UInt8>, _ body: (_ start: UnsafePointer<UInt8>, _ count: Int) -> Result
) -> Result {
    // SAFETY: the pointer is read only within the closure, and an empty collection, which has no
    // address of its own, is replaced by a byte that is not read.
    let result = bytes.withContiguousStorageIfAvailable { buffer in
        guard let start = buffer.baseAddress else {
            var unread: UInt8 = 0
            return body(&unread, 0)
        }
        return body(start, buffer.count)
    }
    if let result { return result }
    var copy = Array(bytes)
    defer { copy.cleanse() }
    return read(copy, body)
}
