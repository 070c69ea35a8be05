// SPDX-License-Identifier: Apache-2.0

import StrictJSON
public import WakeModel

extension WakeValidator {
    /// The settings that differ between apps and operators.
    public struct Configuration: Hashable, Sendable {
        /// The keys that identify a call, the preferred one first (rule VO003). Case, `-`, `_`, `.`
        /// and spaces are ignored. They are searched at the top level, then one level below.
        public var callIdentifierKeys = [
            "callUUID", "callId", "callIdentifier", "callSid", "callCid", "twiCallSid", "uuid",
            "sessionId", "sessionUUID",
        ]

        /// The maximum time until the expiration of a VoIP push, in seconds (rule VO005).
        public var voipExpirationLimitSeconds: Int64 = 30

        /// The lifetime of a background wake without an expiration, in seconds: one day, the
        /// maximum time for which a device holds a push.
        public var backgroundLifetimeSeconds: Int64 = 86_400

        /// The custom keys that another push service reserves (rule G016); a final `*` matches any
        /// suffix. The default is the list of Firebase Cloud Messaging.
        public var reservedKeys = ["from", "message_type", "google.*", "gcm.*"]

        /// Additional values of `apns-push-type` that rule H005 accepts.
        public var extraPushTypes: Set<String> = []

        /// The authentication of drafts (rules H019 and LO001).
        public var authentication: Authentication = .unstated

        /// The known signing keys by key id, with the environments that each may be used in (rules
        /// AU007 and AU009).
        public var signingKeys: [String: KeyReach] = [:]

        /// The limits of rules with a threshold.
        public var thresholds = Thresholds()

        /// Creates the default settings.
        public init() {}
    }

    /// The authentication of a sender to APNs.
    public enum Authentication: Hashable, Sendable, CaseIterable {
        /// Not specified. A draft with an `authorization` header uses a provider token; one without
        /// it whose headers are complete, including `:path`, uses a certificate.
        case unstated
        /// A provider token.
        case token
        /// A client certificate.
        case certificate
    }

    /// The environments of a signing key (facts §4.3).
    public enum KeyReach: Hashable, Sendable {
        /// Both environments: keys created before February 2025.
        case bothEnvironments
        /// One environment.
        case only(APNsEnvironment)
    }

    /// The limits of rules with a threshold. If Apple documents one, it is the default.
    public struct Thresholds: Hashable, Sendable {
        /// The number of background pushes to one device in 60 minutes above which BG020 is a
        /// warning. Apple: not more than two or three.
        public var backgroundPerHour = 3
        /// The number of background pushes to one device in 60 minutes above which BG020 is an
        /// error.
        public var backgroundPerHourError = 12
        /// The minimum time between two background pushes to one device, in seconds (BG021). WWDC20
        /// session 10063: launches are about 15 minutes apart.
        public var backgroundSpacingSeconds: Int64 = 900
        /// The number of devices with the same background payload in one burst above which BG025
        /// applies.
        public var burstDevices = 1000
        /// The duration of a burst, in seconds (BG025).
        public var burstSeconds: Int64 = 10
        /// The number of VoIP pushes to one device in 60 minutes above which VO012 applies.
        public var voipPerHour = 10
        /// The time after the first attempt in which a VoIP push may be retried, in seconds
        /// (VO013).
        public var voipRetrySeconds: Int64 = 10
        /// The number of Live Activity pushes with priority 10 to one token in 60 minutes above
        /// which LA006 applies.
        public var liveActivityImmediatePerHour = 10
        /// The number of location pushes to one device in 60 minutes above which LO002 applies.
        /// Apple: 360 in 24 hours.
        public var locationPerHour = 15
        /// The number of Push to Talk service updates to one token in 60 minutes above which PT002
        /// applies.
        public var serviceUpdatesPerHour = 6
        /// The minimum age of a provider token at its replacement, in seconds (AU004). Apple: no
        /// more than once in 20 minutes.
        public var tokenMinimumAgeSeconds: Int64 = 1200
        /// The age from which APNs rejects a provider token, in seconds (AU003, AU005). Apple: one
        /// hour.
        public var tokenMaximumAgeSeconds: Int64 = 3600
        /// The maximum time by which a clock may be behind the one that set `iat`, in seconds
        /// (AU003).
        public var clockSkewSeconds: Int64 = 60
        /// The minimum time after a 5xx before a push is sent again, in seconds (SQ004). Apple: 15
        /// minutes.
        public var serverErrorPauseSeconds: Int64 = 900

        /// Creates the default limits.
        public init() {}
    }

    /// A configuration prepared for the rules. A class, so that passing it costs one reference.
    final class Settings: Sendable {
        let callIdentifierKeys: [[UInt8]]
        /// The bits of their first letters, as in ``KeyGlance``.
        private let callIdentifierFirstLetters: UInt64
        let voipExpirationLimitSeconds: Int64
        let reservedKeys: [ReservedKey]
        /// Whether the reserved keys are the default.
        let reservesDefaultKeys: Bool
        /// The first bytes of the reserved keys, as in ``KeyGlance``.
        let reservedFirstBytes: UInt64
        /// The prefixes of the reserved keys, for ``PayloadFastPath``.
        let reservedHeads: [ReservedHead]
        let extraPushTypes: Set<String>
        let authentication: Authentication
        let signingKeys: [String: KeyReach]
        let thresholds: Thresholds

        init(_ configuration: Configuration) {
            callIdentifierKeys = configuration.callIdentifierKeys.map {
                NearMiss.letters(Array($0.utf8)[...])
            }
            callIdentifierFirstLetters = callIdentifierKeys.reduce(0) { bits, name in
                name.first.map { bits | KeyGlance.bit(ofFirstByte: $0) } ?? .max
            }
            voipExpirationLimitSeconds = configuration.voipExpirationLimitSeconds
            reservedKeys = configuration.reservedKeys.map { ReservedKey($0) }
            reservesDefaultKeys = configuration.reservedKeys == Configuration().reservedKeys
            reservedFirstBytes = configuration.reservedKeys.reduce(0) { bits, key in
                // A pattern that is empty or only `*` can match any key.
                guard let first = key.utf8.first, first != UInt8(ascii: "*") else { return .max }
                return bits | KeyGlance.bit(ofFirstByte: first)
            }
            reservedHeads = configuration.reservedKeys.map { ReservedHead($0) }
            extraPushTypes = configuration.extraPushTypes
            authentication = configuration.authentication
            signingKeys = configuration.signingKeys
            thresholds = configuration.thresholds
        }

        /// Whether a key that starts with this byte may be one of ``callIdentifierKeys``.
        func mayBeCallIdentifier(startingWith byte: UInt8) -> Bool {
            // Another character may be a separator, after which the name starts.
            guard let letter = NearMiss.letter(byte) else { return true }
            return callIdentifierFirstLetters & KeyGlance.bit(ofFirstByte: letter) != 0
        }
    }

    /// Up to eight bytes at the start of a reserved key, which are compared at once.
    struct ReservedHead: Sendable {
        /// The bytes, the first one in the lowest bits.
        let head: UInt64
        /// All ones for each byte to compare.
        let mask: UInt64

        init(_ pattern: String) {
            let start = pattern.hasSuffix("*") ? pattern.utf8.dropLast() : pattern.utf8[...]
            var head: UInt64 = 0
            var mask: UInt64 = 0
            for (index, byte) in start.prefix(8).enumerated() {
                head |= UInt64(byte) << UInt64(8 * index)
                mask |= 0xff << UInt64(8 * index)
            }
            self.head = head
            self.mask = mask
        }
    }

    /// A reserved key of another push service, or a prefix of such keys.
    struct ReservedKey: Sendable {
        private let start: [UInt8]
        private let isWhole: Bool

        init(_ pattern: String) {
            isWhole = !pattern.hasSuffix("*")
            start = Array(isWhole ? pattern.utf8[...] : pattern.utf8.dropLast())
        }

        func matches(_ key: Int, in document: JSONDocument) -> Bool {
            document.hasText(key, beginningWith: start)
                && (!isWhole || document.text(key).count == start.count)
        }
    }
}
