// SPDX-License-Identifier: Apache-2.0

public import PushTransport
public import WakeModel

/// A request about an app's broadcast channels.
public struct ChannelRequest: Sendable {
    /// The most channels of an app in one environment (facts §2.5).
    public static let maximumChannelCount = 10_000
    /// The most bytes of a list: 10 000 ids of 24 characters with quotes and comma are 270 KB, and
    /// Apple does not fix an id's size.
    static let maximumListBytes = 1_048_576

    /// The host of a request.
    public enum Server: Hashable, Sendable {
        /// The host for pushes.
        case push
        /// The host that manages channels.
        case management
    }

    /// The host that the request is sent to.
    public let server: Server
    /// The value of `apns-request-id`; the same for every attempt.
    public let requestID: APNsID
    private let target: RequestTarget
    private let fields: [HeaderField]
    private let body: [UInt8]

    /// Makes a channel.
    public static func create(
        of bundleID: BundleID, storing storage: ChannelStorage, requestID: APNsID
    ) -> ChannelRequest {
        ChannelRequest(
            target: RequestTarget(.post, channelPath(bundleID)), requestID: requestID,
            fields: [HeaderField(name: "content-type", value: "application/json")],
            body: Array(
                #"{"message-storage-policy":\#(storage.policy),"push-type":"LiveActivity"}"#.utf8))
    }

    /// Reads what a channel stores.
    public static func read(
        _ channel: ChannelID, of bundleID: BundleID, requestID: APNsID
    ) -> ChannelRequest {
        ChannelRequest(
            target: RequestTarget(.get, channelPath(bundleID)), requestID: requestID,
            fields: [field(channel)])
    }

    /// Reads the ids of all channels.
    public static func list(of bundleID: BundleID, requestID: APNsID) -> ChannelRequest {
        ChannelRequest(
            target: RequestTarget(
                .get, "/1/apps/\(bundleID)/all-channels", maximumAnswerBytes: maximumListBytes),
            requestID: requestID)
    }

    /// Deletes a channel.
    public static func delete(
        _ channel: ChannelID, of bundleID: BundleID, requestID: APNsID
    ) -> ChannelRequest {
        ChannelRequest(
            target: RequestTarget(.delete, channelPath(bundleID)), requestID: requestID,
            fields: [field(channel)])
    }

    /// Sends a broadcast.
    public static func send(_ broadcast: Broadcast) -> ChannelRequest {
        ChannelRequest(
            server: .push,
            target: RequestTarget(.post, "/4/broadcasts/apps/\(broadcast.bundleID)"),
            requestID: broadcast.requestID,
            fields: [
                field(broadcast.channel),
                HeaderField(name: "apns-push-type", value: PushType.liveactivity.rawValue),
                HeaderField(name: "apns-priority", value: broadcast.priority.description),
                HeaderField(name: "apns-expiration", value: broadcast.expiration.headerValue),
            ], body: broadcast.payload)
    }

    private init(
        server: Server = .management, target: RequestTarget, requestID: APNsID,
        fields: [HeaderField] = [], body: [UInt8] = []
    ) {
        self.server = server
        self.target = target
        self.requestID = requestID
        self.fields = fields
        self.body = body
    }

    private static func channelPath(_ bundleID: BundleID) -> String {
        "/1/apps/\(bundleID)/channels"
    }

    private static func field(_ channel: ChannelID) -> HeaderField {
        HeaderField(name: "apns-channel-id", value: channel.value)
    }

    /// The request with a provider token; without one for a client with a certificate.
    public func wireRequest(providerToken: String?) -> WireRequest {
        var all: [HeaderField] = []
        if let providerToken {
            all.append(HeaderField(name: "authorization", value: "bearer " + providerToken))
        }
        all.append(HeaderField(name: "apns-request-id", value: requestID.description))
        return WireRequest(
            to: nil, sharedHeaders: SharedHeaders(all + fields, target: target), body: body)
    }
}
