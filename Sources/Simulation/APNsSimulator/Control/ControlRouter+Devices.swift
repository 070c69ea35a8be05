// SPDX-License-Identifier: Apache-2.0

import WakeModel

/// The paths below `/devices/`, and the devices' time.
extension ControlRouter {
    static let devicePrefix = "/devices/"

    /// What is asked of one device: `/devices/<hex>` and what may follow.
    func route(
        device path: Substring, method: String, body: [UInt8]
    ) throws(InvalidField) -> Response {
        let parts = path.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let token = try DeviceToken(hex: parts[0])
        switch (method, parts.count == 2 ? parts[1] : nil) {
        case ("GET", nil):
            guard let status = state.devices.status(of: token) else {
                return Response(status: 404)
            }
            return Self.json(DeviceStatusDocument(status))
        case ("DELETE", nil): state.forget(token)
        case ("GET", "pushes"):
            guard let pushes = state.devices.pushes(of: token) else {
                return Response(status: 404)
            }
            return Self.json(pushes.map(FateDocument.init))
        case ("POST", "events"):
            let event = try Self.parse(EventDocument.self, body).deviceEvent()
            guard state.devices.apply(event, to: token) else { return Response(status: 404) }
        default: return Response(status: 404)
        }
        return .done
    }

    /// The devices' time, after moving it if that is asked.
    func route(clock method: String, body: [UInt8]) throws(InvalidField) -> Response {
        switch method {
        case "GET": break
        case "POST":
            let change = try Self.parse(ClockChange.self, body)
            state.devices.advance(byMilliseconds: try change.milliseconds())
        default: return Response(status: 404)
        }
        let time = state.devices.deviceTime
        return Self.json(
            ClockDocument(
                deviceTime: time.millisecondsSinceEpoch, offset: state.devices.offset))
    }
}
