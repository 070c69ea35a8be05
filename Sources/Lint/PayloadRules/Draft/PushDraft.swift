// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// A push as a file or a person describes it: everything is raw, and nothing is valid yet.
///
/// ``PushValidator`` says what is wrong with it. Its description shows neither payload nor headers.
public struct PushDraft: Sendable {
    /// A header field as it is written.
    public struct Header: Sendable, Hashable {
        /// The name, in the case that it is written in (rule H018).
        public var name: String
        /// The value.
        public var value: String

        /// Creates a field.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The platform that the push is for, as far as the rules differ (rule H004).
    public enum Target: Sendable, Hashable, CaseIterable {
        /// Any platform but the watch.
        case phone
        /// watchOS 6 and later, where `apns-push-type` is required.
        case watchOS
    }

    /// The header fields as written, duplicates included. The pseudo-header fields `:method`,
    /// `:path` and `:authority` may be among them: the rules about path, device token and host need
    /// them. `:version` is the version of HTTP, as `HTTP/1.1`.
    public var headers: [Header]
    /// The names, in lower case, of headers that are sent with unknown values, such as a variable
    /// of a script: no rule applies to them.
    public var opaqueHeaders: Set<String> = []
    /// The JSON body, byte for byte.
    public var payload: [UInt8]
    /// The platform.
    public var target: Target
    /// Whether the push goes through Firebase Cloud Messaging, which sends no VoIP pushes.
    public var isForFirebase = false
    /// When the push is sent. Without it, the rules that need a clock stay out.
    public var now: WallInstant?
    /// Whether ``headers`` are all that will be sent. Where they are not, as with a bare payload,
    /// the rules about missing headers stay out.
    public var headersAreComplete: Bool

    /// Describes a push, or a bare payload.
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
    /// The sizes; neither the payload nor a header's value, which may be a token.
    public var description: String {
        "push draft (\(headers.count) headers, \(payload.count) bytes)"
    }
    /// The same as ``description``: a debugger's output ends in logs too.
    public var debugDescription: String { description }
    /// No children, so that a dump does not show the payload.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
