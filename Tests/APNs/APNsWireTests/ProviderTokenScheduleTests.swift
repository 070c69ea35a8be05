// SPDX-License-Identifier: Apache-2.0

import APNsWire
import SeedKit
import Testing
import WakeModel

@Suite("Provider token schedule")
struct ProviderTokenScheduleTests {
    static let start = WallInstant(secondsSinceEpoch: 1_795_253_640)
    static let minute: Int64 = 60

    /// A schedule that minted at `start` and uptime 0.
    private func minted(renewalMinutes: Int64 = 50) -> ProviderTokenSchedule {
        var schedule = ProviderTokenSchedule(renewalAge: .seconds(renewalMinutes * Self.minute))
        schedule.didMint(now: Self.start, uptime: .zero)
        return schedule
    }

    @Test("without a token, one must and may be minted")
    func first() {
        let schedule = ProviderTokenSchedule()
        #expect(schedule.mustMint(now: Self.start, uptime: .zero))
        #expect(schedule.mayMint(now: Self.start, uptime: .zero))
    }

    @Test(
        "the renewal age is held between 40 and 55 minutes",
        arguments: [(0, 40), (39, 40), (40, 40), (47, 47), (55, 55), (56, 55), (600, 55)]
            as [(Int64, Int64)])
    func renewalAge(asked: Int64, held: Int64) {
        let schedule = ProviderTokenSchedule(renewalAge: .seconds(asked * 60))
        #expect(schedule.renewalAge == .seconds(held * 60))
    }

    /// Seconds on the wall clock and on the monotonic clock since the minting, and what follows.
    struct Moment: Sendable, CustomTestStringConvertible {
        let name: String
        let wall: Int64
        let uptime: Int64
        let must: Bool
        let may: Bool

        var testDescription: String { name }
    }

    static let moments = [
        Moment(name: "at once", wall: 0, uptime: 0, must: false, may: false),
        Moment(name: "before 20 min", wall: 1199, uptime: 1199, must: false, may: false),
        Moment(name: "at 20 min", wall: 1200, uptime: 1200, must: false, may: true),
        Moment(name: "before 50 min", wall: 2999, uptime: 2999, must: false, may: true),
        Moment(name: "at 50 min", wall: 3000, uptime: 3000, must: true, may: true),
        Moment(name: "after a day", wall: 86_400, uptime: 86_400, must: true, may: true),
        Moment(name: "suspended for an hour", wall: 3600, uptime: 10, must: true, may: true),
        Moment(
            name: "wall clock set back 1 h at 51 min", wall: -540, uptime: 3060, must: true,
            may: true),
        Moment(name: "wall clock set back 30 s", wall: -30, uptime: 10, must: false, may: false),
        Moment(
            name: "wall clock set back 2 h at 10 min", wall: -6600, uptime: 600, must: false,
            may: false),
        Moment(
            name: "wall clock set back 2 h at 20 min", wall: -6000, uptime: 1200, must: true,
            may: true),
        Moment(
            name: "wall clock a little slow at 25 min", wall: 1440, uptime: 1500, must: false,
            may: true),
        Moment(
            name: "wall clock at the beginning of time", wall: .min / 2000, uptime: 10,
            must: false, may: false),
        Moment(
            name: "wall clock at the end of time", wall: .max / 2000, uptime: 10, must: true,
            may: true),
    ]

    @Test(
        "age counts by the older clock; a token from the future is replaced after 20 minutes",
        arguments: moments)
    func moment(moment: Moment) {
        let schedule = minted()
        let now = Self.start.advanced(bySeconds: moment.wall)
        let uptime = Duration.seconds(moment.uptime)
        #expect(schedule.mustMint(now: now, uptime: uptime) == moment.must)
        #expect(schedule.mayMint(now: now, uptime: uptime) == moment.may)
    }

    @Test(
        "while both clocks run, a token is under 55 minutes old, and changes are 20 minutes apart",
        arguments: 0..<20 as Range<UInt64>)
    func saneClocks(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var schedule = ProviderTokenSchedule(
            renewalAge: .seconds(Int64.random(in: 2400...3300, using: &generator)))
        var (seconds, mintedAt, mintings) = (Int64(0), Int64?.none, 0)
        for _ in 0..<5000 {
            seconds += Int64.random(in: 0...900, using: &generator)
            let now = Self.start.advanced(bySeconds: seconds)
            let uptime = Duration.seconds(seconds)
            let isForced = Int.random(in: 0..<10, using: &generator) == 0
            if schedule.mustMint(now: now, uptime: uptime)
                || (isForced && schedule.mayMint(now: now, uptime: uptime))
            {
                if let mintedAt { #expect(seconds - mintedAt >= 1200, "seed \(seed)") }
                schedule.didMint(now: now, uptime: uptime)
                (mintedAt, mintings) = (seconds, mintings + 1)
            }
            #expect(seconds - (mintedAt ?? .min / 2) < 3300, "seed \(seed)")
        }
        #expect(mintings > 100)
    }

    @Test(
        "whatever the wall clock does, two mintings within 20 minutes mean that it was set forward",
        arguments: 0..<20 as Range<UInt64>)
    func jumpingClock(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var schedule = ProviderTokenSchedule()
        var (uptime, offset) = (Int64(0), Int64(0))
        var last: (uptime: Int64, offset: Int64)?
        for _ in 0..<5000 {
            uptime += Int64.random(in: 0...600, using: &generator)
            if Int.random(in: 0..<20, using: &generator) == 0 {
                offset += Int64.random(in: -7200...7200, using: &generator)
            }
            let now = Self.start.advanced(bySeconds: uptime + offset)
            let isForced = Int.random(in: 0..<4, using: &generator) == 0
            guard
                schedule.mustMint(now: now, uptime: .seconds(uptime))
                    || (isForced && schedule.mayMint(now: now, uptime: .seconds(uptime)))
            else { continue }
            if let last, uptime - last.uptime < 1200 {
                #expect(offset > last.offset, "seed \(seed) at \(uptime) s")
            }
            schedule.didMint(now: now, uptime: .seconds(uptime))
            last = (uptime, offset)
        }
    }

    @Test("a wall clock that jumps back and forth does not make a token for each jump")
    func flappingClock() {
        var schedule = ProviderTokenSchedule()
        var mintings = 0
        for step in 0..<240 {
            let uptime = Int64(step) * 5
            let now = Self.start.advanced(bySeconds: uptime + (step.isMultiple(of: 2) ? 0 : 7200))
            if schedule.mustMint(now: now, uptime: .seconds(uptime)) {
                schedule.didMint(now: now, uptime: .seconds(uptime))
                mintings += 1
            }
        }
        #expect(mintings == 2, "20 minutes of jumps: the first token and one for the other time")
    }
}
