// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// One header field: a lower-case name (RFC 9113 §8.2.1) and its value.
public struct HeaderField: Hashable, Sendable {
    /// The name, in lower case, without the colon.
    public let name: String
    /// The value, without surrounding white space or control characters.
    public let value: String

    /// Pairs a name with a value. Both must be well-formed already, as the types of `WakeModel`
    /// ensure; a transport sends them verbatim.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

/// The header fields that many requests have in common: authorization, topic, push type, priority.
///
/// A class, because a transport converts each instance once into the form of its library (a libcurl
/// list, an HPACK block) and finds that form by the instance's identity, without a comparison of
/// strings.
public final class SharedHeaders: Sendable, CustomReflectable {
    /// The fields, in the order in which they are sent. One of them may be a provider token.
    public let fields: [HeaderField]
    /// The target of requests that are not pushes to a device; `nil` for pushes. Here, so that a
    /// push needs no field for it.
    public let target: RequestTarget?

    /// Keeps the fields as they are.
    public init(_ fields: [HeaderField], target: RequestTarget? = nil) {
        self.fields = fields
        self.target = target
    }

    /// No children, so that a dump does not show the provider token.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Method, path and largest answer of a request that is not a push to a device: one of the
/// broadcast API (facts §2.5).
public struct RequestTarget: Hashable, Sendable {
    /// A method. A library may repeat all but `POST` on a new connection when a used one is lost
    /// without an answer, because they are idempotent.
    public enum Method: String, Hashable, Sendable {
        /// Creates or sends. Has a body.
        case post = "POST"
        /// Reads. Has no body.
        case get = "GET"
        /// Removes. Has no body.
        case delete = "DELETE"
    }

    /// The method.
    public let method: Method
    /// The value of `:path`, which begins with a slash.
    public let path: String
    /// The limit of the answer's body, in bytes; at most 1 MiB.
    public let maximumAnswerBytes: Int

    /// Creates a target.
    public init(
        _ method: Method, _ path: String,
        maximumAnswerBytes: Int = WireResponse.maximumBodyBytes
    ) {
        self.method = method
        self.path = path
        self.maximumAnswerBytes = min(max(0, maximumAnswerBytes), 1_048_576)
    }
}

/// One push as an HTTP/2 request, ready to be written: everything but the method (`POST`), the
/// scheme (`https`) and the authority, which belong to the connection.
///
/// The parts that differ from push to push are stored as values and encoded where the transport
/// writes them, so that a request needs no allocation. All are constants, here and in
/// ``TransportRequest`` and ``WireResponse``: Swift 6.3 copies a value of so many variables where
/// it moves one of constants, and each copy retains all that it refers to.
public struct WireRequest: Sendable {
    /// The part of `:path` before the device token.
    public static let pathPrefix = "/3/device/"

    /// The device token in `:path`; never logged. `nil` for a request that is not a push to a
    /// device, which has the target of ``sharedHeaders``.
    public let deviceToken: DeviceToken?
    /// The fields shared with other requests, sent in their order. Whether they precede or follow
    /// this request's own fields is the transport's choice.
    public let sharedHeaders: SharedHeaders
    /// The value of `apns-id`.
    public let apnsID: APNsID?
    /// The value of `apns-expiration`.
    public let expiration: Expiration?
    /// The value of `apns-collapse-id`.
    public let collapseID: CollapseID?
    /// The body; only a target's request may have none. Never compressed (rule G009), never logged.
    public let body: [UInt8]
    /// Whether it precedes all requests that are not urgent in a transport's queue.
    public let isUrgent: Bool

    /// Creates a request.
    public init(
        to deviceToken: DeviceToken?, sharedHeaders: SharedHeaders, apnsID: APNsID? = nil,
        expiration: Expiration? = nil, collapseID: CollapseID? = nil, body: [UInt8],
        isUrgent: Bool = false
    ) {
        self.deviceToken = deviceToken
        self.sharedHeaders = sharedHeaders
        self.apnsID = apnsID
        self.expiration = expiration
        self.collapseID = collapseID
        self.body = body
        self.isUrgent = isUrgent
    }

    /// The value of `:path`. Holds the device token: never logged.
    public var path: String {
        sharedHeaders.target?.path ?? Self.pathPrefix + (deviceToken?.hex ?? "")
    }

    /// Whether it is complete: a push must have a body.
    public var isComplete: Bool {
        guard body.isEmpty else { return true }
        guard let target = sharedHeaders.target else { return false }
        return target.method != .post
    }

    /// The fields of this request alone (`apns-id`, `apns-expiration`, `apns-collapse-id`), in the
    /// order in which they are sent. Allocated at each call; ``forEachField(_:)`` allocates
    /// nothing.
    public var headers: [HeaderField] {
        var fields: [HeaderField] = []
        forEachField { name, value in
            fields.append(
                HeaderField(
                    name: String(decoding: name, as: UTF8.self),
                    value: String(decoding: value, as: UTF8.self)))
        }
        return fields
    }

    /// Calls `body` with name and value of each field of this request alone, in the order in which
    /// they are sent.
    public borrowing func forEachField(
        _ body: (_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Void
    ) {
        if let apnsID { apnsID.withUTF8 { body(Self.bytes(of: "apns-id"), $0) } }
        if let expiration {
            // Ten digits fit into a string without an allocation.
            var value = expiration.headerValue
            value.withUTF8 { body(Self.bytes(of: "apns-expiration"), UnsafeRawBufferPointer($0)) }
        }
        if let collapseID {
            var value = collapseID.value
            value.withUTF8 { body(Self.bytes(of: "apns-collapse-id"), UnsafeRawBufferPointer($0)) }
        }
    }

    /// The most bytes that path and fields of this request alone can have: names, values, and
    /// `overhead` for each.
    public func headBytes(overhead: Int) -> Int {
        let longest =
            "apns-idapns-expirationapns-collapse-id".utf8.count + APNsID.textByteCount
            + CollapseID.maximumByteCount + 20
        let path =
            sharedHeaders.target?.path.utf8.count
            ?? Self.pathPrefix.utf8.count + (deviceToken?.hex.utf8.count ?? 0)
        return path + longest + 4 * overhead
    }

    private static func bytes(of name: StaticString) -> UnsafeRawBufferPointer {
        // SAFETY: a literal of the program, which is never freed.
        UnsafeRawBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
    }
}

extension WireRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The size alone: path, authorization and body are all secret.
    public var description: String { "request with a body of \(body.count) bytes" }
    /// The same as ``description``: a debugger's output ends in logs too.
    public var debugDescription: String { description }
    /// No children.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
