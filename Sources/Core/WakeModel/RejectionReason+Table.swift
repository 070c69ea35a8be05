// SPDX-License-Identifier: Apache-2.0

extension RejectionReason {
    /// `apns-collapse-id` is too long.
    public static let badCollapseID = RejectionReason(rawValue: "BadCollapseId")
    /// The device token is malformed, or belongs to the other environment.
    public static let badDeviceToken = RejectionReason(rawValue: "BadDeviceToken")
    /// `apns-expiration` is bad.
    public static let badExpirationDate = RejectionReason(rawValue: "BadExpirationDate")
    /// `apns-id` is bad.
    public static let badMessageID = RejectionReason(rawValue: "BadMessageId")
    /// `apns-priority` is bad.
    public static let badPriority = RejectionReason(rawValue: "BadPriority")
    /// `apns-topic` is bad.
    public static let badTopic = RejectionReason(rawValue: "BadTopic")
    /// The device token belongs to another topic.
    public static let deviceTokenNotForTopic = RejectionReason(rawValue: "DeviceTokenNotForTopic")
    /// The request has a header twice.
    public static let duplicateHeaders = RejectionReason(rawValue: "DuplicateHeaders")
    /// The connection was idle for too long.
    public static let idleTimeout = RejectionReason(rawValue: "IdleTimeout")
    /// `apns-push-type` is bad.
    public static let invalidPushType = RejectionReason(rawValue: "InvalidPushType")
    /// The path holds no device token.
    public static let missingDeviceToken = RejectionReason(rawValue: "MissingDeviceToken")
    /// There is no `apns-topic`.
    public static let missingTopic = RejectionReason(rawValue: "MissingTopic")
    /// The body is empty.
    public static let payloadEmpty = RejectionReason(rawValue: "PayloadEmpty")
    /// Pushes to this topic are not permitted.
    public static let topicDisallowed = RejectionReason(rawValue: "TopicDisallowed")
    /// The client certificate is bad.
    public static let badCertificate = RejectionReason(rawValue: "BadCertificate")
    /// The client certificate belongs to the other environment.
    public static let badCertificateEnvironment = RejectionReason(
        rawValue: "BadCertificateEnvironment")
    /// The provider token is over an hour old.
    public static let expiredProviderToken = RejectionReason(rawValue: "ExpiredProviderToken")
    /// The action is not allowed.
    public static let forbidden = RejectionReason(rawValue: "Forbidden")
    /// The provider token cannot be verified.
    public static let invalidProviderToken = RejectionReason(rawValue: "InvalidProviderToken")
    /// Neither a certificate nor a provider token was given.
    public static let missingProviderToken = RejectionReason(rawValue: "MissingProviderToken")
    /// The key is not related to the connection's first one.
    public static let unrelatedKeyIDInToken = RejectionReason(rawValue: "UnrelatedKeyIdInToken")
    /// The key is restricted to the other environment, as Apple's page spells it.
    public static let badEnvironmentKeyIDInToken = RejectionReason(
        rawValue: "BadEnvironmentKeyIdInToken")
    /// The key is restricted to the other environment, as APNs is seen to spell it.
    public static let badEnvironmentKeyInToken = RejectionReason(
        rawValue: "BadEnvironmentKeyInToken")
    /// The request's path is bad.
    public static let badPath = RejectionReason(rawValue: "BadPath")
    /// The method is not `POST`.
    public static let methodNotAllowed = RejectionReason(rawValue: "MethodNotAllowed")
    /// The device token expired.
    public static let expiredToken = RejectionReason(rawValue: "ExpiredToken")
    /// The device token is inactive for the topic.
    public static let unregistered = RejectionReason(rawValue: "Unregistered")
    /// The body is over its type's limit.
    public static let payloadTooLarge = RejectionReason(rawValue: "PayloadTooLarge")
    /// The provider token is changed too often.
    public static let tooManyProviderTokenUpdates = RejectionReason(
        rawValue: "TooManyProviderTokenUpdates")
    /// Too many pushes to one device token.
    public static let tooManyRequests = RejectionReason(rawValue: "TooManyRequests")
    /// APNs has an internal fault.
    public static let internalServerError = RejectionReason(rawValue: "InternalServerError")
    /// APNs is unavailable.
    public static let serviceUnavailable = RejectionReason(rawValue: "ServiceUnavailable")
    /// The server is going down.
    public static let shutdown = RejectionReason(rawValue: "Shutdown")

    /// The one table of what APNs' reasons mean and what follows from each: facts §3.3. The
    /// reason and meaning are Apple's ("Handling notification responses from APNs"), as are the
    /// never-retry set and the 15 minutes of 5xx; the rest of the policy is Rouse's.
    public static let table: [Entry] = requestRows + deviceRows + authenticationRows + serviceRows

    /// The table by reason, for lookups, with what only the broadcast API answers.
    static let rows: [String: Entry] = Dictionary(
        (table + channelTable).map { ($0.reason.rawValue, $0) }
    ) { first, _ in first }

    private static let requestRows: [Entry] = [
        fix(.badCollapseID, "The collapse id is over 64 bytes.", "Shorten apns-collapse-id."),
        fix(
            .badExpirationDate, "The expiration is not a time in epoch seconds.",
            "Write apns-expiration as absolute seconds since 1970, or 0."),
        fix(
            .badMessageID, "The apns-id is not a UUID.",
            "Write apns-id as a lower-case UUID, or leave it out."),
        fix(.badPriority, "The priority is not 10, 5 or 1.", "Use 5 for background, 10 for VoIP."),
        fix(
            .badTopic, "The topic is malformed.",
            "Use the app's bundle id plus the push type's suffix.", scope: .topic),
        fix(.duplicateHeaders, "The request has a header twice.", "Write each header once."),
        fix(
            .invalidPushType, "The push type is unknown to APNs.",
            "Use one of the documented values of apns-push-type."),
        fix(
            .missingDeviceToken, "The path holds no device token.",
            "Write the token behind /3/device/."),
        fix(
            .missingTopic, "There is no apns-topic header.",
            "Send apns-topic: bundle id plus the push type's suffix."),
        fix(.payloadEmpty, "The body is empty.", "Send a JSON object."),
        fix(
            .topicDisallowed,
            "This key or certificate may not push to this topic, or the topic's suffix does not "
                + "fit the push type.",
            "Check the bundle id, its suffix and the topics that the key is restricted to.",
            scope: .topic),
        fix(.badPath, "The request's path is wrong.", "Use /3/device/<token>.", status: 404),
        fix(.methodNotAllowed, "The method is not POST.", "Use POST.", status: 405),
        Entry(
            reason: .payloadTooLarge, status: 413,
            meaning: "The body is over the limit: 5120 bytes for VoIP, 4096 for all others.",
            advice: Advice(
                scope: .request, retry: .never,
                remedy: "Make the payload smaller; send a hint and let the app fetch the rest.")),
    ]

    private static let deviceRows: [Entry] = [
        Entry(
            reason: .badDeviceToken, status: 400,
            meaning: "The device token is malformed, or it belongs to the other environment.",
            advice: Advice(
                scope: .device, retry: .never, deviceToken: .suspectEnvironment,
                remedy: "Try the other environment once (rouse probe); delete the token only if "
                    + "both refuse it.")),
        Entry(
            reason: .deviceTokenNotForTopic, status: 400,
            meaning: "The device token was issued for another topic.",
            advice: Advice(
                scope: .deviceForTopic, retry: .never, deviceToken: .deadForTopic,
                remedy: "Check the bundle id, and whether VoIP and ordinary tokens got mixed.")),
        Entry(
            reason: .expiredToken, status: 410, meaning: "The device token expired.",
            advice: Advice(
                scope: .device, retry: .never, deviceToken: .deadUnlessRegisteredSince,
                remedy: "Stop sending to it, unless the app registered it after the timestamp.")),
        Entry(
            reason: .unregistered, status: 410,
            meaning: "The device token is no longer active for the topic.",
            advice: Advice(
                scope: .deviceForTopic, retry: .never, deviceToken: .deadUnlessRegisteredSince,
                remedy: "Stop sending to it, unless the app registered it after the timestamp.")),
        Entry(
            reason: .tooManyRequests, status: 429,
            meaning: "Too many pushes in a row went to this device token.",
            advice: Advice(
                scope: .device, retry: .later(.tooManyRequests),
                remedy: "Send less often to this device; other devices are not affected.")),
    ]

    /// What is about the key or the certificate, of a push and of a request about a channel.
    static let authenticationRows: [Entry] = [
        authentication(
            .badCertificate, "The client certificate is bad.",
            "Renew the push certificate; nothing is sent until then."),
        authentication(
            .badCertificateEnvironment, "The client certificate is for the other environment.",
            "Use the certificate or the host of the right environment."),
        Entry(
            reason: .expiredProviderToken, status: 403,
            meaning: "The provider token was signed over an hour ago, or in the future.",
            advice: Advice(
                scope: .providerToken, retry: .onceWithNewProviderToken, renewsProviderToken: true,
                remedy: "Check this machine's clock, and sign a new token; the gateway does so "
                    + "once by itself.")),
        Entry(
            reason: .forbidden, status: 403, meaning: "The action is not allowed.",
            advice: Advice(
                scope: .key, retry: .never,
                remedy: "Check what the key or the certificate may do.")),
        authentication(
            .invalidProviderToken,
            "The provider token cannot be verified: wrong key id, team id or key, or a second "
                + "team on this connection.",
            "Check key id, team id and key file (rouse token --verify)."),
        // A client that sends no token with one push sends none with the next, so the fault is the
        // key's rather than this request's.
        authentication(
            .missingProviderToken, "Neither a provider token nor a certificate was given.",
            "Configure a key or a certificate."),
        Entry(
            reason: .unrelatedKeyIDInToken, status: 403,
            meaning: "The key is not related to the one that this connection began with.",
            advice: Advice(
                scope: .connection, retry: .nowOnAnotherConnection,
                remedy: "Use a connection of its own for each key.")),
        authentication(
            .badEnvironmentKeyIDInToken, "The key is restricted to the other environment.",
            "Use the key of this environment; the device token is not affected."),
        authentication(
            .badEnvironmentKeyInToken, "The key is restricted to the other environment.",
            "Use the key of this environment; the device token is not affected."),
        Entry(
            reason: .tooManyProviderTokenUpdates, status: 429,
            meaning: "The provider token was changed more often than every 20 minutes.",
            advice: Advice(
                scope: .providerToken, retry: .later(.tokenUpdates),
                remedy: "Keep the old token; share one token for each key among all processes.")),
    ]

    private static let serviceRows: [Entry] = [
        Entry(
            reason: .idleTimeout, status: 400, meaning: "The connection was idle for too long.",
            advice: Advice(
                scope: .connection, retry: .nowOnAnotherConnection,
                remedy: "Send it again over a new connection; the gateway does so by itself.")),
        Entry(
            reason: .internalServerError, status: 500, meaning: "APNs has an internal fault.",
            advice: Advice(
                scope: .service, retry: .later(.serviceTrouble),
                remedy: "It may be sent again after 15 minutes; the gateway does so by itself.")),
        Entry(
            reason: .serviceUnavailable, status: 503, meaning: "APNs is unavailable.",
            advice: Advice(
                scope: .service, retry: .later(.serviceTrouble),
                remedy: "It may be sent again after 15 minutes; the gateway does so by itself.")),
        Entry(
            reason: .shutdown, status: 503, meaning: "This APNs server is going down.",
            advice: Advice(
                scope: .connection, retry: .nowOnAnotherConnection,
                remedy: "Send it again over a new connection; the gateway does so by itself.")),
    ]

    private static func fix(
        _ reason: RejectionReason, _ meaning: String, _ remedy: String, status: Int = 400,
        scope: Scope = .request
    ) -> Entry {
        Entry(
            reason: reason, status: status, meaning: meaning,
            advice: Advice(scope: scope, retry: .afterFix, remedy: remedy))
    }

    private static func authentication(
        _ reason: RejectionReason, _ meaning: String, _ remedy: String
    ) -> Entry {
        Entry(
            reason: reason, status: 403, meaning: meaning,
            advice: Advice(scope: .key, retry: .afterFix, remedy: remedy))
    }
}
