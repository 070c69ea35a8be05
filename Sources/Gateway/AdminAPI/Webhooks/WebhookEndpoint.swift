// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
public import Gateway
import OpenSSLCrypto
public import WakeModel

/// A receiver of webhooks, with the secret that signs them.
public struct WebhookEndpoint: Equatable, Sendable, CustomStringConvertible {
    /// The minimum length of a secret, in bytes.
    public static let minimumSecretByteCount = 16
    /// The prefix of a secret in Base64 (Standard Webhooks 1.0).
    static let encodedSecretPrefix = "whsec_"

    /// The receiver's URL.
    public let url: String
    /// The id in the store. It is derived from the URL, so that the order of endpoints does not
    /// matter.
    public let id: WebhookEndpointID
    /// A file of certificate authorities in PEM, instead of the system's.
    public let certificateAuthorityPath: String?
    private let secret: HMACKey

    /// An endpoint. `secret` is the text of the secret: `whsec_` and Base64, or any other text,
    /// whose bytes count; white space around it does not. Throws ``WakeModel/InvalidField``.
    public init(
        url: String, secret: String, certificateAuthorityPath: String? = nil
    ) throws(InvalidField) {
        try Self.check(url: url)
        let text = secret.trimmed
        var bytes: [UInt8] = []
        defer { bytes.cleanse() }
        if text.hasPrefix(Self.encodedSecretPrefix) {
            guard let decoded = Data(base64Encoded: String(text.dropFirst(6))) else {
                throw InvalidField(
                    field: "webhook secret", problem: "is not Base64 after whsec_",
                    remedy: "Make one with: openssl rand -base64 32 | sed 's/^/whsec_/'")
            }
            bytes = Array(decoded)
        } else {
            bytes = Array(text.utf8)
        }
        guard bytes.count >= Self.minimumSecretByteCount else {
            throw InvalidField(
                field: "webhook secret",
                problem: "has fewer than \(Self.minimumSecretByteCount) bytes",
                remedy: "Make one with: openssl rand -base64 32 | sed 's/^/whsec_/'")
        }
        self.url = url
        id = WebhookEndpointID(url: url)
        self.certificateAuthorityPath = certificateAuthorityPath
        self.secret = HMACKey(bytes)
    }

    /// Scheme and host, because path and query may contain a secret.
    public var description: String {
        let scheme = url.firstRange(of: "://").map { url[..<$0.upperBound] } ?? ""
        return scheme + host
    }

    /// The host, and the port if the URL names one.
    var host: String {
        let parts = URLComponents(string: url)
        let port = parts?.port.map { ":\($0)" } ?? ""
        return (parts?.host ?? "unknown") + port
    }

    /// The value of `webhook-signature`: HMAC-SHA256 over id, time and body (Standard Webhooks 1.0,
    /// "Signature scheme"), so that a receiver can refuse forged and old messages.
    func signature(id: String, timestamp: Int64, body: [UInt8]) -> String {
        let code = secret.authenticationCode(for: Array("\(id).\(timestamp).".utf8) + body)
        return "v1," + Data(code).base64EncodedString()
    }
}

extension WebhookEndpointID {
    /// The id of the endpoint with this URL: the beginning of its SHA-256, because a URL may
    /// contain a secret.
    public init(url: String) {
        let digest = SHA256.digest(of: url.utf8)
        self.init(rawValue: digest.prefix(8).reduce(0) { $0 << 8 | Int64($1) })
    }
}

/// Posts webhooks to their receiver. An implementation must not block a thread of the gateway.
public protocol WebhookClient: Sendable {
    /// Posts a body and returns the HTTP status, or the reason for its absence, without secrets.
    func post(
        _ body: [UInt8], to endpoint: WebhookEndpoint, headers: [(name: String, value: String)]
    ) async -> Result<Int, WebhookFailure>
}

/// The reason why a receiver has not answered.
public struct WebhookFailure: Error, Hashable, Sendable {
    /// The failure, as a clause.
    public let description: String
    /// Whether the receiver may have read the request, so that its content may be the cause.
    public let isSent: Bool

    /// Creates a failure.
    public init(description: String, isSent: Bool) {
        self.description = description
        self.isSent = isSent
    }
}
