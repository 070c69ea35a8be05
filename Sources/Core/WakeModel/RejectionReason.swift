// SPDX-License-Identifier: Apache-2.0

/// The `reason` of an APNs error answer, kept verbatim.
///
/// APNs adds reasons over time, so this is text with known values, never a closed enumeration: an
/// unknown reason is not an error, and ``advice(status:)`` treats it by its status class
/// (facts §3.3).
public struct RejectionReason: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The reason exactly as APNs wrote it.
    public let rawValue: String

    /// Keeps the text as it is.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The text itself.
    public var description: String { rawValue }

    /// The table's row for this reason, `nil` for one that is not in it. Spaces are disregarded,
    /// because the broadcast API prints `Service Unavailable` (facts §10).
    public var entry: Entry? {
        Self.rows[rawValue] ?? Self.rows[rawValue.filter { $0 != " " }]
    }

    /// What to do about this reason: the table's row, or what its status class says.
    public func advice(status: Int) -> Advice {
        entry?.advice ?? .forUnknownReason(status: status)
    }
}

extension RejectionReason {
    /// One row of the table of facts §3.3.
    public struct Entry: Hashable, Sendable {
        /// The reason.
        public let reason: RejectionReason
        /// The HTTP status it comes with.
        public let status: Int
        /// What it means, in words for a person.
        public let meaning: String
        /// What to do about it, by the gateway and by a person.
        public let advice: Advice
    }

    /// What follows from a rejection.
    public struct Advice: Hashable, Sendable {
        /// What is broken.
        public let scope: Scope
        /// Whether and when the same push may be sent again.
        public let retry: Retry
        /// Whether the device token is dead.
        public let deviceToken: DeviceTokenVerdict
        /// Whether a new provider token must be minted first.
        public let renewsProviderToken: Bool
        /// What a person should do, as a sentence.
        public let remedy: String

        /// Creates advice.
        public init(
            scope: Scope, retry: Retry, deviceToken: DeviceTokenVerdict = .unaffected,
            renewsProviderToken: Bool = false, remedy: String
        ) {
            self.scope = scope
            self.retry = retry
            self.deviceToken = deviceToken
            self.renewsProviderToken = renewsProviderToken
            self.remedy = remedy
        }

        /// By status class (facts §3.2): 5xx later, 429 later for the device, 410 dead, 403
        /// only after somebody replaced the key or certificate, the rest only after a fix. An
        /// answer to a request about a channel is about no device.
        public static func forUnknownReason(
            status: Int, ofChannel: Bool = false
        ) -> Advice {
            switch status {
            case 403:
                Advice(
                    scope: .key, retry: .afterFix,
                    remedy: "Look the reason up in Apple's documentation; it is about the key or "
                        + "certificate, and new to Rouse.")
            case 410 where !ofChannel:
                Advice(
                    scope: .device, retry: .never, deviceToken: .deadUnlessRegisteredSince,
                    remedy: "Stop sending to this device token until the app registers it again.")
            case 429:
                Advice(
                    scope: ofChannel ? .request : .device, retry: .later(.tooManyRequests),
                    remedy: "Send less often\(ofChannel ? "" : " to this device token").")
            case 500...599:
                Advice(
                    scope: .service, retry: .later(.serviceTrouble),
                    remedy: "Nothing is wrong on your side; a later attempt can succeed.")
            default:
                Advice(
                    scope: .request, retry: .afterFix,
                    remedy: "Look the reason up in Apple's documentation; it is new to Rouse.")
            }
        }

        /// As for an unknown reason, when there is none. APNs gives a reason with every refusal
        /// (facts §3.3), so something else may have answered.
        public static func forMissingReason(
            status: Int, ofChannel: Bool = false
        ) -> Advice {
            let advice = forUnknownReason(status: status, ofChannel: ofChannel)
            guard status != 429, !(500...599).contains(status) else { return advice }
            return Advice(
                scope: advice.scope, retry: advice.retry, deviceToken: advice.deviceToken,
                remedy: "APNs names a reason with every refusal; here was none. Check that the "
                    + "host is APNs, and that no proxy or firewall answers in its place.")
        }
    }

    /// What a rejection says is broken.
    public enum Scope: String, Hashable, Sendable {
        /// This one request.
        case request
        /// The device token, in any topic.
        case device
        /// The device token for this topic.
        case deviceForTopic = "device-for-topic"
        /// The provider token (JWT).
        case providerToken = "provider-token"
        /// The signing key or the certificate.
        case key
        /// The topic, or the key's right to it.
        case topic
        /// The connection.
        case connection
        /// APNs itself.
        case service
    }

    /// Whether and when the same push may be sent again.
    public enum Retry: Hashable, Sendable {
        /// Never: Apple's explicit list, or an answer that cannot change.
        case never
        /// Only after someone changed the request, the key or the topic.
        case afterFix
        /// At once, on another connection.
        case nowOnAnotherConnection
        /// Once, at once, with a new provider token.
        case onceWithNewProviderToken
        /// After a delay that grows with each try.
        case later(Backoff)
    }

    /// A delay that doubles from `initialSeconds` up to `maximumSeconds`.
    public struct Backoff: Hashable, Sendable {
        /// The first delay, in seconds.
        public let initialSeconds: Int
        /// The longest delay, in seconds.
        public let maximumSeconds: Int

        /// Names both ends, in seconds.
        public init(initialSeconds: Int, maximumSeconds: Int) {
            self.initialSeconds = initialSeconds
            self.maximumSeconds = maximumSeconds
        }

        /// For 429 TooManyRequests: 60 s doubling to 15 min (facts §3.3, assumed).
        public static let tooManyRequests = Backoff(initialSeconds: 60, maximumSeconds: 900)
        /// For 5xx: 15 min (Apple), doubling to 4 h (assumed).
        public static let serviceTrouble = Backoff(initialSeconds: 900, maximumSeconds: 14_400)
        /// For 429 TooManyProviderTokenUpdates: Apple's 20 minutes between two tokens.
        public static let tokenUpdates = Backoff(initialSeconds: 1200, maximumSeconds: 3600)

        /// The delay before try number `attempt` (the first retry is 1), in seconds.
        public func delaySeconds(attempt: Int) -> Int {
            var delay = initialSeconds
            // 63 doublings take any delay beyond any maximum.
            for _ in 1..<max(1, min(attempt, 64)) {
                let (doubled, overflow) = delay.multipliedReportingOverflow(by: 2)
                guard !overflow, doubled < maximumSeconds else { return maximumSeconds }
                delay = doubled
            }
            return min(delay, maximumSeconds)
        }
    }

    /// What a rejection says of the device token.
    public enum DeviceTokenVerdict: String, Hashable, Sendable {
        /// Nothing.
        case unaffected
        /// Dead, unless the app registered it again after the answer's timestamp (410).
        case deadUnlessRegisteredSince = "dead-unless-registered-since"
        /// Dead for this topic; a mix-up of topics should be ruled out first.
        case deadForTopic = "dead-for-topic"
        /// Dead only if the other environment refuses it too.
        case suspectEnvironment = "suspect-environment"
    }
}
