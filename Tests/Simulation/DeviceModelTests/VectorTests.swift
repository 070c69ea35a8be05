// SPDX-License-Identifier: Apache-2.0

import DeviceModel
import Testing
import WakeModel

/// The vectors of facts §12.
@Suite("Vectors M1 to M12")
struct VectorTests {
    @Test("M1: of 14 pushes, one every 450 s, 7 launch the app, 900 s apart")
    func fourteenPushes() {
        var bench = Bench()
        for index in 0..<14 { bench.push(at: Int64(index) * 450) }
        #expect(bench.launches == [0, 900, 1800, 2700, 3600, 4500, 5400])
        #expect(bench.fates("coalesced-on-device") == [2, 4, 6, 8, 10, 12])
        #expect(bench.device.undecided == [14])
        #expect(bench.device.nextChange == bench.instant(6300))
        bench.advance(to: 6300)
        #expect(bench.launches.last == 6300)
    }

    @Test("M2: of 3 pushes within a minute the last two become one launch")
    func burst() {
        var bench = Bench()
        for second in [0, 20, 40] as [Int64] { bench.push(at: second) }
        bench.advance(to: 3600)
        #expect(bench.launches == [0, 900])
        #expect(bench.fates("coalesced-on-device") == [2])
        #expect(bench.fates("delivered-after-hold") == [3])
    }

    @Test("M3: the user opens the app: what is held is handed over at once")
    func flushedByUser() {
        var bench = Bench()
        bench.push(at: 0)
        bench.push(at: 60)
        bench.apply(.appOpened, at: 180)
        #expect(bench.fates("flushed-by-user") == [2])
        #expect(bench.reports.last?.at == bench.instant(180))
        #expect(bench.reports.last?.fate == .deliveredInForeground(heldMilliseconds: 120_000))
    }

    @Test("M4: force-quit drops what is held")
    func forceQuitWhileHeld() {
        var bench = Bench()
        bench.push(at: 0)
        bench.push(at: 60)
        bench.apply(.appForceQuit, at: 120)
        bench.advance(to: 90_000)
        #expect(bench.fates("discarded-force-quit") == [2])
        #expect(bench.launches == [0])
    }

    @Test("M5: a push to a force-quit app is gone, and nothing is left to hand over")
    func pushWhileForceQuit() {
        var bench = Bench()
        bench.apply(.appForceQuit, at: 0)
        bench.push(at: 60)
        bench.apply(.appOpened, at: 120)
        #expect(bench.fates("discarded-force-quit") == [1])
        #expect(bench.reports.count == 1)
    }

    @Test("M6: after two hours without network one of five pushes arrives, the last")
    func offline() {
        var bench = Bench()
        bench.apply(.online(false), at: 0)
        for index in 1...5 { bench.push(at: Int64(index) * 1200) }
        bench.apply(.online(true), at: 7200)
        #expect(bench.fates("coalesced-at-apns") == [1, 2, 3, 4])
        #expect(bench.fates("delivered-after-hold") == [5])
        #expect(bench.launches == [7200])
    }

    @Test("M7: the same with expiration 0: none arrives")
    func offlineWithoutStorage() {
        var bench = Bench()
        bench.apply(.online(false), at: 0)
        for index in 1...5 { bench.push(at: Int64(index) * 1200, expiration: .immediately) }
        bench.apply(.online(true), at: 7200)
        #expect(bench.fates("expired") == [1, 2, 3, 4, 5])
        #expect(bench.launches == [])
    }

    @Test("M8: three hours of Low Power Mode, four pushes, one launch at its end")
    func lowPowerMode() {
        var bench = Bench()
        bench.apply(.lowPowerMode(true), at: 0)
        for index in 1...4 { bench.push(at: Int64(index) * 1800) }
        bench.apply(.lowPowerMode(false), at: 10_800)
        #expect(bench.launches == [10_800])
        #expect(bench.fates("coalesced-at-apns") == [1, 2, 3])
    }

    @Test("M9: without background refresh and notifications the push is discarded")
    func disabled() {
        var bench = Bench()
        bench.apply(.backgroundRefresh(false), at: 0)
        bench.apply(.notifications(false), at: 0)
        bench.push(at: 60)
        #expect(bench.fates("discarded-disabled") == [1])
    }

    @Test("M10: under the debugger every push launches")
    func debugger() {
        var bench = Bench()
        bench.apply(.debugger(true), at: 0)
        for index in 0..<14 { bench.push(at: Int64(index) * 450) }
        #expect(bench.launches.count == 14)
    }

    @Test("M11: in the foreground every push is delivered")
    func foreground() {
        var bench = Bench()
        bench.apply(.appOpened, at: 0)
        for index in 0..<14 { bench.push(at: Int64(index) * 450) }
        #expect(bench.fates("delivered-in-foreground") == Array(1...14))
        #expect(bench.launches == [])
    }

    @Test("M12: a handler that never completes ends at 30 s, and the next spacing doubles")
    func neverCompletes() {
        var app = AppBehaviour()
        app.completesHandler = false
        var bench = Bench(app: app)
        for second in [0, 60] as [Int64] { bench.push(at: second) }
        bench.advance(to: 7200)
        #expect(bench.launches == [0, 1800])
        let launch = PushFate.Launch(
            heldMilliseconds: 0, runtimeMilliseconds: 30_000, wasTerminated: true)
        #expect(bench.reports.first?.fate == .launched(launch))
    }
}
