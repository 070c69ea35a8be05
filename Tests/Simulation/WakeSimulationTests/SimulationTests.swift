// SPDX-License-Identifier: Apache-2.0

import DeviceModel
import Testing
import WakeBudget
import WakeModel

@testable import WakeSimulation

@Suite("Simulation")
struct SimulationTests {
    /// 14 pushes, one every 450 s, to a device on which nothing happens.
    static let fourteenPushes: Scenario = {
        var scenario = Scenario(name: "wwdc")
        scenario.seconds = 6_299
        scenario.groups = [.init(name: "still", profile: nil, count: 1, model: .exact)]
        scenario.streams = [
            EventStream(
                name: "s", pattern: .fixed(everySeconds: 450, afterSeconds: 0, count: 14))
        ]
        scenario.feedback.receiptProbability = 1
        scenario.contenders =
            [SendingStrategy(name: "rouse", method: .budget(.standard))] + SendingStrategy.baselines
        return scenario
    }()

    /// Every profile, drawn models, a lively stream.
    static func week(seed: UInt64, devicesPerProfile: Int = 2) -> Scenario {
        var scenario = Scenario(name: "week")
        scenario.seed = seed
        scenario.seconds = 7 * 86_400
        scenario.groups = DayProfile.known.map {
            .init(name: $0.name, profile: $0, count: devicesPerProfile, model: .drawn)
        }
        scenario.streams = [
            EventStream(
                name: "talk", pattern: .bursts(perDay: 30, size: 6, withinSeconds: 900)),
            EventStream(name: "drip", pattern: .poisson(perHour: 1)),
        ]
        scenario.streams[1].lifeSeconds = 7_200
        scenario.contenders =
            [SendingStrategy(name: "rouse", method: .budget(.standard))] + SendingStrategy.baselines
        return scenario
    }

    @Test("sending everything makes 7 launches of 14 pushes; Rouse makes them of 8")
    func wwdc() {
        let result = Simulation(Self.fourteenPushes).run(devices: 0..<1)
        let rouse = result.contenders[0].total
        let everything = result.contenders[1].total
        #expect(everything.sent == 14)
        #expect(everything.launched == 7)
        #expect(everything.fates["coalesced-on-device"] == 6)
        #expect(everything.undecided == 1)
        // The last event, which the device still holds, was never seen.
        #expect(everything.shareSeen(within: .max) == 13.0 / 14)
        #expect(rouse.shareSeen(within: .max) == 13.0 / 14)
        #expect(rouse.launched == 7)
        #expect(rouse.sent == 8)
        #expect(rouse.undecided == 1)
        #expect(rouse.wasted == 0)
        #expect(rouse.meanAge.map { $0 <= (everything.meanAge ?? 0) * 1.05 } == true)
    }

    // Two streams on the same clock: merged, sending everything would look twice as good as it is.
    @Test("events of the same millisecond are sent one by one where each event is sent")
    func sameMillisecond() {
        var scenario = Scenario(name: "aligned")
        scenario.groups = [.init(name: "still", profile: nil, count: 1, model: .exact)]
        scenario.streams = ["a", "b"].map {
            EventStream(
                name: $0, pattern: .fixed(everySeconds: 3_600, afterSeconds: 0, count: .max))
        }
        scenario.contenders = [
            SendingStrategy(name: "everything", method: .everything),
            SendingStrategy(name: "one", method: .window(seconds: 900, sends: 1)),
            SendingStrategy(name: "two", method: .window(seconds: 900, sends: 2)),
            SendingStrategy(name: "rouse", method: .budget(.standard)),
        ]
        for modelsDevices in [true, false] {
            let result = Simulation(scenario, modelsDevices: modelsDevices).run(devices: 0..<1)
            let tallies = result.contenders.map(\.total)
            #expect(tallies.map(\.asked) == [48, 48, 48, 48])
            #expect(tallies.map(\.sent) == [48, 24, 48, 24])
            #expect(tallies.map(\.merged) == [0, 0, 0, 24])
        }
    }

    @Test("every event and every push ends in one way", arguments: 1...4 as ClosedRange<UInt64>)
    func conservation(seed: UInt64) {
        let scenario = Self.week(seed: seed)
        let result = Simulation(scenario).run(devices: 0..<scenario.deviceCount)
        for sendingStrategy in result.contenders {
            for tally in sendingStrategy.groups + [sendingStrategy.total] {
                let ended = tally.ended.values.reduce(0, +)
                #expect(
                    tally.wait.count + ended + tally.waiting == tally.asked,
                    "seed \(seed), \(sendingStrategy.name)")
                #expect(
                    tally.staleness.count == tally.asked, "seed \(seed), \(sendingStrategy.name)")
                #expect(
                    tally.fates.values.reduce(0, +) + tally.undecided == tally.sent,
                    "seed \(seed), \(sendingStrategy.name)")
                #expect(tally.wasted <= tally.sent, "seed \(seed), \(sendingStrategy.name)")
            }
        }
    }

    @Test("the result does not depend on how devices are shared out")
    func sharing() {
        let scenario = Self.week(seed: 9)
        let simulation = Simulation(scenario)
        let whole = simulation.run(devices: 0..<scenario.deviceCount)
        var parts = SimulationResult(scenario)
        for device in (0..<scenario.deviceCount).reversed() {
            parts.merge(simulation.run(devices: device..<device + 1))
        }
        #expect(parts == whole)
    }

    @Test("another seed is another run")
    func seeds() {
        let left = Simulation(Self.week(seed: 1)).run(devices: 0..<2)
        let right = Simulation(Self.week(seed: 2)).run(devices: 0..<2)
        #expect(left != right)
    }

    @Test("looking on changes nothing, and the trace adds up to the tally")
    func traces() {
        let scenario = Self.week(seed: 3, devicesPerProfile: 1)
        let simulation = Simulation(scenario)
        var traces: [DeviceTrace] = []
        let result = simulation.run(devices: 0..<scenario.deviceCount) { traces.append($0) }
        #expect(result == simulation.run(devices: 0..<scenario.deviceCount))
        for (number, sendingStrategy) in scenario.contenders.enumerated() {
            let own = traces.filter { $0.sendingStrategy == sendingStrategy.name }
            let tally = result.contenders[number].total
            #expect(own.map(\.device) == Array(0..<scenario.deviceCount))
            #expect(own.reduce(0) { $0 + UInt64($1.asks.count) } == tally.asked)
            #expect(own.reduce(0) { $0 + UInt64($1.pushes.count) } == tally.sent)
            for trace in own { check(trace) }
        }
    }

    private func check(_ trace: DeviceTrace) {
        for ask in trace.asks {
            #expect(ask.push == nil || ask.end == nil)
            if let push = ask.push { #expect(trace.pushes[push].sentAt >= ask.at) }
        }
        // Each push was made by one event and carries the others.
        var makers: [Int: Int] = [:]
        for ask in trace.asks where !ask.isMerged {
            if let push = ask.push { makers[push, default: 0] += 1 }
        }
        #expect(trace.pushes.indices.allSatisfy { makers[$0] == 1 })
        for span in trace.unable + trace.foreground { #expect(span.upperBound != .max) }
    }

    @Test("without a device model only sends are counted")
    func withoutModel() {
        let scenario = Self.week(seed: 5)
        let result = Simulation(scenario, modelsDevices: false)
            .run(devices: 0..<scenario.deviceCount)
        let everything = result.contenders[1].total
        #expect(everything.sent == everything.asked)
        #expect(everything.launched == 0)
        #expect(everything.undecided == everything.sent)
        #expect(result.contenders[0].total.sent < everything.sent)
    }
}
