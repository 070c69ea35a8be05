// SPDX-License-Identifier: Apache-2.0

/// The API's authentication and all of its limits, with their units.
public struct AdminConfiguration: Sendable {
    /// The kinds of authentication.
    public enum Authentication: Sendable {
        /// A caller with one of these keys as its bearer token. Without keys, no caller.
        case keys(KeyRing)
        /// Every caller that reaches the listener.
        case disabled
    }

    /// The authentication for routes under `/v1`, and for `/metrics`. Health, readiness, the
    /// OpenAPI document and the dashboard's page are open.
    public var authentication: Authentication
    /// The certificate and key of the listener; `nil` for plain HTTP.
    public var tls: ListenerTLS?

    /// The largest body that is read, batches aside, in bytes.
    public var bodyByteCount = 65_536
    /// The largest body of a batch, in bytes: room for ``batchItemCount`` wakes with the largest
    /// payload that APNs accepts, 5 KiB of a VoIP push, and all other members.
    public var batchByteCount = 67_108_864
    /// The largest body of a multicast, in bytes: room for 10 000 of the longest device tokens,
    /// 512 digits each, and for one payload.
    public var multicastByteCount = 6_291_456
    /// The largest body with receipts, in bytes.
    public var receiptsByteCount = 1_048_576
    /// The limit of the bodies of all connections in memory, in bytes. The first ``bodyByteCount``
    /// of each do not count: ``connectionCount`` bounds them. A batch in progress takes four to
    /// five times its body, so that all of them need less than a gigabyte.
    public var bodyBudgetByteCount = 100_663_296
    /// The most items of a batch.
    public var batchItemCount = 10_000
    /// The time limit for a body, in seconds, in addition to the time for its size at
    /// ``bodyBytesPerSecond``.
    public var bodySeconds = 10
    /// The slowest rate at which a large body may arrive, in bytes a second.
    public var bodyBytesPerSecond = 65_536
    /// The time limit for the head of a request, in seconds, from its first byte; with TLS from the
    /// first byte of the handshake.
    public var headerSeconds = 10
    /// The idle timeout of a connection between requests, in seconds.
    public var idleSeconds = 60
    /// The time limit for a caller that reads no byte of its answer, in seconds.
    public var stallSeconds = 30
    /// The time for which a shutdown waits for running requests before it closes their connections,
    /// in seconds. With the time for a TLS goodbye and the gateway's own drain after it, this stays
    /// well below the minute after which a service manager kills.
    public var shutdownSeconds = 15
    /// The largest single header field, in bytes.
    public var headerFieldByteCount = 8_192
    /// The largest sum of all header fields of a request, in bytes.
    public var headerListByteCount = 16_384
    /// The most header fields of a request.
    public var headerFieldCount = 100
    /// The idle timeout of a caller without an accepted key, and the time limit for the head of its
    /// request, in seconds.
    public var strangerSeconds = 5
    /// The most connections at a time, besides a few for health and metrics. When all are used, a
    /// new one replaces one without an accepted key; if there is none, it gets a 503. Fewer if the
    /// process may open fewer files.
    public var connectionCount = 1_024
    /// The most connections at a time from one address, or one /64 of IPv6; `nil` for seven eighths
    /// of all.
    public var connectionsPerPeerCount: Int?
    /// The most requests at a time on one connection of HTTP/2. It is announced as
    /// `SETTINGS_MAX_CONCURRENT_STREAMS`, and a caller that disregards it loses its connection. One
    /// without an accepted key has ``strangerStreamCount``.
    public var streamCount = 1_000
    /// The most requests at a time on one connection of HTTP/2 of a caller without an accepted key.
    /// Further ones are refused with `REFUSED_STREAM` (RFC 9113 §8.7).
    public var strangerStreamCount = 8
    /// The access rights of a Unix domain socket.
    public var socketAccess = SocketAccess()
    /// The interval at which refusals of callers without a key are logged, in seconds: with a
    /// count, and one line for each peer.
    public var refusalLogSeconds = 60
    /// The retention of an idempotency key, in seconds.
    public var idempotencySeconds = 86_400
    /// The longest that `wait=outcome` may hold an answer, in seconds.
    public var waitSeconds = 60
    /// The interval of comments on an idle event stream, which keep its connection open, in
    /// seconds.
    public var eventPulseSeconds = 15
    /// The most entries of one page of a list.
    public var pageCount = 1_000

    /// The defaults, for these callers.
    public init(authentication: Authentication) { self.authentication = authentication }
}
