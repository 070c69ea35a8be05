// SPDX-License-Identifier: Apache-2.0

import Gateway
import WakeModel

/// The body of `POST /v1/devices/lookup`. It names a device by its token, which stays out of the
/// URL that proxies log, or by one of its wakes.
struct DeviceLookupBody {
    let device: NamedDevice
    let app: String?
    let environment: APNsEnvironment?

    /// A device as a request names it.
    enum NamedDevice {
        case token(DeviceToken)
        /// The device of this wake.
        case wake(WakeID)
    }

    /// Parses a body. Throws ``Problem`` with the codes `malformed-body` and `invalid-field`.
    init(_ text: [UInt8]) throws(Problem) {
        let members = try Members(parsing: text)
        do throws(InvalidField) {
            try members.check(names: ["device_token", "wake", "app", "environment"])
            if let wake = try members.wakeID() {
                guard !members.has("device_token") else {
                    throw InvalidField(
                        field: "wake", problem: "names a device beside device_token",
                        remedy: "Give one of them.")
                }
                device = .wake(wake)
            } else {
                device = .token(try members.requiredDeviceToken(orInstead: "wake"))
            }
            app = try members.string("app")
            environment = try members.choice("environment")
        } catch {
            throw Problem(error)
        }
    }

    /// The schema in the OpenAPI document.
    static var schema: Schema {
        .object(
            [
                .optional("device_token", WakeBody.deviceTokenSchema),
                .optional(
                    "wake", .string("The id of a wake, for the device of it.", format: "uuid")),
                .optional("app", .bundleID("The bundle id; without it, every app of the token.")),
                .optional("environment", .words(of: APNsEnvironment.self)),
            ], rules: [.exactlyOne(["device_token", "wake"])])
    }
}

/// The body of `POST /v1/devices/forget`.
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

    /// The schema in the OpenAPI document.
    static var schema: Schema {
        .object([
            .required("device_token", WakeBody.deviceTokenSchema),
            .optional("app", .bundleID("The bundle id; without it, every app of the token.")),
            .optional("environment", .words(of: APNsEnvironment.self)),
        ])
    }
}
