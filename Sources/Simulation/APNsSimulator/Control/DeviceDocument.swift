// SPDX-License-Identifier: Apache-2.0

import WakeModel

/// A ``RegisteredDevice`` as the control endpoint takes it: `token`, and optionally `topic`,
/// `environment` (`sandbox` or `production`), `state` (`active`, `unregistered` or `expired`) and
/// `since`, in milliseconds since the epoch, which the last two need. `model` puts a modelled
/// device behind it.
struct DeviceDocument: Codable {
    var token: String
    var topic: String?
    var environment: String?
    var state: String?
    var since: Int64?
    var model: ModelDocument?

    /// The device, or what is wrong with the document.
    func device() throws(InvalidField) -> RegisteredDevice {
        RegisteredDevice(
            token: try ControlRouter.deviceToken(token, "token"), topic: topic,
            environment: try parsedEnvironment(), state: try parsedState(), model: try setup())
    }

    private func setup() throws(InvalidField) -> DeviceSetup? {
        guard let model else { return nil }
        return try model.setup()
    }

    private func parsedEnvironment() throws(InvalidField) -> APNsEnvironment? {
        guard let environment else { return nil }
        guard let parsed = APNsEnvironment(rawValue: environment) else {
            throw InvalidField(
                field: "environment", problem: "is unknown",
                remedy: "Use sandbox or production.")
        }
        return parsed
    }

    private func parsedState() throws(InvalidField) -> RegisteredDevice.State {
        switch state {
        case nil, "active": return .active
        case "unregistered": return .unregistered(since: try instant())
        case "expired": return .expired(since: try instant())
        default:
            throw InvalidField(
                field: "state", problem: "is unknown",
                remedy: "Use active, unregistered or expired.")
        }
    }

    private func instant() throws(InvalidField) -> WallInstant {
        guard let since else {
            throw InvalidField(
                field: "since", problem: "is missing",
                remedy: "Give milliseconds since 1970, for the answer's timestamp.")
        }
        return WallInstant(millisecondsSinceEpoch: since)
    }
}
