// SPDX-License-Identifier: Apache-2.0

/// What the API asks of its callers, and every limit it sets them, with its unit.
public struct AdminConfiguration: Sendable {
    /// Who may call.
    public enum Authentication: Sendable {
        /// A caller with one of these keys as its bearer token. Without keys, no caller.
        case keys(KeyRing)
        /// Everybody who reaches the listener.
        case disabled
    }

    /// Who may call what lies under `/v1`, and `/metrics`. Health, readiness, the OpenAPI document
    /// and the dashboard's page are open.
    public var authentication: Authentication
    /// The certificate and key that the listener shows; `nil` to speak plain HTTP.
    public var tls: ListenerTLS?

    /// The largest body that is read, batches aside, in bytes.
    public var bodyByteCount = 65_536
    /// The largest body of a batch, in bytes: room for ``batchItemCount`` wakes with the largest
    /// payload that APNs takes, 5 KiB of a VoIP push, and with everything around it.
    public var batchByteCount = 67_108_864
    /// The largest body of a multicast, in bytes: room for 10 000 of the longest device tokens,
    /// 512 digits each, and for one payload.
    public var multicastByteCount = 6_291_456
    /// The largest body with receipts, in bytes.
    public var receiptsByteCount = 1_048_576
    /// How much of the bodies of all connections together is held at a time, in bytes. The first
    /// ``bodyByteCount`` of each do not count: ``connectionCount`` bounds them. A batch under way
    /// takes four to five times its body, so that all of them stay well below a gigabyte.
    public var bodyBudgetByteCount = 100_663_296
    /// The most items of a batch.
    public var batchItemCount = 10_000
    /// How long a body may take to arrive, in seconds, besides what its size needs at
    /// ``bodyBytesPerSecond``.
    public var bodySeconds = 10
    /// The slowest rate at which a large body may arrive, in bytes a second.
    public var bodyBytesPerSecond = 65_536
    /// How long the head of a request may take to arrive, in seconds, from its first byte on; with
    /// TLS from the first byte of the handshake on.
    public var headerSeconds = 10
    /// How long a connection may be silent between requests, in seconds.
    public var idleSeconds = 60
    /// How long a caller may take no byte of its answer, in seconds.
    public var stallSeconds = 30
    /// How long a shutdown waits for the requests under way before it cuts them off, in seconds.
    /// With the time for a TLS goodbye and the gateway's own drain after it, this stays well below
    /// the minute after which a service manager kills.
    public var shutdownSeconds = 15
    /// The largest single header field, in bytes.
    public var headerFieldByteCount = 8_192
    /// The largest sum of all header fields of a request, in bytes.
    public var headerListByteCount = 16_384
    /// The most header fields of a request.
    public var headerFieldCount = 100
    /// How long a caller that has shown no key yet may be silent, and how long the head of its
    /// request may take, in seconds.
    public var strangerSeconds = 5
    /// The most connections at a time, besides a few for health and metrics. When all are taken, a
    /// new one gets the place of one on which no key was shown; without such, it gets a 503.
    /// Fewer where the system lets the process open fewer files.
    public var connectionCount = 1_024
    /// The most connections at a time from one address, or one /64 of IPv6; `nil` for seven eighths
    /// of all.
    public var connectionsPerPeerCount: Int?
    /// Who may connect to a Unix domain socket.
    public var socketAccess = SocketAccess()
    /// How often what is refused to callers without a key is written to the log, in seconds: with
    /// a count, and one line for each peer.
    public var refusalLogSeconds = 60
    /// How long an idempotency key is remembered, in seconds.
    public var idempotencySeconds = 86_400
    /// The longest that `wait=outcome` may hold an answer, in seconds.
    public var waitSeconds = 60
    /// How often a silent event stream says that it is alive, in seconds.
    public var eventPulseSeconds = 15
    /// The most entries of one page of a list.
    public var pageCount = 1_000

    /// The defaults, for these callers.
    public init(authentication: Authentication) { self.authentication = authentication }
}
