// SPDX-License-Identifier: Apache-2.0

import DeviceModel
import Testing
import WakeModel

/// What the vectors do not cover: one gate at a time.
@Suite("Gates")
struct GateTests {
    @Test("a locked device off the charger sleeps; a push for another app takes along what waits")
    func sleep() {
        var bench = Bench()
        bench.apply(.locked(true), at: 0)
        bench.push(at: 60)
        bench.push(at: 120)
        #expect(bench.launches == [])
        #expect(!bench.device.isAble)
        bench.apply(.otherAppNotified, at: 600)
        #expect(bench.launches == [600])
        #expect(bench.fates("coalesced-at-apns") == [1])
    }

    @Test("four hours locked make a herd: nothing is launched for 15 minutes of use")
    func herd() {
        var bench = Bench()
        bench.apply(.locked(true), at: 0)
        bench.push(at: 60)
        bench.apply(.locked(false), at: 14_400)
        bench.advance(to: 20_000)
        #expect(bench.launches == [15_300])
    }

    @Test("a low battery holds until the charger comes")
    func battery() {
        var bench = Bench()
        bench.apply(.battery(permille: 150), at: 0)
        bench.push(at: 60)
        bench.apply(.charging(true), at: 3_000)
        #expect(bench.launches == [3_000])
    }

    @Test("on the charger launches may be twice as close")
    func charging() {
        var bench = Bench()
        bench.apply(.charging(true), at: 0)
        for second in [0, 60, 500] as [Int64] { bench.push(at: second) }
        bench.advance(to: 3_600)
        #expect(bench.launches == [0, 450, 900])
    }

    @Test("a spent day waits for the reset at four in the morning; without a budget for ever")
    func spentDay() {
        var parameters = ModelParameters.exact
        parameters.budget.runtimeSeconds = 0
        // 1 800 057 600 is a midnight.
        var bench = Bench(parameters, start: 1_800_057_600)
        bench.push(at: 0)
        bench.advance(to: 20_000)
        #expect(bench.launches == [])
        parameters.budget.runtimeSeconds = 1
        var app = AppBehaviour()
        app.meanRuntimeMilliseconds = 30_000_000
        bench = Bench(parameters, app: app, start: 1_800_057_600)
        for second in [0, 900, 1_800] as [Int64] { bench.push(at: second) }
        bench.advance(to: 20_000)
        #expect(bench.launches == [0, 14_400])
    }

    @Test("what waits too long on the device is dropped")
    func holdAge() {
        var parameters = ModelParameters.exact
        parameters.gates.maximumHoldSeconds = 3_600
        var bench = Bench(parameters)
        bench.apply(.backgroundRefresh(false), at: 0)
        bench.push(at: 60)
        bench.apply(.backgroundRefresh(true), at: 7_200)
        #expect(bench.fates("held-over-budget") == [1])
        #expect(bench.reports.first?.at == bench.instant(3_660))
    }

    @Test("a stored push expires when its expiration says")
    func expiry() {
        var bench = Bench()
        bench.apply(.online(false), at: 0)
        bench.push(at: 0, expiration: .at(bench.instant(600)))
        bench.apply(.online(true), at: 900)
        #expect(bench.fates("expired") == [1])
        #expect(bench.reports.first?.at == bench.instant(600))
    }

    @Test(
        "what APNs stores for a saving device reaches no app, in front or not, so it is not able",
        arguments: [DeviceEvent.lowPowerMode(true), .battery(permille: 150)],
        [DeviceEvent.appOpened, .debugger(true)])
    func saving(saving: DeviceEvent, running: DeviceEvent) {
        var bench = Bench()
        bench.apply(running, at: 0)
        #expect(bench.device.isAble)
        bench.apply(saving, at: 10)
        #expect(!bench.device.isAble)
        bench.push(at: 20)
        #expect(bench.reports.isEmpty)
        #expect(bench.device.undecided == [1])
    }

    @Test("nothing is stored for more than 30 days, whatever its expiration")
    func longestStorage() {
        let days: Int64 = 30 * 86_400
        for expiration in [nil, 365 * 86_400] as [Int64?] {
            var bench = Bench()
            bench.apply(.online(false), at: 0)
            bench.push(at: 0, expiration: expiration.map { .at(bench.instant($0)) })
            bench.advance(to: days - 1)
            #expect(bench.reports.isEmpty)
            bench.advance(to: days)
            #expect(bench.fates("expired") == [1], "\(expiration ?? -1)")
        }
    }

    @Test("a push that is stored again is not stored for another 30 days")
    func storedAgain() {
        var parameters = ModelParameters.exact
        parameters.service.latencyMedianMilliseconds = 60_000
        parameters.service.latencyPercentile95Milliseconds = 60_000
        var bench = Bench(parameters)
        bench.apply(.online(false), at: 0)
        bench.push(at: 0)
        // It sets out, and the device is gone again before it arrives.
        bench.apply(.online(true), at: 10 * 86_400)
        bench.apply(.online(false), at: 10 * 86_400 + 5)
        bench.advance(to: 30 * 86_400)
        #expect(bench.fates("expired") == [1])
    }

    @Test("a stored call to an app that was removed meanwhile launches nothing")
    func storedCall() {
        var bench = Bench()
        bench.apply(.online(false), at: 0)
        bench.push(at: 10, content: .voip, expiration: .at(bench.instant(3_600)))
        bench.apply(.token(false), at: 20)
        bench.apply(.online(true), at: 30)
        bench.advance(to: 60)
        #expect(bench.launches == [])
        #expect(bench.fates("discarded-disabled") == [1])
    }

    @Test(
        "a call launches the app at once, asleep and over budget; alone an alert launches nothing")
    func kinds() {
        var bench = Bench()
        bench.apply(.lowPowerMode(true), at: 0)
        bench.push(at: 10, content: .voip)
        bench.push(at: 20, content: .voip)
        #expect(bench.launches == [10, 20])
        bench.apply(.lowPowerMode(false), at: 30)
        bench.push(at: 40, content: .alert)
        #expect(bench.fates("wrong-type") == [3])
    }

    @Test("without the background mode nothing is ever launched")
    func mode() {
        var app = AppBehaviour()
        app.hasRemoteNotificationMode = false
        var bench = Bench(app: app)
        bench.push(at: 0)
        #expect(bench.fates("never-launched") == [1])
        #expect(!bench.device.isAble)
    }

    @Test("after a reboot nothing is launched before the first unlock, which clears a force-quit")
    func reboot() {
        var bench = Bench()
        bench.apply(.appForceQuit, at: 0)
        bench.apply(.reboot, at: 10)
        bench.apply(.charging(true), at: 15)
        bench.push(at: 20)
        #expect(bench.fates("discarded-force-quit") == [1])
        bench.apply(.locked(false), at: 30)
        bench.push(at: 40)
        #expect(bench.launches == [40])
    }

    @Test("an app that is not opened for so many days is not launched where that gate is on")
    func unused() {
        var parameters = ModelParameters.exact
        parameters.gates.unusedDays = 7
        var bench = Bench(parameters)
        let week: Int64 = 7 * 86_400
        bench.push(at: week)
        bench.push(at: week + 3_600)
        bench.advance(to: week + 7_200)
        #expect(bench.launches == [week])
        bench.apply(.appOpened, at: week + 8_000)
        #expect(bench.fates("flushed-by-user") == [2])
    }

    @Test("drawn parameters stay within the ranges of facts §6.3")
    func drawn() {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<1_000 {
            let drawn = ModelParameters.drawn(using: &generator)
            #expect((600...1260).contains(drawn.rate.minimumSpacingSeconds))
            #expect((1...4).contains(drawn.rate.bucketCapacity))
            #expect((900...1800).contains(drawn.rate.bucketRefillSeconds))
            #expect((3...20).contains(drawn.rate.deviceLaunchesPerHour))
            #expect((0...0.05).contains(drawn.service.lossProbability))
            #expect((3_600...86_400).contains(drawn.gates.maximumHoldSeconds))
        }
    }
}
