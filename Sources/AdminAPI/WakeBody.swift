// SPDX-License-Identifier: Apache-2.0

import Foundation
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
        let members: Members
        do throws(JSONMembers.Fault) {
            members = Members(try JSONMembers(text))
        } catch {
            throw Problem(.malformedBody, "\(error.problem), at byte \(error.offset).")
        }
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
        let text = try members.string("expires_at")
        switch (ttl, text) {
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
        case (nil, let text?):
            return .at(try instant(text))
        case (.some, .some):
            throw InvalidField(
                field: "expires_at", problem: "stands beside ttl_seconds",
                remedy: "Give one of the two.")
        }
    }

    private static func instant(_ text: String) throws(InvalidField) -> WallInstant {
        let whole = Date.ISO8601FormatStyle()
        let fractional = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        guard
            let date = (try? Date(text, strategy: whole)) ?? (try? Date(text, strategy: fractional))
        else {
            throw InvalidField(
                field: "expires_at", problem: "is not a time of RFC 3339",
                remedy: "Write it as 2026-11-21T09:34:00Z.")
        }
        return WallInstant(
            millisecondsSinceEpoch: Int64((date.timeIntervalSince1970 * 1000).rounded()))
    }
}
