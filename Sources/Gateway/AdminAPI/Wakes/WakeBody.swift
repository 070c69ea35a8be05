// SPDX-License-Identifier: Apache-2.0

import Gateway
import WakeModel

/// The body of `POST /v1/wakes`, and each item of a batch. ``WakeBody/schema`` lists its members.
struct WakeBody {
    private static let names = WakeTerms.names.union(["device_token", "user"])

    /// The recipient of a wake.
    enum Target {
        /// One device.
        case device(DeviceToken)
        /// All devices of a user.
        case user(UserID)
    }

    let terms: WakeTerms
    let target: Target

    /// Parses a body. Throws ``Problem`` with the codes `malformed-body` and `invalid-field`.
    init(_ text: [UInt8], now: WallInstant) throws(Problem) {
        let members = try Members(parsing: text)
        do throws(InvalidField) {
            guard !members.has("device_tokens") else {
                throw InvalidField(
                    field: "device_tokens", problem: "is not for a single wake",
                    remedy: "Send the same body to /v1/wakes/multicast.")
            }
            try members.check(names: Self.names)
            terms = try WakeTerms(members, now: now)
            if let user = try members.string("user") {
                guard !members.has("device_token") else {
                    throw InvalidField(
                        field: "user", problem: "is given together with device_token",
                        remedy: "Give one of the two.")
                }
                target = .user(try UserID(user))
            } else {
                target = .device(try members.requiredDeviceToken(orInstead: "user"))
            }
        } catch {
            throw Problem(error)
        }
    }

    /// The schema in the OpenAPI document.
    static var schema: Schema {
        WakeTerms.schema(
            devices: [
                .optional("device_token", deviceTokenSchema), .optional("user", userSchema),
            ], rules: [.exactlyOne(["device_token", "user"])],
            more: [
                .optional(
                    "spread_seconds",
                    .integer(
                        "It leaves at some time within so many seconds, so that many requests do "
                            + "not wake all devices at once. Calls are not spread. Not in an item "
                            + "of a batch, which has spread in its query.",
                        in: 0...WakeTerms.maximumSpreadSeconds))
            ])
    }

    /// The schema of a device token.
    static var deviceTokenSchema: Schema {
        .string(
            "In hexadecimal, with spaces and brackets as old code prints it; for VoIP the token of "
                + "PushKit.",
            pattern: "^ *<?( *[0-9A-Fa-f] *[0-9A-Fa-f] *){1,256}>? *$")
    }

    /// The schema of a user.
    static var userSchema: Schema {
        .string(
            "Your own id of a user: printable text without white space at its ends, up to "
                + "\(UserID.maximumByteCount) bytes in UTF-8.",
            pattern: userPattern, length: 1...UserID.maximumByteCount, example: "u-123")
    }

    private static let userPattern =
        #"^[^\s\x00-\x1f\x7f-\x9f]([^\x00-\x1f\x7f-\x9f\u2028\u2029]*[^\s\x00-\x1f\x7f-\x9f])?$"#

    /// The schema of a `ref`, the caller's own name of a wake.
    static var refSchema: Schema {
        .string(
            "Your own name of the wake. Put it into the payload too, and a receipt can name it.",
            pattern: "^[A-Za-z0-9._-]{1,\(WakeRef.maximumCount)}$")
    }
}
