// SPDX-License-Identifier: Apache-2.0

/// The header fields of one request that APNs evaluates, gathered in one pass.
struct RequestHead: Sendable {
    private(set) var method: String?
    private(set) var path: String?
    private(set) var authorization: String?
    private(set) var topic: String?
    private(set) var pushType: String?
    private(set) var priority: String?
    private(set) var expiration: String?
    private(set) var collapseID: String?
    private(set) var apnsID: String?
    private(set) var channelID: String?
    private(set) var requestID: String?
    /// Whether a header name occurred twice, whatever its name.
    private(set) var hasDuplicates = false
    /// The names that have no property of their own; only needed to notice duplicates.
    private var otherNames: [String] = []

    /// What the path of a device push begins with.
    static let devicePathPrefix = "/3/device/"

    /// Notes one header field. Call it for each field of the header block, in order.
    mutating func add(name: String, value: String) {
        switch name {
        case ":method": note(value, at: \.method)
        case ":path": note(value, at: \.path)
        case "authorization": note(value, at: \.authorization)
        case "apns-topic": note(value, at: \.topic)
        case "apns-push-type": note(value, at: \.pushType)
        case "apns-priority": note(value, at: \.priority)
        case "apns-expiration": note(value, at: \.expiration)
        case "apns-collapse-id": note(value, at: \.collapseID)
        case "apns-id": note(value, at: \.apnsID)
        case "apns-channel-id": note(value, at: \.channelID)
        case "apns-request-id": note(value, at: \.requestID)
        case ":scheme", ":authority": break  // The HTTP/2 session refuses these when doubled.
        case "cookie": break  // It may come in several fields (RFC 9113 §8.2.3).
        default:
            if otherNames.contains(name) { hasDuplicates = true }
            otherNames.append(name)
        }
    }

    /// What follows `/3/device/` in the path; `nil` when the path is another one.
    var deviceTokenText: Substring? {
        guard let path, path.hasPrefix(Self.devicePathPrefix) else { return nil }
        return path.dropFirst(Self.devicePathPrefix.count)
    }

    /// Whether the path is one of the broadcast API's, or would like to be.
    var isBroadcastAPI: Bool {
        // Seen at the second character, for every push has a path.
        switch path?.utf8.dropFirst().first {
        case UInt8(ascii: "1"), UInt8(ascii: "4"): true
        default: false
        }
    }

    private mutating func note(_ value: String, at field: WritableKeyPath<Self, String?>) {
        if self[keyPath: field] != nil { hasDuplicates = true }
        self[keyPath: field] = value
    }
}
