// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLCrypto
public import WakeModel

/// The private key of a `.p8` file: PKCS#8, elliptic curve P-256 (facts §4.2). The older form `EC
/// PRIVATE KEY` (SEC1) is accepted too, since it can contain the same key.
public struct SigningKey: Sendable {
    private let key: P256PrivateKey

    private init(_ key: P256PrivateKey) { self.key = key }

    /// Reads PEM text.
    ///
    /// Throws ``WakeModel/InvalidField``, with a separate problem for each of: not PEM, PEM that
    /// cannot be decoded or whose key contradicts itself, an encrypted key, a certificate, a public
    /// key, another algorithm, another curve. The error never quotes the text.
    public init(pem: some Collection<UInt8>) throws(InvalidField) {
        do throws(P256KeyError) {
            key = try P256PrivateKey(pem: pem)
        } catch {
            throw Self.complaint(error)
        }
    }

    /// Reads a file. Throws ``WakeModel/InvalidField`` as ``init(pem:)`` does, and for a file that
    /// cannot be read or is over 64 KiB.
    public init(path: String) throws(InvalidField) {
        var bytes = try KeyFile.read(path, field: "key file")
        defer { bytes.cleanse() }
        try self.init(pem: bytes)
    }

    /// Creates a new key, for tests and for use with a simulator.
    public static func generate() -> SigningKey { SigningKey(P256PrivateKey()) }

    /// The key as PKCS#8 PEM. Secret.
    public var privateKeyPEM: String { key.pem }

    /// The public key as PEM, for verifiers.
    public var publicKeyPEM: String { key.publicKey.pem }

    /// The ES256 signature over a message: r and s, 64 bytes (RFC 7518 §3.4).
    public func signature(for message: some Collection<UInt8>) -> [UInt8] {
        key.signature(for: message).bytes
    }

    /// Whether a signature (64 bytes) is this key's over the message.
    public func isValid(signature: [UInt8], for message: some Collection<UInt8>) -> Bool {
        guard let signature = ES256Signature(bytes: signature) else { return false }
        return key.publicKey.isValid(signature, for: message)
    }

    private static func complaint(_ error: P256KeyError) -> InvalidField {
        let copyAgain = "Use the .p8 file as it was downloaded from Apple's developer account."
        let (problem, remedy) =
            switch error {
            case .notPEM: ("holds no PEM text", copyAgain)
            case .encrypted:
                (
                    "holds an encrypted key",
                    "Decrypt it first, for example with: openssl pkcs8 -in FILE -out key.p8"
                )
            case .certificate:
                (
                    "holds a certificate, not a private key",
                    "Give the .p8 key; a certificate goes into the certificate setting."
                )
            case .publicKey: ("holds a public key, not a private one", copyAgain)
            case .otherAlgorithm:
                ("holds a key of another algorithm than elliptic curves (RSA, perhaps)", copyAgain)
            case .otherCurve: ("holds a key on another curve than P-256", copyAgain)
            case .undecodable:
                ("holds PEM text that cannot be decoded; it was cut or changed", copyAgain)
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
