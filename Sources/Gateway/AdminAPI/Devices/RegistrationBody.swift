// SPDX-License-Identifier: Apache-2.0

import Gateway
import WakeModel

/// The body of `PUT /v1/devices/{token}/registered`, which reports that iOS gave the app this
/// token, and of `PUT /v1/devices/registered`, which has the token in the body.
struct RegistrationBody {
    let deviceToken: DeviceToken
    let app: String
    let environment: APNsEnvironment?
    let kind: WakeKind
    let at: WallInstant?
    let user: UserChange

    /// Parses a body. Throws ``Problem`` with the codes `malformed-body` and `invalid-field`.
    /// `token` is the device token in the path, if there is one.
    init(_ text: [UInt8], of token: DeviceToken?) throws(Problem) {
        let members = try Members(parsing: text)
        do throws(InvalidField) {
            try members.check(
                names: Set(token == nil ? ["device_token"] : [])
                    .union(["app", "environment", "kind", "at", "user"]))
            deviceToken = if let token { token } else { try members.requiredDeviceToken() }
            app = try members.requiredString("app")
            environment = try members.choice("environment")
            kind = try members.choice("kind") ?? .background
            at = try members.instant("at")
            if members.raw("user").map({ $0.elementsEqual("null".utf8) }) == true {
                user = .removed
            } else {
                user =
                    try members.string("user").map { (text) throws(InvalidField) in
                        .user(try UserID(text))
                    } ?? .kept
            }
        } catch {
            throw Problem(error)
        }
    }

    /// The schema in the OpenAPI document.
    static func schema(namesDevice: Bool) -> Schema {
        .object(
            (namesDevice ? [.required("device_token", WakeBody.deviceTokenSchema)] : []) + [
                .required("app", .bundleID("The bundle id of an app that is configured.")),
                .optional("environment", .words(of: APNsEnvironment.self)),
                .optional("kind", .words(of: WakeKind.self, "background by default.")),
                .optional(
                    "at",
                    .instant("When the app got it; now by default, and if that is in the future.")),
                .optional(
                    "user",
                    .oneOf(
                        [WakeBody.userSchema, .null],
                        "Whose the device is from now on, and no other user's; null for nobody's. "
                            + "Left out, it stays as it is.")),
            ])
    }
}
