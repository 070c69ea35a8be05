// SPDX-License-Identifier: Apache-2.0

internal import CCryptoShims

/// Why a text is not a P-256 key that can be used. It quotes nothing of the text.
public enum P256KeyError: Error, Hashable, Sendable, CustomStringConvertible {
    /// There is no PEM block.
    case notPEM
    /// A PEM block cannot be decoded, or its private and public key contradict each other.
    case undecodable
    /// The private key is encrypted.
    case encrypted
    /// It is a certificate.
    case certificate
    /// It is a public key, and a private one is needed.
    case publicKey
    /// It is a key of another algorithm than elliptic curves.
    case otherAlgorithm
    /// It is a key on another curve than P-256.
    case otherCurve

    init(_ fault: CCryptoFault) {
        self =
            switch fault {
            case CCryptoFaultNotPEM: .notPEM
            case CCryptoFaultEncrypted: .encrypted
            case CCryptoFaultCertificate: .certificate
            case CCryptoFaultPublicKey: .publicKey
            case CCryptoFaultNotEC: .otherAlgorithm
            case CCryptoFaultWrongCurve: .otherCurve
            default: .undecodable
            }
    }

    /// The error as a sentence.
    public var description: String {
        switch self {
        case .notPEM: "The text holds no PEM block."
        case .undecodable: "The PEM block cannot be decoded; it was cut or changed."
        case .encrypted: "The private key is encrypted."
        case .certificate: "The text is a certificate, not a key."
        case .publicKey: "The text is a public key, and a private one is needed."
        case .otherAlgorithm: "The key is not one of elliptic curves."
        case .otherCurve: "The key is on another curve than P-256."
        }
    }
}
