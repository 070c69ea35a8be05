// SPDX-License-Identifier: Apache-2.0

import StrictJSON
public import WakeModel

extension WakeValidator {
    /// What differs between apps and operators.
    public struct Configuration: Hashable, Sendable {
        /// The keys that name a call, the preferred one first (rule VO003). Case, `-`, `_`, `.` and
        /// spaces make no difference. They are looked for at the top level, then one level down.
        public var callIdentifierKeys = [
            "callUUID", "callId", "callIdentifier", "callSid", "callCid", "twiCallSid", "uuid",
            "sessionId", "sessionUUID",
        ]

        /// How far ahead the expiration of a VoIP push may be, in seconds (rule VO005).
        public var voipExpirationLimitSeconds: Int64 = 30

        /// The lifetime of a background wake without an expiration of its own, in seconds: one day,
        /// the longest that a wake is held.
        public var backgroundLifetimeSeconds: Int64 = 86_400

        /// The custom keys that another push service keeps for itself (rule G016), where a `*` at
        /// the end matches any ending. The default is Firebase Cloud Messaging's list.
        public var reservedKeys = ["from", "message_type", "google.*", "gcm.*"]

        /// Values of `apns-push-type` that rule H005 takes beside those that Apple lists.
        public var extraPushTypes: Set<String> = []

        /// How drafts authenticate (rules H019 and LO001).
        public var authentication: Authentication = .unstated

        /// The signing keys that are known, by their key id, and the environments that each may
        /// push to (rules AU007 and AU009).
        public var signingKeys: [String: KeyReach] = [:]

        /// The limits of rules that compare with a number.
        public var thresholds = Thresholds()

        /// The defaults.
        public init() {}
    }

    /// How a sender proves to APNs who it is.
    public enum Authentication: Hashable, Sendable, CaseIterable {
        /// Not specified. A draft with an `authorization` header uses a provider token; one with
        /// all its headers, its `:path` among them, and without that header uses a certificate.
        case unstated
        /// With a provider token.
        case token
        /// With a client certificate.
        case certificate
    }

    /// Where a signing key may be used (facts §4.3).
    public enum KeyReach: Hashable, Sendable {
        /// In both environments: keys made before February 2025.
        case bothEnvironments
        /// In one environment.
        case only(APNsEnvironment)
    }

    /// The limits of rules that compare with a number. Where Apple names one, it is that.
    public struct Thresholds: Hashable, Sendable {
        /// Background pushes to one device in 60 minutes, above which BG020 warns. Apple: not more
        /// than two or three.
        public var backgroundPerHour = 3
        /// Background pushes to one device in 60 minutes, above which BG020 is an error.
        public var backgroundPerHourError = 12
        /// The least time between two background pushes to one device, in seconds (BG021). WWDC20
        /// session 10063: launches are about 15 minutes apart.
        public var backgroundSpacingSeconds: Int64 = 900
        /// Devices that get the same background payload in one burst, above which BG025 speaks.
        public var burstDevices = 1000
        /// How long a burst is, in seconds (BG025).
        public var burstSeconds: Int64 = 10
        /// VoIP pushes to one device in 60 minutes, above which VO012 speaks.
        public var voipPerHour = 10
        /// How long after its first attempt a VoIP push may be tried again, in seconds (VO013).
        public var voipRetrySeconds: Int64 = 10
        /// Live Activity pushes at priority 10 to one token in 60 minutes, above which LA006
        /// speaks.
        public var liveActivityImmediatePerHour = 10
        /// Location pushes to one device in 60 minutes, above which LO002 speaks. Apple: 360 in 24
        /// hours.
        public var locationPerHour = 15
        /// Push to Talk service updates to one token in 60 minutes, above which PT002 speaks.
        public var serviceUpdatesPerHour = 6
        /// The least age of a provider token when it is replaced, in seconds (AU004). Apple: no
        /// more than once in 20 minutes.
        public var tokenMinimumAgeSeconds: Int64 = 1200
        /// The age from which on APNs refuses a provider token, in seconds (AU003, AU005). Apple:
        /// one hour.
        public var tokenMaximumAgeSeconds: Int64 = 3600
        /// How far a clock may be behind the one that set `iat`, in seconds (AU003).
        public var clockSkewSeconds: Int64 = 60
        /// How long after a 5xx a push may be sent again at the earliest, in seconds (SQ004).
        /// Apple: 15 minutes.
        public var serverErrorPauseSeconds: Int64 = 900

        /// The defaults.
        public init() {}
    }

    /// A configuration in the form that the rules compare with. A class, so that handing it on
    /// costs one reference.
    final class Settings: Sendable {
        let callIdentifierKeys: [[UInt8]]
        /// The bits of their first letters, as a ``KeyGlance`` has them.
        private let callIdentifierFirstLetters: UInt64
        let voipExpirationLimitSeconds: Int64
        let reservedKeys: [ReservedKey]
        /// Whether no other reserved keys were configured.
        let reservesDefaultKeys: Bool
        /// The first bytes of the reserved keys, as a ``KeyGlance`` has them.
        let reservedFirstBytes: UInt64
        /// The beginnings of the reserved keys, as a ``PayloadFastPath`` compares them.
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
                // A pattern that is only `*`, or empty, can match anything.
                guard let first = key.utf8.first, first != UInt8(ascii: "*") else { return .max }
                return bits | KeyGlance.bit(ofFirstByte: first)
            }
            reservedHeads = configuration.reservedKeys.map { ReservedHead($0) }
            extraPushTypes = configuration.extraPushTypes
            authentication = configuration.authentication
            signingKeys = configuration.signingKeys
            thresholds = configuration.thresholds
        }

        /// Whether a key that begins with this byte may be one of ``callIdentifierKeys``.
        func mayBeCallIdentifier(startingWith byte: UInt8) -> Bool {
            // What is no letter may be a separator, behind which the name begins.
            guard let letter = NearMiss.letter(byte) else { return true }
            return callIdentifierFirstLetters & KeyGlance.bit(ofFirstByte: letter) != 0
        }
    }

    /// Up to eight bytes that a reserved key begins with, to be compared together.
    struct ReservedHead: Sendable {
        /// The bytes, the first one lowest.
        let head: UInt64
        /// All ones where there is a byte to compare.
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

    /// A key, or the beginning of keys, that another push service keeps for itself.
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
