// SPDX-License-Identifier: Apache-2.0

import WakeBudget
import WakeModel

/// The body of `PUT /v1/devices/{token}/signals`, with which an app reports the state of its device
/// (facts §6.2), and of `PUT /v1/devices/signals`, which has the token in the body.
struct SignalsBody {
    let deviceToken: DeviceToken
    let signals: [DeviceSignal]
    let app: String?
    let environment: APNsEnvironment?

    /// Parses a body. Throws ``Problem`` with the codes `malformed-body` and `invalid-field`.
    /// `token` is the device token in the path, if there is one.
    init(_ text: [UInt8], of token: DeviceToken?) throws(Problem) {
        let members = try Members(parsing: text)
        do throws(InvalidField) {
            try members.check(
                names: Set(token == nil ? ["device_token"] : []).union([
                    "app", "environment", "at", "low_power_mode", "battery_percent", "charging",
                    "background_app_refresh", "force_quit", "foreground",
                ]))
            deviceToken = if let token { token } else { try members.requiredDeviceToken() }
            app = try members.string("app")
            environment = try members.choice("environment")
            // Checked, but not used: a report counts from its arrival.
            _ = try members.instant("at")
            signals = try Self.signals(members)
            guard !signals.isEmpty else {
                if let silent = ["foreground", "force_quit"].first(where: members.has) {
                    throw InvalidField(
                        field: silent, problem: "is false, which reports nothing",
                        remedy: "Report true when it is so, or another signal.")
                }
                throw InvalidField(
                    field: "signals", problem: "is empty",
                    remedy: "Report at least one of low_power_mode, battery_percent, "
                        + "background_app_refresh, force_quit and foreground.")
            }
        } catch {
            throw Problem(error)
        }
    }

    private static func signals(_ members: Members) throws(InvalidField) -> [DeviceSignal] {
        var signals: [DeviceSignal] = []
        if let isOn = try members.boolean("low_power_mode") { signals.append(.lowPowerMode(isOn)) }
        let isCharging = try members.boolean("charging")
        if let percent = try members.integer("battery_percent", in: 0...100) {
            signals.append(.battery(percent: Int(percent), isCharging: isCharging ?? false))
        } else if isCharging != nil {
            throw InvalidField(
                field: "charging", problem: "is given without battery_percent",
                remedy: "Report both.")
        }
        if let isAvailable = try members.boolean("background_app_refresh") {
            signals.append(.backgroundAppRefresh(isAvailable))
        }
        if try members.boolean("force_quit") == true { signals.append(.forceQuit) }
        // Applied last, because it ends the delays that the other signals cause.
        if try members.boolean("foreground") == true { signals.append(.foreground) }
        return signals
    }

    /// The schema in the OpenAPI document.
    static func schema(namesDevice: Bool) -> Schema {
        .object(
            (namesDevice ? [.required("device_token", WakeBody.deviceTokenSchema)] : []) + [
                .optional("app", .bundleID("The bundle id; without it, every app of the token.")),
                .optional("environment", .words(of: APNsEnvironment.self)),
                .optional(
                    "at",
                    .instant("When it was so. A report counts from when it comes in, though.")),
                .optional("low_power_mode", .boolean()),
                .optional("battery_percent", .integer(in: 0...100)),
                .optional("charging", .boolean("Goes with battery_percent.")),
                .optional(
                    "background_app_refresh", .boolean("Whether iOS lets the app refresh.")),
                .optional("force_quit", .boolean("The user removed the app from the switcher.")),
                .optional("foreground", .boolean("The app came to the foreground just now.")),
            ], "At least one signal must be there.",
            rules: [
                .needs("charging", "battery_percent"),
                .atLeastOne([
                    .required("low_power_mode", .boolean()),
                    .required("battery_percent", .integer()),
                    .required("background_app_refresh", .boolean()),
                    .required("force_quit", .onlyTrue), .required("foreground", .onlyTrue),
                ]),
            ])
    }
}
