// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
public import WakeModel

extension APNsSimulator {
    /// The simulator's behaviour. The defaults are like Apple's development servers and need no
    /// set-up: any well-formed provider token and any device token are accepted.
    public struct Configuration: Sendable {
        /// The address to listen on. Keep it on loopback: the simulator is not a hardened server.
        public var host = "127.0.0.1"
        /// The TCP port; 0 lets the system choose, see ``APNsSimulator/port``.
        public var port = 0
        /// The environment that it simulates. `apns-unique-id` is sent by the sandbox alone.
        public var environment: APNsEnvironment = .sandbox
        /// SETTINGS_MAX_CONCURRENT_STREAMS. 1000 was seen at Apple (facts §1.3).
        public var maxConcurrentStreams = 1000
        /// Whether a connection begins with one stream, and gets the others only once it has
        /// posted a request with a valid provider token, as Apple documents.
        public var oneStreamUntilValidToken = true
        /// How pushes to unregistered device tokens are answered.
        public var unknownDeviceTokens = UnknownDeviceTokens.accepted
        /// Whether background pushes with priority 10 (or none, which means 10) are answered with
        /// `BadPriority`. Apple documents an error; none was ever seen.
        public var refusesBackgroundPriority10 = false
        /// Whether a connection that sent an expired provider token gets `ExpiredProviderToken`
        /// for every later one too, as was seen at Apple (facts §1.6).
        public var wedgesOnExpiredToken = false
        /// Whether a connection must negotiate `h2` by ALPN. Without, HTTP/2 is taken from clients
        /// that offer no protocol at all, as APNs is seen to do (facts §1.2); each gets a warning.
        public var requiresALPN = false
        /// Whether provider tokens whose signature is in DER are answered with
        /// `InvalidProviderToken`. RFC 7518 asks for 64 bytes; APNs is seen to take both (facts
        /// §4.1), and a warning names the connection.
        public var refusesDERSignatures = false
        /// Whether provider tokens whose `iat` is a text are answered with `InvalidProviderToken`.
        /// APNs is seen to take it (facts §4.1); a warning names the connection.
        public var refusesTextualIssuedAt = false
        /// Whether answers carry a `date` field with the time of ``now``, by which a client can
        /// detect that its clock is wrong. Off, because Apple documents none (facts §2.2).
        public var sendsDate = false
        /// The provider keys that it accepts. When empty, signatures are not verified.
        public var providerKeys: [ProviderKey] = []
        /// PEM of the CA whose client certificates are trusted in place of provider tokens.
        public var trustedClientCertificateAuthorityPEM: String?
        /// The topics that a client certificate is for; `nil` for any.
        public var clientCertificateTopics: Set<String>?
        /// The one environment that client certificates are for; in the other one they are answered
        /// with `BadCertificateEnvironment`. `nil` for both, as Apple makes them (facts §1.2).
        public var clientCertificateEnvironment: APNsEnvironment?
        /// The apps that have the broadcast capability; requests about channels of others are
        /// answered with `FeatureNotEnabled`. `nil` for all.
        public var broadcastApps: Set<String>?
        /// The most broadcast channels of an app. 10 000 at Apple (facts §2.5).
        public var channelLimit = 10_000
        /// The seed of everything random: which requests a share hits, and generated ids.
        public var seed: UInt64 = 1
        /// The time without a request after which a connection is ended with `IdleTimeout`; `nil`
        /// for no limit, because Apple gives no figure (facts §1.5). An incomplete request is
        /// answered with the same reason.
        public var idleTimeout: Duration?
        /// How much is remembered of each push.
        public var log = LogDepth.last(10_000)
        /// Threads that serve connections.
        public var eventLoopThreads = 1
        /// The port of the control endpoint on ``host``, 0 for one the system chooses; `nil` for
        /// no control endpoint.
        public var controlPort: Int?
        /// Whether and how many RST_STREAM frames a client may send.
        public var resetLimit = ResetLimit.unlimited
        /// The device model of tokens that are registered without one or not at all; `nil` for
        /// none: pushes to them are only answered.
        public var deviceModel: DeviceSetup?
        /// The gateway to which receipts of modelled devices, and the signals of their apps, are
        /// reported; `nil` for none.
        public var receipts: ReceiptTarget?
        /// Wall time. Tests may set another clock.
        public var now: @Sendable () -> WallInstant = { .now }

        /// The defaults.
        public init() {}
    }

    /// How pushes to unregistered device tokens are answered.
    public enum UnknownDeviceTokens: String, Hashable, Sendable {
        /// They are accepted, so that a load test needs no registration.
        case accepted
        /// They are answered with `BadDeviceToken`.
        case refused
    }

    /// The records that are kept of each push. Counters are kept in any case.
    public enum LogDepth: Hashable, Sendable {
        /// Nothing.
        case off
        /// How many whole requests came for each device token; neither headers nor bodies.
        case countsOnly
        /// The last pushes, up to this number, completely.
        case last(Int)
    }

    /// The limit of RST_STREAM frames, after which a connection ends.
    public enum ResetLimit: Hashable, Sendable {
        /// No limit.
        case unlimited
        /// A burst of `burst` and `perSecond` on average; then GOAWAY with `INTERNAL_ERROR`.
        case limited(burst: Int, perSecond: Int)

        /// The default of nghttp2 since its answer to the "rapid reset" attack: 1000 and 33.
        public static let likeNghttp2 = ResetLimit.limited(burst: 1000, perSecond: 33)
    }
}

extension WallInstant {
    /// The system's wall clock.
    fileprivate static var now: WallInstant {
        WallInstant(millisecondsSinceEpoch: Int64(Date().timeIntervalSince1970 * 1000))
    }
}
