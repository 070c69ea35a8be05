// SPDX-License-Identifier: Apache-2.0

import Gateway
import PayloadRules
import WakeBudget
import WakeModel

/// The members of a request for wakes, except those that name the recipient: part of a
/// ``WakeBody``, and shared by all wakes of a ``MulticastBody``.
struct WakeTerms {
    /// The maximum of `ttl_seconds`: 30 days.
    static let maximumLifeSeconds: Int64 = 2_592_000
    /// The maximum of `spread_seconds` and of `spread`: a day.
    static let maximumSpreadSeconds: Int64 = 86_400

    /// The names of the members.
    static let names: Set<String> = [
        "kind", "app", "topic", "environment", "payload", "ttl_seconds",
        "expires_at", "urgency", "coalescing", "collapse_id", "priority", "ref", "spread_seconds",
    ]

    /// The members for the budget, which only background wakes have.
    private static let backgroundNames = ["urgency", "coalescing"]
    private static let notOfOthers: [Schema.Member] = backgroundNames.map {
        .optional($0, .nothing)
    }

    let kind: WakeKind
    let bundleID: BundleID
    /// The member that names the app: `app` or `topic`.
    let appField: String
    /// The payload, byte for byte.
    let payload: [UInt8]
    let expiration: Expiration?
    let collapseID: CollapseID?
    let priority: Priority?
    let environment: APNsEnvironment?
    let options: WakeOptions
    /// Whether the expiration was given as `ttl_seconds`; see `Inquiry.hasLifetime`.
    let hasLifetime: Bool
    /// The value of `spread_seconds`; `nil` when it is missing.
    let spreadSeconds: Int?

    /// Reads the terms from the members of a body.
    init(_ members: Members, now: WallInstant) throws(InvalidField) {
        environment = try members.choice("environment")
        var options = WakeOptions()
        if let urgency = try members.choice("urgency", UrgencyWord.self) {
            options.urgency = urgency.urgency
        }
        if let coalescing = try members.choice("coalescing", CoalescingWord.self) {
            options.coalescing = coalescing.coalescing
        }
        options.ref = try members.string("ref").map { (text) throws(InvalidField) in
            try WakeRef(text)
        }
        self.options = options
        hasLifetime = members.has("ttl_seconds")
        spreadSeconds = try members.integer(
            "spread_seconds", in: 0...Self.maximumSpreadSeconds
        ).map { Int($0) }
        let payload = try members.required("payload")
        guard payload.first == UInt8(ascii: "{") else {
            throw InvalidField(
                field: "payload", problem: "is not a JSON object",
                remedy: "Give the object itself, not a string that holds it.")
        }
        self.payload = Array(payload)
        appField = members.has("topic") ? "topic" : "app"
        kind = try members.requiredChoice("kind")
        if kind != .background {
            for name in Self.backgroundNames where members.has(name) {
                throw InvalidField(
                    field: name,
                    problem: "is for background wakes, and this one is of kind \(kind)",
                    remedy: "Leave it out.")
            }
        }
        bundleID = try Self.bundleID(members, kind)
        expiration = try Self.expiration(members, now: now)
        collapseID = try Self.collapseID(members)
        priority = try Self.priority(members, kind)
    }

    /// The gateway's inquiry for a device with these terms.
    func inquiry(to device: DeviceToken, _ mark: IdempotencyKey?) -> Inquiry {
        let request = WakeRequest(
            kind: kind, deviceToken: device, bundleID: bundleID, payload: payload,
            expiration: expiration, collapseID: collapseID)
        // Does not throw: `init` has checked that the kind allows the priority.
        return Inquiry(
            (try? request.prioritized(priority)) ?? request, environment: environment,
            options: options, idempotency: mark, hasLifetime: hasLifetime)
    }

    /// The bundle id in `app`, or the one in `topic` without the suffix of the kind.
    private static func bundleID(
        _ members: Members, _ kind: WakeKind
    ) throws(InvalidField) -> BundleID {
        guard let topic = try members.string("topic") else {
            let text = try members.requiredString("app")
            return try naming("app") { () throws(InvalidField) in try BundleID(text) }
        }
        guard !members.has("app") else {
            throw InvalidField(
                field: "topic", problem: "is given together with app",
                remedy: "Give one of the two.")
        }
        let suffix = kind.pushType.topicSuffix
        guard topic.hasSuffix(suffix) else {
            throw InvalidField(
                field: "topic",
                problem: "is not one of \(kind == .voip ? "VoIP" : "\(kind)") pushes",
                remedy: "Give the bundle id with \(suffix) behind it, or app without it.")
        }
        let others = PushType.all.map(\.topicSuffix).filter { !$0.isEmpty }
        if suffix.isEmpty, let other = others.first(where: { topic.hasSuffix($0) }) {
            throw InvalidField(
                field: "topic", problem: "ends in \(other), and a topic of \(kind) pushes does not",
                remedy: "Give the bundle id, or the kind that the topic belongs to.")
        }
        return try naming("topic") { () throws(InvalidField) in
            try BundleID(String(topic.dropLast(suffix.count)))
        }
    }

    private static func collapseID(_ members: Members) throws(InvalidField) -> CollapseID? {
        guard let value = try members.string("collapse_id") else { return nil }
        return try naming("collapse_id") { () throws(InvalidField) in try CollapseID(value) }
    }

    private static func priority(
        _ members: Members, _ kind: WakeKind
    ) throws(InvalidField) -> Priority? {
        guard let number = try members.integer("priority") else { return nil }
        guard let priority = UInt8(exactly: number).flatMap(Priority.init(rawValue:)) else {
            let allowed = kind.allowedPriorities.map { "\($0.rawValue)" }
            throw InvalidField(
                field: "priority",
                problem: "is \(number), which is no priority of \(kind) pushes",
                remedy: "Leave it out, or use \(allowed.joined(separator: " or ")).")
        }
        try kind.check(priority)
        return priority
    }

    private static func expiration(
        _ members: Members, now: WallInstant
    ) throws(InvalidField) -> Expiration? {
        let ttl = try members.integer("ttl_seconds")
        let instant = try members.instant("expires_at")
        switch (ttl, instant) {
        case (nil, nil):
            return nil
        case (0, nil):
            return .immediately
        case (let ttl?, nil):
            guard (1...maximumLifeSeconds).contains(ttl) else {
                throw InvalidField(
                    field: "ttl_seconds", problem: "is not between 0 and \(maximumLifeSeconds)",
                    remedy: "Give seconds from now, not a point of time.")
            }
            return .at(now.advanced(bySeconds: ttl))
        case (nil, let instant?):
            let year = try members.string("expires_at").flatMap { Int($0.prefix(4)) }
            guard let year, expirationYears.contains(year) else {
                throw InvalidField(
                    field: "expires_at",
                    problem: "is not in the years \(expirationYears.lowerBound) to "
                        + "\(expirationYears.upperBound)",
                    remedy: "Write the time until which it is worth anything, such as "
                        + "2026-11-21T09:34:00Z.")
            }
            return .at(instant)
        case (.some, .some):
            throw InvalidField(
                field: "expires_at", problem: "is given together with ttl_seconds",
                remedy: "Give one of the two.")
        }
    }
}

extension WakeTerms {
    /// The schema in the OpenAPI document of a body with these members, those that name its
    /// recipients, and `more`.
    static func schema(
        devices: [Schema.Member], rules: [Schema.Rule] = [], more: [Schema.Member] = []
    ) -> Schema {
        .object(
            [
                .required("kind", .words(of: WakeKind.self))
            ] + devices + [
                .optional("app", .bundleID("The bundle id, without any suffix.")),
                .optional(
                    "topic", .string("Instead: the value of apns-topic.", length: 1...topicLength)),
                .optional(
                    "environment",
                    .words(
                        of: APNsEnvironment.self, "Needed where the app is configured for both.")),
                .required(
                    "payload",
                    .anyObject(
                        "Sent on byte for byte: up to \(PushType.voip.maximumPayloadBytes) bytes "
                            + "for voip, \(PushType.background.maximumPayloadBytes) for all others."
                    )),
                .optional(
                    "ttl_seconds",
                    .integer(
                        "Seconds from now, after which it is not sent any more. With 0 APNs makes "
                            + "one attempt and stores nothing; how long the gateway keeps it is "
                            + "as without it.", in: 0...maximumLifeSeconds)
                ),
                .optional(
                    "expires_at",
                    .string(
                        "Instead: until when it is worth anything. From 2002 to 5137: other "
                            + "numbers of seconds since 1970 are mistakes (rules H011 and H012).",
                        format: "date-time", pattern: expirationPattern,
                        example: "2026-11-21T09:34:00.000Z")),
                .optional(
                    "urgency",
                    .words(
                        of: UrgencyWord.self,
                        "Of background wakes, and refused with others; normal by default.")),
                .optional(
                    "coalescing",
                    .words(
                        of: CoalescingWord.self,
                        "Of background wakes, and refused with others: how it merges with a wake "
                            + "that waits; replace by default.")),
                .optional(
                    "priority",
                    .choice(
                        Priority.allCases.map { Int64($0.rawValue) },
                        "The value of apns-priority, where Apple allows several for the kind. By "
                            + "default 5 for \(words(.powerConsiderate)), 10 for others.")),
                .optional(
                    "collapse_id",
                    .string(
                        "Up to 64 bytes in UTF-8, without control characters, and without a space "
                            + "at either end.",
                        pattern:
                            "^[^ \\x00-\\x1f\\x7f]([^\\x00-\\x1f\\x7f]*[^ \\x00-\\x1f\\x7f])?$",
                        length: 1...CollapseID.maximumByteCount)),
                .optional("ref", WakeBody.refSchema),
            ] + more, "Either app or topic must be there, of an app that is configured.",
            rules: [.exactlyOne(["app", "topic"]), .notBoth("ttl_seconds", "expires_at")] + rules,
            variants: [
                [
                    .required("kind", .words([WakeKind.background.rawValue])),
                    .required("payload", .named(.backgroundPayload)),
                    .optional("topic", .bundleID()),
                    .optional("priority", .choice([5])),
                ],
                [
                    .required("kind", .words([WakeKind.voip.rawValue])),
                    .required("payload", .named(.voipPayload)),
                    .optional(
                        "topic",
                        .string(
                            pattern: "^[A-Za-z0-9._-]{1,\(BundleID.maximumByteCount)}\\.voip$")),
                    .optional("priority", .choice([10])),
                ] + notOfOthers,
            ] + WakeKind.allCases.filter { $0.discipline == .plain }.map(variant))
    }

    /// The members that differ for a plain kind.
    private static func variant(_ kind: WakeKind) -> [Schema.Member] {
        let suffix = kind.pushType.topicSuffix.replacing(".", with: "\\.")
        return [
            .required("kind", .words([kind.rawValue])),
            .required(
                "payload", Schema(json: .raw(Array(PayloadSchema.accepted(of: kind).utf8)))),
            .optional(
                "topic",
                suffix.isEmpty
                    ? .bundleID()
                    : .string(
                        pattern: "^[A-Za-z0-9._-]{1,\(BundleID.maximumByteCount)}\(suffix)$")),
            .optional(
                "priority", .choice(kind.allowedPriorities.map { Int64($0.rawValue) })),
        ] + notOfOthers
    }

    /// The kinds with this default priority, separated by commas.
    private static func words(_ priority: Priority) -> String {
        WakeKind.allCases.filter { $0.defaultPriority == priority }.map(\.rawValue)
            .joined(separator: ", ")
    }

    /// The years in which the rules H011 and H012 take seconds since 1970 neither for a span of
    /// time nor for milliseconds.
    private static let expirationYears = 2_002...5_137
    private static let expirationPattern =
        "^(200[2-9]|20[1-9][0-9]|2[1-9][0-9]{2}|[34][0-9]{3}|50[0-9]{2}|51[0-2][0-9]|513[0-7])-"

    /// The length of the longest topic, in characters.
    private static let topicLength =
        BundleID.maximumByteCount
        + (PushType.all.map(\.topicSuffix.utf8.count).max() ?? 0)
}
