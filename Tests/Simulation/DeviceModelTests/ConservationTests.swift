// SPDX-License-Identifier: Apache-2.0

import DeviceModel
import Testing
import WakeModel

@Suite("Any device, by seed")
struct ConservationTests {
    static let start = WallInstant(secondsSinceEpoch: 1_800_057_600)

    @Test(
        "every push has one fate, or none yet; times never run back",
        arguments: 1...60 as ClosedRange<UInt64>)
    func oneFateEach(seed: UInt64) {
        var run = RandomWeek(seed: seed)
        run.run()
        var fates: [Int: Int] = [:]
        for report in run.reports { fates[report.number, default: 0] += 1 }
        for number in run.device.undecided { fates[number, default: 0] += 1 }
        #expect(fates.count == run.pushes, "seed \(seed)")
        #expect(fates.values.allSatisfy { $0 == 1 }, "seed \(seed)")
        let times = run.reports.map(\.at)
        #expect(zip(times, times.dropFirst()).allSatisfy { $0 <= $1 }, "seed \(seed)")
    }

    @Test("launches keep the hour's and the day's limits", arguments: 1...60 as ClosedRange<UInt64>)
    func limits(seed: UInt64) {
        var run = RandomWeek(seed: seed, withCalls: false)
        run.run()
        let parameters = run.device.parameters
        let launches = run.reports.compactMap { report -> (Int64, Int64)? in
            guard case .launched(let launch) = report.fate else { return nil }
            return (report.at.millisecondsSinceEpoch, launch.runtimeMilliseconds)
        }
        let perHour = parameters.rate.deviceLaunchesPerHour
        for index in launches.indices.dropFirst(perHour) {
            let span = launches[index].0 - launches[index - perHour].0
            #expect(span >= 3_600_000, "seed \(seed)")
        }
        let closest =
            Int64(parameters.rate.chargingFactor * 1000)
            * parameters.rate.minimumSpacingSeconds
        for (left, right) in zip(launches, launches.dropFirst()) {
            #expect(right.0 - left.0 >= closest, "seed \(seed)")
        }
        var spent: [Int64: Int64] = [:]
        let phase = parameters.budget.resetPhaseSeconds * 1000
        for (at, runtime) in launches { spent[(at - phase) / 86_400_000, default: 0] += runtime }
        let most = parameters.budget.runtimeSeconds * 1000 + 30_000
        #expect(spent.values.allSatisfy { $0 <= most }, "seed \(seed)")
    }

    @Test("the same seed makes the same week, however often time is looked at")
    func deterministic() {
        for seed in 1...10 as ClosedRange<UInt64> {
            var once = RandomWeek(seed: seed)
            var again = RandomWeek(seed: seed)
            once.run()
            again.run(advancingEvery: 977_000)
            #expect(once.reports == again.reports, "seed \(seed)")
        }
    }

    @Test("the next change is when something happens", arguments: 1...20 as ClosedRange<UInt64>)
    func nextChange(seed: UInt64) {
        var run = RandomWeek(seed: seed)
        run.run()
        var reports: [PushReport] = []
        // Nothing is decided before the instant that the device names.
        while let next = run.device.nextChange, reports.count < 10 {
            var early = run.device
            early.advance(to: next.advanced(byMilliseconds: -1), into: &reports)
            #expect(reports.isEmpty, "seed \(seed)")
            run.device.advance(to: next, into: &reports)
            reports.removeAll()
        }
        #expect(run.device.nextChange == nil)
    }
}

/// A device with drawn parameters through a week of a drawn profile, and pushes at random.
struct RandomWeek {
    var device: ModelledDevice
    var reports: [PushReport] = []
    private(set) var pushes = 0
    private let plan: DayPlan
    private var generator: SeededGenerator
    private let start = ConservationTests.start
    private let withCalls: Bool

    init(seed: UInt64, withCalls: Bool = true) {
        self.withCalls = withCalls
        generator = SeededGenerator(seed: seed)
        let parameters = ModelParameters.drawn(using: &generator)
        let profile = DayProfile.known[Int(seed) % DayProfile.known.count]
        plan = DayPlan(profile, midnight: start, days: 7, using: &generator)
        device = ModelledDevice(
            parameters, seed: generator.next(), at: start.advanced(bySeconds: -172_800))
    }

    /// Runs the week, and queries the device between events at this interval (in milliseconds).
    mutating func run(advancingEvery pause: Int64? = nil) {
        var pushAt = start
        var lookAt = start
        for moment in plan.events {
            while pushAt <= moment.at {
                look(&lookAt, until: pushAt, pause)
                push(at: pushAt)
                pushAt = pushAt.advanced(byMilliseconds: generator.exponential(mean: 600_000))
            }
            look(&lookAt, until: moment.at, pause)
            device.apply(moment.event, at: moment.at, into: &reports)
        }
    }

    private mutating func look(_ lookAt: inout WallInstant, until end: WallInstant, _ pause: Int64?)
    {
        guard let pause else { return }
        while lookAt < end {
            device.advance(to: lookAt, into: &reports)
            lookAt = lookAt.advanced(byMilliseconds: pause)
        }
    }

    private mutating func push(at instant: WallInstant) {
        pushes += 1
        let contents: [ArrivingPush.Content] = [.background, .background, .mixed, .alert, .voip]
        let content = contents[Int(generator.integer(in: 0...(withCalls ? 4 : 3)))]
        let expirations: [Expiration?] = [
            nil, nil, .immediately, .at(instant.advanced(bySeconds: 3600)),
        ]
        let push = ArrivingPush(
            number: pushes, content: content,
            expiration: expirations[Int(generator.integer(in: 0...3))])
        device.take(push, at: instant, into: &reports)
    }
}
