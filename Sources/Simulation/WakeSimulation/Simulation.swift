// SPDX-License-Identifier: Apache-2.0

import DeviceModel
import WakeBudget
import WakeModel

/// Runs a scenario, device by device.
///
/// Devices have nothing to do with each other, so ranges of them can run on as many threads as
/// there are; adding up their results gives the same whatever the ranges.
public struct Simulation: Sendable {
    /// What is simulated.
    public let scenario: Scenario
    /// Whether there are devices, or only the decisions to send.
    public let modelsDevices: Bool

    /// A simulation of this scenario. Without a device model nothing is known of launches and
    /// staleness, the app reports nothing, and only what is sent is counted.
    public init(_ scenario: Scenario, modelsDevices: Bool = true) {
        self.scenario = scenario
        self.modelsDevices = modelsDevices
    }

    /// Runs some devices, by their numbers from 0; if traces are requested, each is passed on when
    /// complete, by device and in the order of the strategies.
    public func run(
        devices: Range<Int>, trace: ((DeviceTrace) -> Void)? = nil
    ) -> SimulationResult {
        var result = SimulationResult(scenario)
        for device in devices {
            let (story, group) = story(ofDevice: device)
            for (number, sendingStrategy) in scenario.contenders.enumerated() {
                let empty = DeviceTrace(
                    device: device, group: scenario.groups[group].name,
                    sendingStrategy: sendingStrategy.name)
                let (tally, full) = run(
                    story, by: sendingStrategy.method, trace: trace == nil ? nil : empty)
                result.contenders[number].groups[group].merge(tally)
                if let full { trace?(full) }
            }
        }
        return result
    }

    /// Runs one device by one way to send.
    func run(
        _ story: DeviceStory, by method: SendingStrategy.Method, trace: DeviceTrace? = nil
    ) -> (Tally, DeviceTrace?) {
        switch method {
        case .budget(let policy):
            let feedback = scenario.feedback
            let confirms =
                modelsDevices && (feedback.receiptProbability > 0 || feedback.isAmongConfirming)
            return run(
                story, by: BudgetedSending(policy.with(confirmsLaunches: confirms)), trace)
        case .everything:
            return run(story, by: SendEverything(), trace)
        case .oracle:
            return run(story, by: OracleSending(), trace)
        case .spacing(let seconds):
            return run(story, by: FixedSpacing(seconds: seconds), trace)
        case .window(let seconds, let sends):
            return run(story, by: DroppingWindow(seconds: seconds, sends: sends), trace)
        }
    }

    private func run(
        _ story: DeviceStory, by rule: some SendingRule, _ trace: DeviceTrace?
    ) -> (Tally, DeviceTrace?) {
        var run = DeviceRun(story, of: scenario, by: rule, trace: trace)
        run.run()
        return (run.tally, run.trace)
    }

    /// All that chance decides about one device, drawn once for all contenders.
    func story(ofDevice index: Int) -> (DeviceStory, group: Int) {
        let group = scenario.group(ofDevice: index)
        let habits = scenario.groups[group]
        var generator = SeededGenerator(seed: scenario.seed, stream: UInt64(index))
        let asks = scenario.asks(ofDevice: index, using: &generator)
        guard modelsDevices else {
            let device = ModelledDevice(seed: 0, at: scenario.start)
            return (
                DeviceStory(asks: asks, device: device, isModelled: false, chance: generator),
                group
            )
        }
        var parameters: ModelParameters
        var profile = habits.profile
        if let family = habits.family {
            (parameters, profile) = family.drawn(using: &generator)
        } else {
            parameters =
                switch habits.model {
                case .standard: ModelParameters()
                case .exact: .exact
                case .drawn: .drawn(using: &generator)
                }
        }
        let days = Int((scenario.seconds + 86_399) / 86_400)
        let moments =
            profile.map {
                DayPlan($0, midnight: scenario.start, days: days, using: &generator).events
            } ?? []
        // The plan begins with the evening before.
        let begin = moments.first?.at ?? scenario.start
        let device = ModelledDevice(
            parameters, app: scenario.app, seed: generator.next(), at: min(begin, scenario.start))
        return (
            DeviceStory(asks: asks, moments: moments, device: device, chance: generator), group
        )
    }
}

/// What happens to one device and what is asked of it, whatever the way to send.
struct DeviceStory: Sendable {
    /// In the order of time.
    var asks: [AskedWake]
    /// What its user and its surroundings do, in the order of time.
    var moments: [DayPlan.Moment] = []
    /// The device before that time; without a model it exists, but receives nothing.
    var device: ModelledDevice
    /// Whether there is a model.
    var isModelled = true
    /// What else is left to chance.
    var chance: SeededGenerator
}

extension Scenario {
    /// Which group a device belongs to: the first devices are the first group, and so on.
    func group(ofDevice index: Int) -> Int {
        var first = 0
        for (number, group) in groups.enumerated() {
            first += group.count
            if index < first { return number }
        }
        preconditionFailure("Device \(index) is not among the \(first) of the scenario.")
    }
}

/// What came of a scenario, or of some of its devices.
public struct SimulationResult: Hashable, Sendable {
    /// Each contender, in the order of the scenario.
    public var contenders: [SendingStrategyResult]

    /// A result without any device.
    public init(_ scenario: Scenario) {
        contenders = scenario.contenders.map { sendingStrategy in
            SendingStrategyResult(
                name: sendingStrategy.name,
                groups: Array(repeating: Tally(), count: scenario.groups.count))
        }
    }

    /// Adds what came of other devices of the same scenario.
    public mutating func merge(_ other: SimulationResult) {
        for number in contenders.indices {
            for group in contenders[number].groups.indices {
                contenders[number].groups[group].merge(other.contenders[number].groups[group])
            }
        }
    }
}

/// What came of one way to send.
public struct SendingStrategyResult: Hashable, Sendable {
    /// Its name.
    public var name: String
    /// Group by group, in the order of the scenario.
    public var groups: [Tally]

    /// All groups together.
    public var total: Tally {
        groups.reduce(into: Tally()) { $0.merge($1) }
    }
}
