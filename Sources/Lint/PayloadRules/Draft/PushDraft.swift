// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// A push as described in a file or by a person, without validation.
///
/// ``PushValidator`` checks it. Its description shows neither payload nor headers.
public struct PushDraft: Sendable {
    /// A header field.
    public struct Header: Sendable, Hashable {
        /// The name, in its original case (rule H018).
        public var name: String
        /// The value.
        public var value: String

        /// Creates a field.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The platform of the push, as far as the rules differ (rule H004).
    public enum Target: Sendable, Hashable, CaseIterable {
        /// Any platform except watchOS.
        case phone
        /// watchOS 6 and later, where `apns-push-type` is required.
        case watchOS
    }

    /// The header fields as written, including duplicates. They may include the pseudo-header
    /// fields `:method`, `:path` and `:authority`, which the rules about path, device token and
    /// host need. `:version` is the HTTP version, such as `HTTP/1.1`.
    public var headers: [Header]
    /// The lower-case names of headers that are sent with unknown values, such as a variable of a
    /// script; rules about them are skipped.
    public var opaqueHeaders: Set<String> = []
    /// Whether the sender certainly has no certificate for the connection, so that it needs a
    /// provider token.
    public var lacksCertificate = false
    /// The JSON body, byte for byte.
    public var payload: [UInt8]
    /// The platform.
    public var target: Target
    /// Whether the push is sent through Firebase Cloud Messaging, which sends no VoIP pushes.
    public var isForFirebase = false
    /// The time at which the push is sent; `nil` to skip the rules about time.
    public var now: WallInstant?
    /// Whether ``headers`` is complete. If not, as for a bare payload, the rules about missing
    /// headers are skipped.
    public var headersAreComplete: Bool

    /// Creates a push, or a bare payload.
    public init(
        payload: [UInt8], headers: [Header] = [], target: Target = .phone, now: WallInstant? = nil,
        headersAreComplete: Bool = false
    ) {
        self.headers = headers
        self.payload = payload
        self.target = target
        self.now = now
        self.headersAreComplete = headersAreComplete
    }
}

extension PushDraft: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The sizes. Neither the payload nor a header's value, which may be a token.
    public var description: String {
        "push draft (\(headers.count) headers, \(payload.count) bytes)"
    }
    /// The same as ``description``, because a debugger's output may be logged.
    public var debugDescription: String { description }
    /// Empty, so that a dump does not show the payload.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
