// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// The reason why a submission has no answer, and whether it may have reached APNs.
public struct TransportFailure: Error, Hashable, Sendable {
    /// Whether the request may have reached the server as a whole.
    public let certainty: Certainty
    /// What went wrong.
    public let kind: Kind
    /// The message of the library or the system. Contains no secret.
    public let detail: String

    /// Creates a failure.
    public init(_ kind: Kind, certainty: Certainty, detail: String = "") {
        self.kind = kind
        self.certainty = certainty
        self.detail = detail
    }

    /// What went wrong, as a closed list that serves as a metric's label.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// The host's name could not be resolved.
        case nameResolution = "name-resolution"
        /// No TCP connection could be made.
        case connect
        /// The proxy refused, or could not be reached.
        case proxy
        /// The TLS handshake failed, or the peer's certificate was not accepted.
        case tls
        /// The peer does not support HTTP/2.
        case notHTTP2 = "not-http2"
        /// The peer refused the stream (RST_STREAM with REFUSED_STREAM, or above a GOAWAY's last
        /// stream).
        case streamRefused = "stream-refused"
        /// The peer reset the stream.
        case streamReset = "stream-reset"
        /// The connection was lost.
        case connectionLost = "connection-lost"
        /// No answer within the submission's time.
        case timedOut = "timed-out"
        /// The submitter cancelled it.
        case cancelled
        /// The transport shut down.
        case shutDown = "shut-down"
        /// The transport's queue is full.
        case queueFull = "queue-full"
        /// The answer had over 4096 bytes, or more than the request allows.
        case responseTooLarge = "response-too-large"
        /// Anything else; see ``TransportFailure/detail``.
        case other
    }
}

extension TransportFailure: CustomStringConvertible {
    /// Kind, certainty and detail in one line: `timed-out (unknown): no answer within 30 s`.
    public var description: String {
        "\(kind.rawValue) (\(certainty.rawValue))" + (detail.isEmpty ? "" : ": \(detail)")
    }
}
