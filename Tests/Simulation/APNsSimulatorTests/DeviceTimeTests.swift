// SPDX-License-Identifier: Apache-2.0

import DeviceModel
import Testing
import WakeModel

@testable import APNsSimulator

@Suite("The devices' time")
struct DeviceTimeTests {
    static func instant(_ second: Int64) -> WallInstant {
        TestClock.start.advanced(bySeconds: second)
    }

    @Test("times are translated both ways, and a jump happens at once for the senders")
    func translation() {
        var clock = DeviceClock()
        #expect(clock.deviceTime(at: Self.instant(5)) == Self.instant(5))
        #expect(clock.senderTime(at: Self.instant(5)) == Self.instant(5))
        clock.advance(byMilliseconds: 60_000, at: Self.instant(10))
        clock.advance(byMilliseconds: -5_000, at: Self.instant(10))
        #expect(clock.deviceTime(at: Self.instant(10)) == Self.instant(70))
        // From 10 to 70 is the jump itself.
        for second in [10, 40, 70] as [Int64] {
            #expect(clock.senderTime(at: Self.instant(second)) == Self.instant(10))
        }
        #expect(clock.senderTime(at: Self.instant(75)) == Self.instant(15))
        #expect(clock.deviceTime(of: .at(Self.instant(20))) == .at(Self.instant(80)))
        #expect(clock.deviceTime(of: .immediately) == .immediately)
        #expect(clock.deviceTime(of: nil) == nil)
    }

    @Test("the devices' time is ahead by 100 years at most")
    func farFuture() {
        var clock = DeviceClock()
        clock.advance(byMilliseconds: .max, at: Self.instant(0))
        clock.advance(byMilliseconds: .max, at: Self.instant(0))
        #expect(clock.offset == DeviceClock.maximumOffset)
    }

    @Test("days follow each other in order, whatever the seed", arguments: DayProfile.known)
    func days(profile: DayProfile) {
        for seed in 1...20 as ClosedRange<UInt64> {
            let start = Self.instant(Int64(seed) * 5000)
            var days = DeviceDays(profile, from: start, using: SeededGenerator(seed: seed))
            #expect(days.next < start, "the evening before comes first (seed \(seed))")
            var last = days.next
            var conditions = DeviceConditions()
            var chargings = 0
            let end = start.advanced(bySeconds: 5 * 86_400)
            while let moment = days.take(before: end) {
                #expect(moment.at >= last, "seed \(seed)")
                last = moment.at
                if moment.event == .charging(true), !conditions.isCharging { chargings += 1 }
                conditions.note(moment.event)
            }
            #expect(days.next >= end, "seed \(seed)")
            #expect(chargings >= 1, "seed \(seed)")
        }
    }

    @Test("looking often or seldom makes no difference to what happens", arguments: 1...4)
    func pace(seed: UInt64) throws {
        func run(step: Int64) throws -> [ModelledPush] {
            let token = try DeviceToken(hex: "ab")
            let setup = DeviceSetup(profile: .commuter)
            var news: [DeviceNews] = []
            var device = LivingDevice(token, setup, seed: seed, at: Self.instant(0))
            for second in stride(from: 0, to: 200_000, by: 1) as StrideTo<Int64> {
                if second % step == 0 {
                    device.settle(before: Self.instant(second), into: &news)
                }
                guard second % 3000 == 0 else { continue }
                let push = ModelledPush(
                    number: Int(second / 3000), apnsID: "", deviceToken: token, topic: nil,
                    content: .background, acceptedAt: Self.instant(second), fate: nil,
                    decidedAt: nil)
                device.take(push, priority: .powerConsiderate, expiration: nil, into: &news)
            }
            device.settle(before: Self.instant(200_000), into: &news)
            // The reports agree with the history.
            let told = news.compactMap { item -> ModelledPush? in
                guard case .reachedApp(let push) = item else { return nil }
                return push
            }
            let pushes = device.pushes
            #expect(
                told.map(\.number).sorted()
                    == pushes.filter { $0.fate?.reachedApp == true }.map(\.number),
                "seed \(seed)")
            #expect(pushes.count == 67, "seed \(seed): each push is either decided or open")
            return pushes
        }
        #expect(try run(step: 7) == run(step: 50_000), "seed \(seed)")
    }

    @Test("of the decided pushes the last thousand are remembered, and all are counted")
    func history() throws {
        var history = PushHistory()
        for number in 1...5000 {
            history.add(
                ModelledPush(
                    number: number, apnsID: "", deviceToken: try DeviceToken(hex: "ab"),
                    topic: nil, content: .background, acceptedAt: Self.instant(0), fate: nil,
                    decidedAt: nil))
            // The first stays open.
            guard number > 1 else { continue }
            let report = PushReport(number: number, at: Self.instant(1), fate: .lost)
            #expect(history.decide(report)?.fate == .lost)
            #expect(history.decide(report) == nil)
        }
        #expect(history.count == 5000)
        #expect(history.reachedAppCount == 0)
        #expect(history.pushes.map(\.number) == [1] + Array(4001...5000))
    }
}
