// SPDX-License-Identifier: Apache-2.0

internal import CCryptoShims

/// A private key on the curve P-256, which signs with ES256. It shows nothing of itself.
public struct P256PrivateKey: Sendable {
    let key: KeyPointer

    /// Reads PEM text: PKCS#8, or the older form `EC PRIVATE KEY` (SEC1).
    public init(pem: some Collection<UInt8>) throws(P256KeyError) {
        key = try KeyPointer.read(pem: pem, CCryptoKey_read_private)
    }

    /// Makes a new key. Traps if OpenSSL has no entropy.
    public init() {
        guard let pointer = CCryptoKey_generate() else {
            preconditionFailure("OpenSSL has no entropy or no P-256.")
        }
        key = KeyPointer(taking: pointer)
    }

    /// The public half.
    public var publicKey: P256PublicKey { P256PublicKey(key) }

    /// The key as PKCS#8 PEM. Secret.
    public var pem: String { key.pem(CCryptoKey_write_private) }

    /// The ES256 signature over a message.
    public func signature(for message: some Collection<UInt8>) -> ES256Signature {
        // SAFETY: the shim writes exactly 64 bytes, which is the buffer's capacity.
        let bytes = [UInt8](unsafeUninitializedCapacity: ES256Signature.byteCount) {
            buffer, count in
            let isSigned = read(message) { message, length in
                guard let signature = buffer.baseAddress else { return false }
                return CCryptoKey_sign_es256(key.pointer, message, length, signature)
            }
            precondition(isSigned, "OpenSSL could not sign with a key that it had accepted.")
            count = ES256Signature.byteCount
        }
        guard let signature = ES256Signature(bytes: bytes) else {
            preconditionFailure("An ES256 signature has 64 bytes.")
        }
        return signature
    }
}

extension P256PrivateKey: CustomStringConvertible, CustomReflectable {
    /// Nothing of the key.
    public var description: String { "P-256 private key (secret)" }
    /// No children.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
