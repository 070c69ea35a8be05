// SPDX-License-Identifier: Apache-2.0

import DeviceModel
import FoundationEssentials
import NIOHPACK
import Testing
import WakeModel

@testable import APNsSimulator

@Suite("Control of modelled devices", .timeLimit(.minutes(10)))
struct DeviceControlTests {
    /// A control endpoint whose time is stopped, with one push behind it.
    struct Bench {
        let router: ControlRouter
        let clock = TestClock()

        init() throws {
            var configuration = APNsSimulator.Configuration()
            configuration.now = { [clock] in clock.now }
            router = ControlRouter(
                state: try SimulatorState(configuration: configuration),
                certificateAuthorityPEM: "PEM")
        }

        func send(_ method: String, _ path: String, _ body: String = "") -> ControlRouter.Response {
            router.respond(method: method, path: path, body: Array(body.utf8))
        }

        func read<Document: Decodable>(_ type: Document.Type, _ path: String) throws -> Document {
            try JSONDecoder().decode(type, from: Data(send("GET", path).body))
        }

        /// Accepts a push as a connection would.
        func push(number: Int) throws {
            var request = ActiveRequest(
                number: number, stream: 1, fields: HPACKHeaders(Push(token: "ab").fields),
                keepsFields: false)
            request.body = Push().body
            router.state.devices.take(try #require(AcceptedPush(request, apnsID: Push.apnsID)))
        }
    }

    @Test("a device can be put behind a token, watched, and taken away")
    func life() throws {
        let bench = try Bench()
        let body =
            #"{"token":"AB","model":{"base":"exact","parameters":{"rate.min_spacing_s":600,"#
            + #""rate.bucket_refill_s":600}}}"#
        #expect(bench.send("POST", "/devices", body) == .done)
        for number in 1...3 { try bench.push(number: number) }

        var pushes = try bench.read([FateDocument].self, "/devices/ab/pushes")
        #expect(pushes.map(\.fate) == ["delivered-now", "coalesced-on-device", "undecided"])
        #expect(pushes[1].replacedBy == 3)
        #expect(pushes[0].heldMilliseconds == 0)
        #expect(pushes.map(\.content) == ["background", "background", "background"])

        let moved = bench.send("POST", "/clock", #"{"advanceSeconds":601}"#)
        let clock = try JSONDecoder().decode(ClockDocument.self, from: Data(moved.body))
        #expect(clock.offset == 601_000)
        #expect(clock.deviceTime == TestToken.now * 1000 + 601_000)
        pushes = try bench.read([FateDocument].self, "/devices/ab/pushes")
        #expect(pushes[2].fate == "delivered-after-hold")
        #expect(pushes[2].heldMilliseconds == 600_000)
        #expect(pushes[2].decidedAt == TestToken.now * 1000 + 600_000)

        let event = #"{"event":"battery","percent":15}"#
        #expect(bench.send("POST", "/devices/ab/events", event) == .done)
        let status = try bench.read(DeviceStatusDocument.self, "/devices/ab")
        #expect(status.conditions.batteryPercent == 15)
        #expect(!status.isAble)
        #expect(status.pushes == 3)
        #expect(status.reachedApp == 2)
        #expect(try bench.read([DeviceStatusDocument].self, "/devices").map(\.token) == ["ab"])

        #expect(bench.send("DELETE", "/devices/ab") == .done)
        #expect(try bench.read([DeviceStatusDocument].self, "/devices").isEmpty)
    }

    @Test("a device without a model is not found")
    func notFound() throws {
        let bench = try Bench()
        #expect(bench.send("POST", "/devices", #"{"token":"ab"}"#) == .done)
        #expect(bench.send("GET", "/devices/ab").status == 404)
        #expect(bench.send("GET", "/devices/ab/pushes").status == 404)
        let event = #"{"event":"reboot"}"#
        #expect(bench.send("POST", "/devices/ab/events", event).status == 404)
        #expect(bench.send("PUT", "/devices/ab").status == 404)
        #expect(bench.send("DELETE", "/clock").status == 404)
    }

    @Test(
        "every event can be written in JSON",
        arguments: [
            (#"{"event":"online","on":false}"#, DeviceEvent.online(false)),
            (#"{"event":"charging","on":true}"#, .charging(true)),
            (#"{"event":"battery","percent":15}"#, .battery(permille: 150)),
            (#"{"event":"low-power-mode","on":true}"#, .lowPowerMode(true)),
            (#"{"event":"low-data-mode","on":true}"#, .lowDataMode(true)),
            (#"{"event":"wifi","on":false}"#, .wifi(false)),
            (#"{"event":"locked","on":true}"#, .locked(true)),
            (#"{"event":"background-refresh","on":false}"#, .backgroundRefresh(false)),
            (#"{"event":"notifications","on":false}"#, .notifications(false)),
            (#"{"event":"token","on":false}"#, .token(false)),
            (#"{"event":"debugger","on":true}"#, .debugger(true)),
            (#"{"event":"app-opened"}"#, .appOpened), (#"{"event":"app-left"}"#, .appLeft),
            (#"{"event":"app-force-quit"}"#, .appForceQuit), (#"{"event":"reboot"}"#, .reboot),
            (#"{"event":"other-app-launched"}"#, .otherAppLaunched),
            (#"{"event":"other-app-notified"}"#, .otherAppNotified),
        ])
    func events(json: String, event: DeviceEvent) throws {
        let document = try JSONDecoder().decode(EventDocument.self, from: Data(json.utf8))
        #expect(try document.deviceEvent() == event)
    }

    @Test(
        "what makes no sense is named",
        arguments: [
            ("/devices", #"{"token":"ab","model":{"profile":"nobody"}}"#, "profile"),
            ("/devices", #"{"token":"ab","model":{"base":"odd"}}"#, "base"),
            ("/devices", #"{"token":"ab","model":{"base":"drawn"}}"#, "seed"),
            (
                "/devices", #"{"token":"ab","model":{"parameters":{"rate.speed":1}}}"#,
                "parameters"
            ),
            (
                "/devices", #"{"token":"ab","model":{"parameters":{"apns.loss_p":2}}}"#,
                "apns.loss_p"
            ),
            (
                "/devices", #"{"token":"ab","model":{"parameters":{"run.max_s":1.5}}}"#,
                "run.max_s"
            ),
            (
                "/devices", #"{"token":"ab","model":{"parameters":{"gate.lpm":2}}}"#,
                "gate.lpm"
            ),
            ("/devices/ab/events", #"{"event":"lunch"}"#, "event"),
            ("/devices/ab/events", #"{"event":"locked"}"#, "on"),
            ("/devices/ab/events", #"{"event":"battery","percent":101}"#, "percent"),
            ("/devices/xy/events", #"{"event":"reboot"}"#, "device token"),
            ("/clock", #"{"advanceSeconds":-1}"#, "advanceSeconds"),
            ("/clock", "{}", "advanceSeconds"),
        ])
    func badBodies(path: String, body: String, field: String) throws {
        let bench = try Bench()
        _ = bench.send("POST", "/devices", #"{"token":"ab","model":{}}"#)
        let response = bench.send("POST", path, body)
        #expect(response.status == 400)
        let problem = try JSONDecoder().decode([String: String].self, from: Data(response.body))
        #expect(problem["field"] == field)
    }

    @Test("every figure of the documentation can be set, and changes the model")
    func figures() throws {
        let names = [
            "apns.overwrite_latest_p", "apns.ttl_default_s", "apns.reorder_p",
            "apns.p5_needs_awake", "apns.lpm_blocks_p10_p", "apns.latency_median_s",
            "apns.latency_p95_s", "apns.loss_p", "rate.min_spacing_s", "rate.bucket_capacity",
            "rate.bucket_refill_s", "rate.device_cap_per_hour", "relax.charging_spacing_factor",
            "relax.low_data_mode", "run.max_s", "run.no_completion", "budget.reset_period_s",
            "budget.reset_phase_s", "budget.energy_runtime_s_per_day",
            "budget.cell_bytes_per_day", "device.hold_max_age_s", "gate.battery_min", "gate.lpm",
            "gate.reboot_clears_force_quit", "gate.not_launched_days", "gate.herd_after_s",
            "gate.herd_block_s", "gate.herd_block_in_use_s",
        ]
        var seen: [ModelParameters: String] = [:]
        for name in names {
            var changes = false
            // At least one of these is in the figure's range and not its default.
            for value in [0, 1, 2] as [Double] {
                var parameters = ModelParameters()
                guard (try? ParameterTable.set(name, to: value, in: &parameters)) != nil,
                    parameters != ModelParameters()
                else { continue }
                let other = seen.updateValue(name, forKey: parameters)
                #expect(other == nil, "\(name) sets the same as \(other ?? "")")
                changes = true
            }
            #expect(changes, "\(name) changes nothing")
        }
    }
}
