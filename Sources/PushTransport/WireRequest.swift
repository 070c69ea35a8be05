// SPDX-License-Identifier: Apache-2.0

/// One header field: a lower-case name (RFC 9113 §8.2.1) and its value.
public struct HeaderField: Hashable, Sendable {
    /// The name, in lower case, without the colon.
    public let name: String
    /// The value, without surrounding white space or control characters.
    public let value: String

    /// Pairs a name with a value. Both must be well-formed already: the types of `WakeModel` see
    /// to that, and a transport passes them on as they are.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

/// The header fields that many requests have in common: authorization, topic, push type, priority.
///
/// A class, because its identity is the point: a transport turns each instance once into whatever
/// form its library wants (a libcurl list, an HPACK block) and finds that form again without
/// comparing a single string.
public final class SharedHeaders: Sendable {
    /// The fields, in the order in which they are sent.
    public let fields: [HeaderField]

    /// Keeps the fields as they are.
    public init(_ fields: [HeaderField]) { self.fields = fields }
}

/// One HTTP/2 request, ready to be written: everything but the method (`POST`), the scheme
/// (`https`) and the authority, which belong to the connection.
public struct WireRequest: Sendable {
    /// The value of `:path`. Holds a device token: never logged.
    public var path: String
    /// The fields shared with other requests, sent in their order. Whether they stand before or
    /// behind those of ``headers`` is the transport's choice.
    public var sharedHeaders: SharedHeaders
    /// The fields of this request alone (`apns-id`, `apns-expiration`, `apns-collapse-id`).
    public var headers: [HeaderField]
    /// The body; one that is empty is not sent. Never compressed (rule G009), never logged.
    public var body: [UInt8]
    /// Whether it goes ahead of everything that is not urgent in a transport's queue.
    public var isUrgent: Bool

    /// Spells out one request.
    public init(
        path: String, sharedHeaders: SharedHeaders, headers: [HeaderField], body: [UInt8],
        isUrgent: Bool = false
    ) {
        self.path = path
        self.sharedHeaders = sharedHeaders
        self.headers = headers
        self.body = body
        self.isUrgent = isUrgent
    }
}

/// One HTTP/2 answer.
public struct WireResponse: Hashable, Sendable {
    /// The value of `:status`.
    public var status: Int
    /// The fields that a push client reads: those named `apns-…`, `date` and `retry-after`.
    public var headers: [HeaderField]
    /// The body, at most ``maximumBodyBytes``.
    public var body: [UInt8]

    /// The most bytes a transport takes as a body: 4096. APNs' answers have under 200.
    public static let maximumBodyBytes = 4096

    /// Spells out one answer.
    public init(status: Int, headers: [HeaderField] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The first value of a header field by its lower-case name.
    public func header(_ name: String) -> String? {
        headers.first { $0.name == name }?.value
    }
}
