// SPDX-License-Identifier: Apache-2.0

import WakeModel

/// The body of `POST /v1/devices/lookup` and `POST /v1/devices/forget`: what the routes with the
/// device token in their path have in path and query, where proxies would log it.
struct DeviceBody {
    let deviceToken: DeviceToken
    let app: String?
    let environment: APNsEnvironment?

    /// Parses a body. Throws ``Problem`` with the codes `malformed-body` and `invalid-field`.
    init(_ text: [UInt8]) throws(Problem) {
        let members = try Members(parsing: text)
        do throws(InvalidField) {
            try members.check(names: ["device_token", "app", "environment"])
            deviceToken = try members.requiredDeviceToken()
            app = try members.string("app")
            environment = try members.choice("environment")
        } catch {
            throw Problem(error)
        }
    }

    /// What the OpenAPI document says of it.
    static var schema: Schema {
        .object([
            .required("device_token", WakeBody.deviceTokenSchema),
            .optional("app", .bundleID("The bundle id; without it, every app of the token.")),
            .optional("environment", .words(of: APNsEnvironment.self)),
        ])
    }
}
