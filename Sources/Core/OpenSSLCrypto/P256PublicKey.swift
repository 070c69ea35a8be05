// SPDX-License-Identifier: Apache-2.0

internal import CCryptoShims

/// A public key on the curve P-256, which verifies ES256 signatures.
public struct P256PublicKey: Sendable {
    let key: KeyPointer

    /// Reads PEM text: a public key, or a private one, of which the public half is used.
    public init(pem: some Collection<UInt8>) throws(P256KeyError) {
        key = try KeyPointer.read(pem: pem, CCryptoKey_read_public)
    }

    init(_ key: KeyPointer) { self.key = key }

    /// The key as PEM (SubjectPublicKeyInfo).
    public var pem: String { key.pem(CCryptoKey_write_public) }

    /// Whether a signature is this key's over the message.
    public func isValid(_ signature: ES256Signature, for message: some Collection<UInt8>) -> Bool {
        read(message) { message, count in
            read(signature.bytes) { signature, _ in
                CCryptoKey_verify_es256(key.pointer, message, count, signature)
            }
        }
    }
}
