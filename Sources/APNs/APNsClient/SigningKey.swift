// SPDX-License-Identifier: Apache-2.0

internal import CCryptoShims
public import WakeModel

/// The private key of a `.p8` file: PKCS#8, elliptic curve P-256 (facts §4.2). The older form
/// `EC PRIVATE KEY` (SEC1) is taken too, since it can hold the same key.
///
/// `@unchecked Sendable`: the one stored property points at an OpenSSL EVP_PKEY that is never
/// changed after reading. OpenSSL 3 counts its references atomically and lets any number of
/// threads use it at once, each with a context of its own, which is how the shims use it. It is
/// freed by the deinitializer, when nobody can hold it any more.
public final class SigningKey: @unchecked Sendable {
    private let pointer: OpaquePointer

    private init(taking pointer: OpaquePointer) { self.pointer = pointer }

    deinit { CCryptoKey_destroy(pointer) }

    /// Reads PEM text.
    ///
    /// Throws ``WakeModel/InvalidField``, with a problem of its own for each of: not PEM, PEM that
    /// cannot be decoded or whose key contradicts itself, an encrypted key, a certificate, a public
    /// key, another algorithm, another curve. The error never quotes the text.
    public convenience init(pem: some Collection<UInt8>) throws(InvalidField) {
        var fault = CCryptoFaultNone
        var bytes = Array(pem)
        defer { bytes.cleanse() }
        // SAFETY: the shim reads `bytes.count` bytes and keeps none.
        let read = bytes.withUnsafeBufferPointer { bytes -> OpaquePointer? in
            guard let start = bytes.baseAddress else { return nil }
            return CCryptoKey_read_private(start, bytes.count, &fault)
        }
        guard let read else { throw Self.complaint(bytes.isEmpty ? CCryptoFaultNotPEM : fault) }
        self.init(taking: read)
    }

    /// Reads a file. Throws ``WakeModel/InvalidField`` as ``init(pem:)`` does, and for a file that
    /// cannot be read or is over 64 KiB.
    public convenience init(path: String) throws(InvalidField) {
        var bytes = try KeyFile.read(path, field: "key file")
        defer { bytes.cleanse() }
        try self.init(pem: bytes)
    }

    /// Makes a new key, for tests and for trying things out against a simulator.
    public static func generate() -> SigningKey {
        guard let pointer = CCryptoKey_generate() else {
            preconditionFailure("OpenSSL has no entropy or no P-256.")
        }
        return SigningKey(taking: pointer)
    }

    /// The key as PKCS#8 PEM. Secret.
    public var privateKeyPEM: String { pem(CCryptoKey_write_private) }

    /// The public half as PEM, which is what a verifier needs.
    public var publicKeyPEM: String { pem(CCryptoKey_write_public) }

    private func pem(
        _ write: (OpaquePointer, UnsafeMutablePointer<UInt8>, Int) -> Int
    ) -> String {
        // SAFETY: the shim writes at most `buffer.count` bytes and returns how many; a P-256 key
        // takes about 250.
        String(unsafeUninitializedCapacity: 1024) { buffer in
            guard let start = buffer.baseAddress else { return 0 }
            return write(pointer, start, buffer.count)
        }
    }

    /// The ES256 signature over a message: r and s, 64 bytes (RFC 7518 §3.4).
    public func signature(for message: some Collection<UInt8>) -> [UInt8] {
        let message = Array(message)
        // SAFETY: the shim reads `message.count` bytes and writes exactly 64.
        return [UInt8](unsafeUninitializedCapacity: 64) { buffer, count in
            let isSigned = message.withUnsafeBufferPointer { message in
                guard let signature = buffer.baseAddress, let start = message.baseAddress else {
                    return false
                }
                return CCryptoKey_sign_es256(pointer, start, message.count, signature)
            }
            precondition(isSigned, "OpenSSL could not sign with a key that it had accepted.")
            count = 64
        }
    }

    /// Whether a signature (64 bytes) is this key's over the message.
    public func isValid(signature: [UInt8], for message: some Collection<UInt8>) -> Bool {
        guard signature.count == 64 else { return false }
        let message = Array(message)
        // SAFETY: both buffers are read only, with their own lengths; 64 was checked above.
        return message.withUnsafeBufferPointer { message in
            signature.withUnsafeBufferPointer { signature in
                guard let start = message.baseAddress, let signature = signature.baseAddress else {
                    return false
                }
                return CCryptoKey_verify_es256(pointer, start, message.count, signature)
            }
        }
    }

    private static func complaint(_ fault: CCryptoFault) -> InvalidField {
        let copyAgain = "Use the .p8 file as it was downloaded from Apple's developer account."
        let (problem, remedy) =
            switch fault {
            case CCryptoFaultNotPEM: ("holds no PEM text", copyAgain)
            case CCryptoFaultEncrypted:
                (
                    "holds an encrypted key",
                    "Decrypt it first, for example with: openssl pkcs8 -in FILE -out key.p8"
                )
            case CCryptoFaultCertificate:
                (
                    "holds a certificate, not a private key",
                    "Give the .p8 key; a certificate goes into the certificate setting."
                )
            case CCryptoFaultPublicKey: ("holds a public key, not a private one", copyAgain)
            case CCryptoFaultNotEC:
                ("holds a key of another algorithm than elliptic curves (RSA, perhaps)", copyAgain)
            case CCryptoFaultWrongCurve: ("holds a key on another curve than P-256", copyAgain)
            default: ("holds PEM text that cannot be decoded; it was cut or changed", copyAgain)
            }
        return InvalidField(field: "key file", problem: problem, remedy: remedy)
    }
}

extension SigningKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Nothing of the key.
    public var description: String { "signing key (secret)" }
    /// Nothing of the key.
    public var debugDescription: String { description }
    /// No children.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
