// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import WakeModel

/// The control endpoint without its socket: method, path and body in, response out.
///
/// | Request | Does |
/// |---|---|
/// | `GET /pushes` | the log, oldest first: ``PushDocument`` |
/// | `DELETE /pushes` | empties the log |
/// | `GET /counters` | ``CountersDocument`` |
/// | `POST /faults` | adds one fault: ``FaultDocument`` |
/// | `DELETE /faults` | takes all faults away |
/// | `POST /devices` | registers one device token: ``DeviceDocument`` |
/// | `GET /devices` | all modelled devices: ``DeviceStatusDocument`` |
/// | `GET /devices/<hex>` | one of them |
/// | `GET /devices/<hex>/pushes` | what became of its pushes: ``FateDocument`` |
/// | `POST /devices/<hex>/events` | makes something happen to it: ``EventDocument`` |
/// | `DELETE /devices/<hex>` | forgets a device token |
/// | `GET /clock` | the devices' time: ``ClockDocument`` |
/// | `POST /clock` | moves it ahead: ``ClockChange`` |
/// | `POST /goaway` | GOAWAY on every connection; the body may be `{"reason":"…"}` |
/// | `DELETE /connections` | closes every connection |
/// | `GET /channels/<bundle id>` | the broadcast channels of an app: ``ChannelDocument`` |
/// | `GET /ca.pem` | the certificate authority |
///
/// What changes something answers 204, but for the clock; a bad body 400 with `field`, `problem`
/// and `remedy`.
struct ControlRouter: Sendable {
    let state: SimulatorState
    let certificateAuthorityPEM: String

    private static let channelsPrefix = "/channels/"
    /// The longest body it reads, in bytes.
    static let longestBody = 65_536

    struct Response: Hashable, Sendable {
        var status: Int
        var contentType = "application/json"
        var body: [UInt8] = []

        static let done = Response(status: 204)
    }

    func respond(method: String, path: String, body: [UInt8]) -> Response {
        do {
            let response = try route(method: method, path: path, body: body)
            return response.status == 404 ? Self.json(Self.nothing, status: 404) : response
        } catch {
            return Self.json(ProblemDocument(error), status: 400)
        }
    }

    private static let nothing = ProblemDocument(
        InvalidField(
            field: "path", problem: "has nothing for this method, or names an unknown device",
            remedy: "Check the path; a device is registered first, with a model; "
                + documentation))

    private func add(_ fault: Fault) throws(InvalidField) {
        var hasRoom = true
        var room = 1.0
        state.changeRules { rules in
            room = rules.faults.room(beside: fault)
            hasRoom = rules.faults.hasRoom(for: fault)
            if hasRoom { rules.faults.add(fault) }
        }
        guard hasRoom else {
            // To the millionth, so that 1 - 0.7 is 0.3.
            let left = max(0, (room * 1e6).rounded() / 1e6)
            throw InvalidField(
                field: "share",
                problem: "is over 1 together with those of the other faults, which leave \(left)",
                remedy: "Write a smaller one, leave it out to hit all, or take the others away "
                    + "with DELETE /faults.")
        }
    }

    private func route(
        method: String, path: String, body: [UInt8]
    ) throws(InvalidField) -> Response {
        switch (method, path) {
        case ("GET", "/pushes"): return Self.json(state.log.pushes.map(PushDocument.init))
        case ("DELETE", "/pushes"): state.forgetPushes()
        case ("GET", "/counters"): return Self.json(CountersDocument(state.counters.snapshot))
        case ("POST", "/faults"):
            try add(try Self.parse(FaultDocument.self, body).fault())
        case ("DELETE", "/faults"): state.changeRules { $0.faults.removeAll() }
        case ("POST", "/devices"):
            let device = try Self.parse(DeviceDocument.self, body).device()
            state.register(device)
        case ("GET", "/devices"):
            return Self.json(state.devices.statuses().map(DeviceStatusDocument.init))
        case (_, _) where path.hasPrefix(Self.devicePrefix):
            return try route(
                device: path.dropFirst(Self.devicePrefix.count), method: method, body: body)
        case (_, "/clock"): return try route(clock: method, body: body)
        case ("POST", "/goaway"):
            let reason = body.isEmpty ? nil : try Self.parse(GoAwayDocument.self, body).reason
            state.sendGoAway(reason: try reason.map(FaultDocument.known) ?? .shutdown)
        case ("DELETE", "/connections"): state.closeAllConnections()
        case ("GET", _) where path.hasPrefix(Self.channelsPrefix):
            let app = String(path.dropFirst(Self.channelsPrefix.count))
            return Self.json(state.channels.channels(of: app).map(ChannelDocument.init))
        case ("GET", "/ca.pem"):
            return Response(
                status: 200, contentType: "application/x-pem-file",
                body: Array(certificateAuthorityPEM.utf8))
        default: return Response(status: 404)
        }
        return .done
    }

    private struct GoAwayDocument: Codable {
        var reason: String
    }

    private struct ProblemDocument: Codable {
        var field: String
        var problem: String
        var remedy: String

        init(_ error: InvalidField) {
            field = error.field
            problem = error.problem
            remedy = error.remedy
        }
    }

    static func json(_ value: some Encodable, status: Int = 200) -> Response {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(value) else { return Response(status: 500) }
        return Response(status: status, body: Array(data))
    }
}
