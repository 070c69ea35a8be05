// SPDX-License-Identifier: Apache-2.0

/// A service that forwards to APNs, identified by the member names of its requests.
/// ``DocumentReader`` converts such a request to the push that reaches APNs.
struct Wrapper: Sendable {
    /// The conversion of a request to pushes.
    enum Form: Sendable {
        /// Firebase Cloud Messaging, HTTP v1: `apns.payload` and `apns.headers`, with the
        /// notification and the data merged into the payload.
        case firebase
        /// Firebase's former HTTP API.
        case formerFirebase
        /// One member per platform, whose value is a payload, usually in a string.
        case platforms([String: String?])
        /// Templates of Azure Notification Hubs, each with a body.
        case templates
        /// PubNub: the payload with the headers in `pn_push` beside `aps`.
        case pubNub
        /// OneSignal: other names for all members.
        case oneSignal
        /// A request to a Rouse gateway, which adds the headers.
        case gateway
        /// gorush: a list of notifications with names of its own.
        case gorush
        /// Expo: the parts of the notification beside the recipient.
        case expo
        /// Braze: a part for each platform in `messages`.
        case braze
        /// A payload in a member.
        case fragment
    }

    /// The names of members all of which must be present.
    let all: [String]
    /// The names of members one of which must be present.
    let any: [String]
    let form: Form
    /// Whether a request in a file that was not given by name is checked too.
    let isUnmistakable: Bool

    /// Whether an object with these names can be such a request.
    func fits(_ names: Set<String>) -> Bool {
        all.allSatisfy(names.contains) && any.contains(where: names.contains)
    }

    /// All services, the most specific first.
    static let all: [Wrapper] = [
        Wrapper(
            all: ["app", "kind", "payload"], any: ["device_token", "device_tokens", "user"],
            form: .gateway, isUnmistakable: true),
        Wrapper(
            all: [], any: Array(platformTypes.keys), form: .platforms(platformTypes),
            isUnmistakable: true),
        Wrapper(all: ["GCM"], any: ["GCM"], form: .platforms([:]), isUnmistakable: false),
        Wrapper(
            all: ["templates", "platform"], any: ["installationId", "pushChannel"],
            form: .templates, isUnmistakable: true),
        Wrapper(all: ["pn_apns"], any: ["pn_apns"], form: .pubNub, isUnmistakable: true),
        Wrapper(
            all: ["app_id"],
            any: [
                "contents", "headings", "content_available", "template_id",
                "apns_push_type_override", "included_segments", "include_player_ids",
                "include_subscription_ids", "include_aliases", "include_external_user_ids",
            ], form: .oneSignal, isUnmistakable: true),
        Wrapper(
            all: ["notifications"], any: ["notifications"], form: .gorush, isUnmistakable: true),
        Wrapper(
            all: ["tokens", "platform"],
            any: ["content_available", "mutable_content", "push_type"], form: .gorush,
            isUnmistakable: false),
        Wrapper(
            all: ["messages"],
            any: [
                "broadcast", "external_user_ids", "user_aliases", "segment_id", "audience",
                "campaign_id",
            ], form: .braze, isUnmistakable: true),
        Wrapper(all: ["apns"], any: ["apns"], form: .firebase, isUnmistakable: true),
        Wrapper(all: ["to"], any: ["to"], form: .expo, isUnmistakable: true),
        // Pusher Beams, reference of "Publish to interests": `apns` is the payload.
        Wrapper(
            all: ["apns", "interests"], any: ["interests"], form: .platforms(["apns": nil]),
            isUnmistakable: true),
        Wrapper(
            all: [], any: ["to", "registration_ids"], form: .formerFirebase, isUnmistakable: false),
        Wrapper(
            all: ["condition"],
            any: [
                "priority", "content_available", "mutable_content", "time_to_live", "collapse_key",
            ], form: .formerFirebase, isUnmistakable: false),
        Wrapper(
            all: ["notification"], any: ["token", "topic", "condition", "android", "webpush"],
            form: .firebase, isUnmistakable: false),
        Wrapper(
            all: ["token"], any: ["android", "webpush"], form: .firebase, isUnmistakable: false),
        Wrapper(
            all: ["data"], any: ["token", "topic", "condition"], form: .firebase,
            isUnmistakable: false),
        Wrapper(all: ["payload"], any: ["payload"], form: .fragment, isUnmistakable: false),
    ]

    /// The members for APNs of an Amazon SNS message, and the push type of each.
    static let platformTypes: [String: String?] = [
        "APNS": nil, "APNS_SANDBOX": nil, "APNS_VOIP": "voip", "APNS_VOIP_SANDBOX": "voip",
        "MACOS": nil, "MACOS_SANDBOX": nil,
    ]

    /// OneSignal's names for members of `aps`, and whether the value is an object of languages.
    static let oneSignalKeys: [(name: String, key: String)] = [
        ("ios_sound", "sound"), ("ios_category", "category"), ("thread_id", "thread-id"),
        ("ios_interruption_level", "interruption-level"),
        ("ios_relevance_score", "relevance-score"),
        ("target_content_identifier", "target-content-id"),
    ]

    /// Long names of members of OneSignal's requests, which are recognised with a typing error.
    static let oneSignalNames = [
        "apns_push_type_override", "included_segments", "excluded_segments", "include_aliases",
        "include_player_ids", "include_subscription_ids", "include_external_user_ids",
        "include_ios_tokens", "channel_for_external_user_ids", "target_channel", "collapse_id",
        "ios_badgeType", "ios_badgeCount", "ios_attachments", "ios_category", "template_id",
        "ios_interruption_level", "ios_relevance_score", "target_content_identifier",
        "delayed_option", "delivery_time_of_day", "send_after", "custom_data", "external_id",
        "include_email_tokens", "include_phone_numbers", "include_android_reg_ids",
        "idempotency_key", "throttle_rate_per_minute", "enable_frequency_cap",
    ]

    /// Whether headers with these names are of a request to Azure Notification Hubs.
    static func isForAzure(_ names: [String]) -> Bool {
        let names = names.map { $0.lowercased() }
        return names.contains("servicebusnotification-format")
            || names.contains { $0.hasPrefix("x-apns-") }
                && !names.contains { $0.hasPrefix("apns-") }
    }

    /// Apple's name for a header in requests to Azure Notification Hubs, in lower case.
    static func appleName(ofAzureHeader name: String) -> String {
        let name = name.lowercased()
        return name.hasPrefix("x-apns-") ? String(name.dropFirst(2)) : name
    }

    /// gorush's names for members of `aps`.
    static let gorushKeys: [(name: String, key: String)] = [
        ("badge", "badge"), ("sound", "sound"), ("category", "category"),
        ("thread-id", "thread-id"), ("interruption_level", "interruption-level"),
        ("content-state", "content-state"), ("event", "event"), ("timestamp", "timestamp"),
        ("stale-date", "stale-date"), ("dismissal-date", "dismissal-date"),
    ]

    /// Member names for the recipient in requests of many services. The conversion by an unknown
    /// service is unknown.
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

    /// Member names for device tokens beside a payload.
    static let deviceTokens = [
        "deviceToken", "device_token", "deviceTokens", "device_tokens", "pushToken", "push_token",
    ]

    /// The member names by which services call a payload for APNs: Pushwoosh, "Create message".
    static let payloadNames: Set<String> = ["ios_root_params"]

    /// Values and member names for a platform, in requests of services for several platforms.
    static let platforms: Set<String> = [
        "apns", "apn", "fcm", "gcm", "ios", "android", "hms", "huawei", "xiaomi", "oppo", "vivo",
        "webpush",
    ]

    /// Apple's keys by which a payload without `aps` is recognised, in lower case only.
    static let appleKeys: Set<String> = [
        "alert", "badge", "sound", "contentavailable", "mutablecontent", "interruptionlevel",
        "relevancescore",
    ]

    /// Member names for data in requests of services for several platforms.
    static let bodies: Set<String> = ["data", "payload", "extra", "extras"]

    /// Member names for texts beside ``bodies`` in such requests.
    static let texts: Set<String> = ["title", "message", "body", "alert"]

    /// The names of Amazon SNS message attributes for headers, without their prefix.
    static let attributes = [
        ("PUSH_TYPE", "apns-push-type"), ("PRIORITY", "apns-priority"), ("TOPIC", "apns-topic"),
        ("COLLAPSE_ID", "apns-collapse-id"),
    ]
}
