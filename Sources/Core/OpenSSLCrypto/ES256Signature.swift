// SPDX-License-Identifier: Apache-2.0

internal import CCryptoShims

/// An ECDSA signature on P-256 over SHA-256, in the form of JSON Web Signatures (RFC 7518 §3.4).
public struct ES256Signature: Hashable, Sendable {
    /// The length of the bytes.
    public static let byteCount = 64

    /// r and s, 32 bytes each, big-endian.
    public let bytes: [UInt8]

    /// Takes r and s; `nil` unless there are 64 bytes.
    public init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    /// Reads DER (RFC 3279 §2.2.3), as OpenSSL writes signatures; `nil` for what is not DER to its
    /// last byte, or holds larger numbers than P-256 has.
    public init?(der: [UInt8]) {
        var isRead = false
        // SAFETY: the shim writes within the 64 bytes of the buffer, all of them if it succeeds.
        bytes = [UInt8](unsafeUninitializedCapacity: Self.byteCount) { buffer, count in
            guard let start = buffer.baseAddress else { return }
            isRead = read(der) { CCrypto_raw_signature($0, $1, start) }
            count = isRead ? Self.byteCount : 0
        }
        if !isRead { return nil }
    }
}
