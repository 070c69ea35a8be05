// SPDX-License-Identifier: Apache-2.0

internal import CCryptoShims

/// A secret that authenticates messages with HMAC-SHA-256 (RFC 2104). It has no readable
/// description, and is overwritten when the last reference is released.
///
/// `@unchecked Sendable`: the one stored property points at a block that this object alone has,
/// which is written in the initializer and in the deinitializer, and only read in between.
public final class HMACKey: @unchecked Sendable {
    private let block: UnsafeMutableBufferPointer<UInt8>

    /// A key of these bytes, of which it keeps a copy. A key of fewer than 32 bytes is weaker than
    /// the digest.
    public init(_ bytes: some Collection<UInt8>) {
        // SAFETY: freed by the deinitializer, once; the collection fills what it has room for.
        block = .allocate(capacity: bytes.count)
        _ = block.initialize(from: bytes)
    }

    deinit {
        if let start = block.baseAddress { CCrypto_cleanse(start, block.count) }
        block.deallocate()
    }

    /// The authentication code of a message, 32 bytes.
    public func authenticationCode(for message: some Collection<UInt8>) -> [UInt8] {
        SHA256.output { code in
            read(block) { key, keyLength in
                read(message) { CCrypto_hmac_sha256(key, keyLength, $0, $1, code) }
            }
        }
    }
}

extension HMACKey: Equatable, CustomStringConvertible, CustomReflectable {
    /// Compares in a time that depends on the lengths alone.
    public static func == (left: HMACKey, right: HMACKey) -> Bool {
        guard left.block.count == right.block.count else { return false }
        return read(left.block) { left, count in
            read(right.block) { right, _ in CCrypto_is_equal(left, right, count) }
        }
    }

    /// Nothing of the key.
    public var description: String { "HMAC key (secret)" }
    /// No children.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
