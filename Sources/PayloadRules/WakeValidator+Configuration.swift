// SPDX-License-Identifier: Apache-2.0

extension WakeValidator {
    /// What differs between apps and operators.
    public struct Configuration: Hashable, Sendable {
        /// The keys that name a call, the preferred one first (rule VO003). Case, `-`, `_`, `.` and
        /// spaces make no difference. They are looked for at the top level, then one level down.
        public var callIdentifierKeys = [
            "callUUID", "callId", "callIdentifier", "callSid", "uuid", "sessionId", "sessionUUID",
        ]

        /// How far ahead the expiration of a VoIP push may be, in seconds (rule VO005).
        public var voipExpirationLimitSeconds: Int64 = 30

        /// How long a background wake without an expiration of its own is worth something, in
        /// seconds: one day, the longest that a wake is held.
        public var backgroundLifetimeSeconds: Int64 = 86_400

        /// The custom keys that another push service keeps for itself (rule G016), where a `*` at
        /// the end stands for any ending. The default is Firebase Cloud Messaging's list.
        public var reservedKeys = ["from", "message_type", "google.*", "gcm.*"]

        /// The defaults.
        public init() {}
    }

    /// A configuration in the form that the rules compare with. A class, so that handing it on
    /// costs one reference.
    final class Settings: Sendable {
        let callIdentifierKeys: [[UInt8]]
        let voipExpirationLimitSeconds: Int64
        let reservedKeys: [ReservedKey]
        /// The first bytes of the reserved keys, as a ``KeyGlance`` has them.
        let reservedFirstBytes: UInt64

        init(_ configuration: Configuration) {
            callIdentifierKeys = configuration.callIdentifierKeys.map {
                NearMiss.letters(Array($0.utf8)[...])
            }
            voipExpirationLimitSeconds = configuration.voipExpirationLimitSeconds
            reservedKeys = configuration.reservedKeys.map { ReservedKey($0) }
            reservedFirstBytes = configuration.reservedKeys.reduce(0) { bits, key in
                // A pattern that is only `*`, or empty, can match anything.
                guard let first = key.utf8.first, first != UInt8(ascii: "*") else { return .max }
                return bits | KeyGlance.bit(ofFirstByte: first)
            }
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
