// SPDX-License-Identifier: Apache-2.0

import PushTransport
import WakeModel

extension TransportFailure {
    /// What happened to a push, for a person.
    var meaning: String {
        cause
            + (certainty == .unknown
                ? " It may have reached APNs all the same." : " It was certainly not sent.")
    }

    /// What went wrong, for a person.
    var cause: String {
        switch kind {
        case .nameResolution: "The server's name could not be resolved."
        case .connect: "The server could not be reached."
        case .proxy: "The proxy refused, or could not be reached."
        case .tls where isCertificateRefused, .connectionLost where isCertificateRefused:
            "The server requires a client's certificate, or did not accept the one it got."
        case .tls where isWithoutTLS: "The server does not speak TLS on this port."
        case .tls: "The TLS handshake failed, or the server's certificate is not trusted."
        case .notHTTP2: "The server does not speak HTTP/2, so it is not APNs."
        case .streamRefused: "The server refused the request before reading it."
        case .streamReset: "The server broke the request off."
        case .connectionLost: "The connection was lost."
        case .timedOut: "No answer came in time."
        case .cancelled: "It was cancelled."
        case .shutDown, .queueFull: "The client did not take it."
        case .responseTooLarge: "The answer was too large to be one of APNs'."
        case .other: "It failed."
        }
    }

    /// Whether the server answered with something that is no TLS, as one of plain HTTP does. The
    /// words are OpenSSL's.
    private var isWithoutTLS: Bool {
        ["wrong version number", "packet length too long", "http request"].contains {
            detail.lowercased().contains($0)
        }
    }

    /// Whether the server ended the connection because of the client's certificate. With TLS 1.3 it
    /// does so after the handshake. The words are OpenSSL's.
    private var isCertificateRefused: Bool {
        ["unknown ca", "certificate", "bad certificate", "unsupported certificate"].contains {
            detail.lowercased().contains("alert \($0)")
        }
    }

    /// What a person can do about it.
    var remedy: String {
        switch kind {
        case .nameResolution: "Check the host's name, DNS, and whether a proxy is needed."
        case .connect:
            "Check host and port; where port 443 is closed, Apple listens on --port 2197 too."
        case .proxy: "Check --proxy or https_proxy; it must allow CONNECT to the server's port."
        case .tls where isCertificateRefused, .connectionLost where isCertificateRefused:
            "Use the push certificate from Apple's developer account, not expired or revoked; a "
                + "simulator takes those of its --client-ca."
        case .tls where isWithoutTLS:
            "Check host and port: APNs, and its simulator, take TLS only."
        case .tls:
            "With a simulator, trust its authority with --ca. At Apple's hosts this means that "
                + "something between rewrites TLS, or that CA certificates are not installed."
        case .notHTTP2: "Check host and port, and that nothing between them rewrites TLS."
        case .streamRefused: "Send it again."
        case .streamReset, .connectionLost, .timedOut, .responseTooLarge, .other:
            certainty == .unknown
                ? "Send it again only if a second one does no harm: a second VoIP push rings twice."
                : "Send it again."
        case .cancelled, .shutDown, .queueFull: "Send it again."
        }
    }
}
