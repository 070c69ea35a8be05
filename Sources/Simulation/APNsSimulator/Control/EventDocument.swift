// SPDX-License-Identifier: Apache-2.0

import DeviceModel
import WakeModel

/// A `DeviceEvent` as the control endpoint takes it: `event`, and `on` or `percent` for those that
/// need one.
struct EventDocument: Codable {
    var event: String
    var on: Bool?
    var percent: Int?

    /// The event, or what is wrong with the document.
    func deviceEvent() throws(InvalidField) -> DeviceEvent {
        switch event {
        case "online": .online(try state())
        case "charging": .charging(try state())
        case "battery": .battery(permille: try debit() * 10)
        case "low-power-mode": .lowPowerMode(try state())
        case "low-data-mode": .lowDataMode(try state())
        case "wifi": .wifi(try state())
        case "locked": .locked(try state())
        case "background-refresh": .backgroundRefresh(try state())
        case "notifications": .notifications(try state())
        case "token": .token(try state())
        case "debugger": .debugger(try state())
        case "app-opened": .appOpened
        case "app-left": .appLeft
        case "app-force-quit": .appForceQuit
        case "reboot": .reboot
        case "other-app-launched": .otherAppLaunched
        case "other-app-notified": .otherAppNotified
        default:
            throw InvalidField(
                field: "event", problem: "is no event of a device",
                remedy: "Use one of those in the documentation, such as app-opened.")
        }
    }

    private func state() throws(InvalidField) -> Bool {
        guard let on else {
            throw InvalidField(
                field: "on", problem: "is missing",
                remedy: "Write true or false; the event \(event) needs it.")
        }
        return on
    }

    private func debit() throws(InvalidField) -> Int {
        guard let percent, (0...100).contains(percent) else {
            throw InvalidField(
                field: "percent", problem: "is missing or out of range",
                remedy: "Write the battery's charge as 0 to 100.")
        }
        return percent
    }
}
