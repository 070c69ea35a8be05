// SPDX-License-Identifier: Apache-2.0

import WakeModel

/// The body of `POST /v1/wakes`, parsed.
///
/// | Member | Value |
/// |---|---|
/// | `kind` | `background` or `voip` |
/// | `device_token` | hexadecimal |
/// | `app` | the bundle id |
/// | `environment` | `production` or `sandbox`; may be left out when the app has only one |
/// | `payload` | a JSON object, sent on byte for byte |
/// | `ttl_seconds` | whole seconds from now, 0 for one attempt at once |
/// | `expires_at` | instead of it: RFC 3339 |
/// | `collapse_id` | up to 64 bytes |
struct WakeBody {
    /// The longest life that a request may ask for, in seconds: 30 days.
    static let maximumLifeSeconds: Int64 = 2_592_000

    private static let names: Set<String> = [
        "kind", "device_token", "app", "environment", "payload", "ttl_seconds", "expires_at",
        "collapse_id",
    ]

    let request: WakeRequest
    let environment: APNsEnvironment?

    /// Parses a body. Throws ``Problem`` with the codes `malformed-body` and `invalid-field`.
    init(_ text: [UInt8], now: WallInstant) throws(Problem) {
        let members = try Members(parsing: text)
        do throws(InvalidField) {
            try members.check(names: Self.names)
            environment = try members.choice("environment")
            let payload = try members.required("payload")
            guard payload.first == UInt8(ascii: "{") else {
                throw InvalidField(
                    field: "payload", problem: "is not a JSON object",
                    remedy: "Give the object itself, not a string that holds it.")
            }
            request = WakeRequest(
                kind: try members.requiredChoice("kind"),
                deviceToken: try DeviceToken(hex: members.requiredString("device_token")),
                bundleID: try BundleID(members.requiredString("app")),
                payload: Array(payload),
                expiration: try Self.expiration(members, now: now),
                collapseID: try Self.collapseID(members))
        } catch {
            throw Problem(error)
        }
    }

    private static func collapseID(_ members: Members) throws(InvalidField) -> CollapseID? {
        guard let value = try members.string("collapse_id") else { return nil }
        return try CollapseID(value)
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
            return .at(instant)
        case (.some, .some):
            throw InvalidField(
                field: "expires_at", problem: "stands beside ttl_seconds",
                remedy: "Give one of the two.")
        }
    }
}
