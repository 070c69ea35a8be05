// SPDX-License-Identifier: Apache-2.0

import DeviceModel
import Testing
import WakeBudget
import WakeSimulation

/// What the budget is for, on devices with unknown figures: the purpose of adapting it to receipts.
@Suite("Rouse's budget against sending everything")
struct GoalTests {
    /// The oldest that the data may be on the devices of one profile, as a multiple of its age when
    /// everything is sent. Over all devices the goal is 1.05; on 25 devices that launch readily the
    /// data is a minute old, and a receipt that is lost shows.
    static let oldestOnOneProfile = 1.35

    @Test(
        "half the pushes, as fresh, and nearly none in vain",
        arguments: [Scenario.ModelSource.standard, .drawn], Traffic.allCases)
    func goals(model: Scenario.ModelSource, traffic: Traffic) {
        var scenario = Scenario(name: "goals")
        scenario.seed = 11
        scenario.seconds = 7 * 86_400
        scenario.groups = DayProfile.known.map {
            .init(name: $0.name, profile: $0, count: 25, model: model)
        }
        scenario.streams = traffic.streams
        scenario.contenders = [
            SendingStrategy(name: "rouse", method: .budget(.standard)),
            SendingStrategy(name: "everything", method: .everything),
        ]
        let result = Simulation(scenario).run(devices: 0..<scenario.deviceCount)
        let (rouse, everything) = (result.contenders[0].total, result.contenders[1].total)
        let pushes = Double(rouse.sent) / Double(everything.sent)
        let age = (rouse.meanAge ?? .infinity) / (everything.meanAge ?? 0)
        let reached = rouse.reachedShare ?? 0
        #expect(pushes <= 0.5, "\(pushes)")
        #expect(age <= 1.05, "\(age)")
        #expect(reached >= 0.95, "\(reached)")
        for (number, group) in scenario.groups.enumerated() {
            let (rouse, everything) = (
                result.contenders[0].groups[number], result.contenders[1].groups[number]
            )
            let age = (rouse.meanAge ?? .infinity) / (everything.meanAge ?? 0)
            #expect(age <= Self.oldestOnOneProfile, "\(group.name): \(age)")
        }
    }

    /// Events as different apps have them.
    enum Traffic: CaseIterable {
        case talk
        case dense
        case hourly

        var streams: [EventStream] {
            switch self {
            case .talk:
                [
                    EventStream(
                        name: "talk", pattern: .bursts(perDay: 40, size: 8, withinSeconds: 900))
                ]
            case .dense: [EventStream(name: "dense", pattern: .poisson(perHour: 20))]
            case .hourly:
                (0..<5).map { place in
                    EventStream(
                        name: "place",
                        pattern: .fixed(
                            everySeconds: 3600, afterSeconds: 300 + 40 * place, count: .max))
                }
            }
        }
    }
}
