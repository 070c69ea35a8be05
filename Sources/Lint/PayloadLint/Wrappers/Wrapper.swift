// SPDX-License-Identifier: Apache-2.0

/// A service in front of APNs that takes requests of its own, by the names in them: data for
/// ``DocumentReader``, which makes of a request what reaches APNs.
struct Wrapper: Sendable {
    /// How a service's request becomes pushes.
    enum Form: Sendable {
        /// Firebase Cloud Messaging, HTTP v1: `apns.payload` and `apns.headers`, the notification
        /// and the data merged into the payload.
        case firebase
        /// The requests of Firebase's former HTTP API.
        case formerFirebase
        /// One member for each platform, whose value is a payload, mostly as the text of a string.
        case platforms([String: String?])
        /// Templates of Azure Notification Hubs, each with a body.
        case templates
        /// PubNub: the payload with the headers in `pn_push` beside `aps`.
        case pubNub
        /// OneSignal: names of its own for everything.
        case oneSignal
        /// A request to Rouse's gateway, which adds the headers.
        case gateway
        /// A payload by itself, in a member.
        case fragment
    }

    /// Names of members of which each has to be there.
    let all: [String]
    /// Names of members of which one has to be there.
    let any: [String]
    let form: Form
    /// Whether a request that nobody named is judged too.
    let isUnmistakable: Bool

    /// Whether an object with these names can be such a request.
    func fits(_ names: Set<String>) -> Bool {
        all.allSatisfy(names.contains) && any.contains(where: names.contains)
    }

    /// All services, the most particular one first.
    static let all: [Wrapper] = [
        Wrapper(
            all: ["app", "kind", "payload"], any: ["device_token", "device_tokens", "user"],
            form: .gateway, isUnmistakable: true),
        Wrapper(
            all: [], any: Array(platformTypes.keys), form: .platforms(platformTypes),
            isUnmistakable: true),
        Wrapper(
            all: ["templates", "platform"], any: ["installationId", "pushChannel"],
            form: .templates, isUnmistakable: true),
        Wrapper(all: ["pn_apns"], any: ["pn_apns"], form: .pubNub, isUnmistakable: true),
        Wrapper(
            all: ["app_id"],
            any: [
                "contents", "headings", "content_available", "template_id",
                "apns_push_type_override",
            ], form: .oneSignal, isUnmistakable: true),
        Wrapper(all: ["apns"], any: ["apns"], form: .firebase, isUnmistakable: true),
        Wrapper(
            all: ["notification"], any: ["token", "topic", "condition", "android", "webpush"],
            form: .firebase, isUnmistakable: false),
        Wrapper(
            all: ["token"], any: ["android", "webpush"], form: .firebase, isUnmistakable: false),
        Wrapper(
            all: ["data"], any: ["token", "topic", "condition"], form: .firebase,
            isUnmistakable: false),
        Wrapper(
            all: [], any: ["to", "registration_ids"], form: .formerFirebase, isUnmistakable: false),
        Wrapper(all: ["payload"], any: ["payload"], form: .fragment, isUnmistakable: false),
    ]

    /// The members of Amazon SNS's messages that go to APNs, and the push type that each implies.
    private static let platformTypes: [String: String?] = [
        "APNS": nil, "APNS_SANDBOX": nil, "APNS_VOIP": "voip", "APNS_VOIP_SANDBOX": "voip",
        "MACOS": nil, "MACOS_SANDBOX": nil,
    ]

    /// OneSignal's names for what stands in `aps`, and whether the value has languages.
    static let oneSignalKeys: [(name: String, key: String)] = [
        ("ios_sound", "sound"), ("ios_category", "category"), ("thread_id", "thread-id"),
        ("ios_interruption_level", "interruption-level"),
        ("ios_relevance_score", "relevance-score"),
        ("target_content_identifier", "target-content-id"),
    ]

    /// Names by which requests of many services say to whom or what they send. What such a service
    /// makes of its request is not known here.
    static let addresses: Set<String> = [
        "to", "channels", "where", "notification", "messages", "tokens", "device_tokens",
        "deviceTokens", "registration_ids", "recipient", "recipients", "audience", "interests",
        "external_user_ids", "include_player_ids", "include_aliases", "included_segments",
        "device_types", "platforms", "Addresses", "MessageConfiguration", "notifications",
        "apple_push", "n_content", "criteria", "target", "targets", "targeting", "users",
        "userIds", "user_ids", "subscribers", "segments", "devices", "deviceIds", "device_ids",
        "deviceToken", "device_token", "pushToken", "push_token", "fcmToken", "fcm_token",
        "registrationIds", "registrationTokens",
    ]

    /// Values, and names of members, by which requests of services that send to several platforms
    /// name one.
    static let platforms: Set<String> = [
        "apns", "apn", "fcm", "gcm", "ios", "android", "hms", "huawei", "xiaomi", "oppo", "vivo",
        "webpush",
    ]

    /// Apple's keys by which a payload without `aps` is recognised, in small letters alone.
    static let appleKeys: Set<String> = [
        "alert", "badge", "sound", "contentavailable", "mutablecontent", "interruptionlevel",
        "relevancescore",
    ]

    /// Names of objects that services which send to several platforms put beside the texts.
    static let bodies: Set<String> = ["data", "payload", "extra", "extras"]

    /// Names of texts that services which send to several platforms put beside ``bodies``.
    static let texts: Set<String> = ["title", "message", "body", "alert"]

    /// The names of Amazon SNS's message attributes for headers, without their beginning.
    static let attributes = [
        ("PUSH_TYPE", "apns-push-type"), ("PRIORITY", "apns-priority"), ("TOPIC", "apns-topic"),
        ("COLLAPSE_ID", "apns-collapse-id"),
    ]
}
