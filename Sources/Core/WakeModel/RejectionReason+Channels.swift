// SPDX-License-Identifier: Apache-2.0

// The reasons of the broadcast API (facts §3.4): its own, and those that mean something else there.

extension RejectionReason {
    /// The app has no broadcast capability.
    public static let featureNotEnabled = RejectionReason(rawValue: "FeatureNotEnabled")
    /// There is no `apns-channel-id`.
    public static let missingChannelID = RejectionReason(rawValue: "MissingChannelId")
    /// `apns-channel-id` is malformed.
    public static let badChannelID = RejectionReason(rawValue: "BadChannelId")
    /// There is no such channel.
    public static let channelNotRegistered = RejectionReason(rawValue: "ChannelNotRegistered")
    /// The body has a member that is not known.
    public static let badRequestParams = RejectionReason(rawValue: "BadRequestParams")
    /// The body is not JSON.
    public static let badRequestPayload = RejectionReason(rawValue: "BadRequestPayload")
    /// There is no push type.
    public static let missingPushType = RejectionReason(rawValue: "MissingPushType")
    /// The app has all the channels that it may have.
    public static let cannotCreateChannelConfig = RejectionReason(
        rawValue: "CannotCreateChannelConfig")
    /// The certificate is for another app.
    public static let topicMismatch = RejectionReason(rawValue: "TopicMismatch")

    /// The row of this reason where it answers a request about a channel: ``channelTable``, or that
    /// of pushes where it is about the key or the certificate. `nil` for any other: the rows of
    /// pushes say what becomes of a queued push, and no request about a channel is queued.
    public var channelEntry: Entry? {
        Self.channelRows[rawValue] ?? Self.channelRows[rawValue.filter { $0 != " " }]
    }

    /// What to do about this reason where it answers a request about a channel.
    public func channelAdvice(status: Int) -> Advice {
        channelEntry?.advice ?? .forUnknownReason(status: status, ofChannel: true)
    }

    /// The reasons that only the broadcast API gives, or that mean or ask for something else there:
    /// facts §3.4. Reasons and meaning are Apple's ("Handling error responses from Apple Push
    /// Notification service").
    public static let channelTable: [Entry] = [
        row(
            .featureNotEnabled, "Broadcasts are not enabled for this app.",
            "Enable the broadcast capability for the App ID in the developer portal.",
            scope: .topic),
        row(
            .missingChannelID, "There is no apns-channel-id header.",
            "Name the channel in apns-channel-id."),
        row(
            .badChannelID, "The channel id is malformed.",
            "Copy the id as APNs gave it when the channel was made."),
        row(
            .channelNotRegistered,
            "There is no such channel: it was deleted, or belongs to another app or environment.",
            "List the app's channels in this environment, or make the channel."),
        row(
            .badRequestParams, "The body has a member that APNs does not know.",
            "Send message-storage-policy and push-type alone."),
        row(.badRequestPayload, "The body is not JSON of the right form.", "Send a JSON object."),
        row(.payloadEmpty, "The body is empty.", "Send a JSON object."),
        row(.badPriority, "The priority is not 10 or 5.", "Send apns-priority: 10, or 5."),
        row(
            .badMessageID, "The apns-request-id is not a UUID.",
            "Write apns-request-id as a lower-case UUID, or leave it out."),
        row(
            .missingPushType, "There is no push type.",
            "Send apns-push-type: liveactivity, or push-type LiveActivity in the body."),
        row(
            .invalidPushType, "Channels are for Live Activities only.",
            "Send apns-push-type: liveactivity, or push-type LiveActivity in the body."),
        row(
            .cannotCreateChannelConfig,
            "The app has as many channels as it may have: 10 000 in each environment.",
            "Delete the channels of events that are over."),
        row(
            .badExpirationDate,
            "The expiration is no time in epoch seconds, or not 0 for a channel that stores "
                + "nothing.",
            "Write apns-expiration as absolute seconds since 1970; 0 for a channel without "
                + "storage."),
        row(
            .topicDisallowed,
            "This key may not be used for the app, or the bundle id has a suffix.",
            "Give the bundle id without a suffix, and check what the key is restricted to.",
            scope: .topic),
        row(
            .topicMismatch, "The certificate is for another app.",
            "Use the certificate of this app, or a signing key.", status: 403, scope: .key),
        row(
            .badEnvironmentKeyIDInToken, "The key is restricted to the other environment.",
            "Use the key of this environment.", status: 403, scope: .key),
        row(
            .badEnvironmentKeyInToken, "The key is restricted to the other environment.",
            "Use the key of this environment.", status: 403, scope: .key),
        row(
            .badPath, "The request's path is wrong.",
            "Check the bundle id. APNs was seen to answer this for a channel that was deleted "
                + "already.", status: 404),
        row(
            .methodNotAllowed, "The method does not fit the path.",
            "Use POST, GET or DELETE as Apple's page says.", status: 405),
        Entry(
            reason: .payloadTooLarge, status: 413,
            meaning: "The body is over the limit: 5120 bytes for broadcasts.",
            advice: Advice(
                scope: .request, retry: .never, remedy: "Make the content state smaller.")),
        Entry(
            reason: .tooManyRequests, status: 429,
            meaning: "Too many requests for this channel, or too many for the app.",
            advice: Advice(
                scope: .request, retry: .later(.tooManyRequests),
                remedy: "Send less often; Apple speaks of about one update a second and channel.")),
        passing(
            .idleTimeout, 400, "The connection was idle for too long.", .nowOnAnotherConnection,
            "Send the request again; it goes over a new connection."),
        passing(
            .internalServerError, 500, "APNs has an internal fault.", .later(.serviceTrouble),
            "Send the request again, after 15 minutes at the earliest."),
        passing(
            .serviceUnavailable, 503, "APNs is unavailable.", .later(.serviceTrouble),
            "Send the request again, after 15 minutes at the earliest."),
        passing(
            .shutdown, 503, "This APNs server is going down.", .nowOnAnotherConnection,
            "Send the request again; it goes over a new connection."),
    ]

    private static let channelRows: [String: Entry] = Dictionary(
        (channelTable + authenticationRows).map { ($0.reason.rawValue, $0) }
    ) { first, _ in first }

    /// What is no fault of the request's, and goes by.
    private static func passing(
        _ reason: RejectionReason, _ status: Int, _ meaning: String, _ retry: Retry,
        _ remedy: String
    ) -> Entry {
        Entry(
            reason: reason, status: status, meaning: meaning,
            advice: Advice(
                scope: retry == .nowOnAnotherConnection ? .connection : .service, retry: retry,
                remedy: remedy))
    }

    private static func row(
        _ reason: RejectionReason, _ meaning: String, _ remedy: String, status: Int = 400,
        scope: Scope = .request
    ) -> Entry {
        Entry(
            reason: reason, status: status, meaning: meaning,
            advice: Advice(scope: scope, retry: .afterFix, remedy: remedy))
    }
}
