// SPDX-License-Identifier: Apache-2.0

public import WakeModel

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
public final class SharedHeaders: Sendable, CustomReflectable {
    /// The fields, in the order in which they are sent. One of them may be a provider token.
    public let fields: [HeaderField]
    /// Where the requests go that are no pushes to a device; `nil` for those that are. Here, so
    /// that a push carries nothing for it.
    public let target: RequestTarget?

    /// Keeps the fields as they are.
    public init(_ fields: [HeaderField], target: RequestTarget? = nil) {
        self.fields = fields
        self.target = target
    }

    /// No children, so that a dump does not show the provider token.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Method, path and largest answer of a request that is no push to a device: one of the broadcast
/// API (facts §2.5).
public struct RequestTarget: Hashable, Sendable {
    /// A method. But for `POST`, one that a library may repeat by itself on a fresh connection when
    /// a used one dies without an answer: it means the same twice.
    public enum Method: String, Hashable, Sendable {
        /// Makes or sends something. Has a body.
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
    /// The most bytes that are taken of the answer's body. 1 MiB at most.
    public let maximumAnswerBytes: Int

    /// Names all three.
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
/// What differs from push to push is kept as the values that it is made of, so that making and
/// carrying a request allocates nothing; a transport spells them out where it writes them. All are
/// constants, here and in ``TransportRequest`` and ``WireResponse``: Swift 6.3 copies a value of so
/// many variables where it moves one of constants, and each copy counts up all that it refers to.
public struct WireRequest: Sendable {
    /// The part of `:path` before the device token.
    public static let pathPrefix = "/3/device/"

    /// The device token in `:path`; never logged. `nil` asks a server something that is no push:
    /// what, says the target of ``sharedHeaders``.
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
    /// Whether it goes ahead of everything that is not urgent in a transport's queue.
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

    /// Whether nothing that it needs is missing: a push without a body is none.
    public var isComplete: Bool {
        guard body.isEmpty else { return true }
        guard let target = sharedHeaders.target else { return false }
        return target.method != .post
    }

    /// The fields of this request alone (`apns-id`, `apns-expiration`, `apns-collapse-id`), in the
    /// order in which they are sent. Made anew at each call: for a transport under load there is
    /// ``forEachField(_:)``.
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

    /// Lends name and value of each field of this request alone to `body`, in the order in which
    /// they are sent.
    public borrowing func forEachField(
        _ body: (_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Void
    ) {
        if let apnsID { apnsID.withUTF8 { body(Self.bytes(of: "apns-id"), $0) } }
        if let expiration {
            // Ten digits, which a string keeps in itself.
            var value = expiration.headerValue
            value.withUTF8 { body(Self.bytes(of: "apns-expiration"), UnsafeRawBufferPointer($0)) }
        }
        if let collapseID {
            var value = collapseID.value
            value.withUTF8 { body(Self.bytes(of: "apns-collapse-id"), UnsafeRawBufferPointer($0)) }
        }
    }

    /// The most bytes that path and fields of this request alone can have: names, values, and what
    /// `overhead` says that each takes beside them.
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
        // SAFETY: a literal of the program's, which is there for good.
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
