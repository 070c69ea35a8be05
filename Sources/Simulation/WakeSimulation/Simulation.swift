// SPDX-License-Identifier: Apache-2.0

import DeviceModel
import WakeBudget
import WakeModel

/// Runs a scenario, device by device.
///
/// Devices are independent: ranges of them can run in parallel, and the merged result does not
/// depend on the ranges.
public struct Simulation: Sendable {
    /// The scenario.
    public let scenario: Scenario
    /// Whether devices are modelled, or only the decisions to send.
    public let modelsDevices: Bool

    /// Creates a simulation. Without a device model there are no launches, staleness and reports;
    /// only pushes are counted.
    public init(_ scenario: Scenario, modelsDevices: Bool = true) {
        self.scenario = scenario
        self.modelsDevices = modelsDevices
    }

    /// Runs a range of devices. Passes the trace of each device and strategy to `trace`, by device
    /// and in the order of the strategies.
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

    /// Runs one device with one sending strategy.
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

    /// Draws the input of one device, once for all strategies.
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

/// The events of one device, which are the same for all sending strategies.
struct DeviceStory: Sendable {
    /// The events that request wakes, in order of time.
    var asks: [AskedWake]
    /// The actions of the user and the changes of the surroundings, in order of time.
    var moments: [DayPlan.Moment] = []
    /// The device before these events. Without a model it exists, but receives nothing.
    var device: ModelledDevice
    /// Whether the device is modelled.
    var isModelled = true
    /// The generator for further random numbers.
    var chance: SeededGenerator
}

extension Scenario {
    /// The index of a device's group; devices are numbered group by group.
    func group(ofDevice index: Int) -> Int {
        var first = 0
        for (number, group) in groups.enumerated() {
            first += group.count
            if index < first { return number }
        }
        preconditionFailure("Device \(index) is not among the \(first) of the scenario.")
    }
}

/// The result of a scenario, or of some of its devices.
public struct SimulationResult: Hashable, Sendable {
    /// The results of the strategies, in the order of the scenario.
    public var contenders: [SendingStrategyResult]

    /// Creates a result without devices.
    public init(_ scenario: Scenario) {
        contenders = scenario.contenders.map { sendingStrategy in
            SendingStrategyResult(
                name: sendingStrategy.name,
                groups: Array(repeating: Tally(), count: scenario.groups.count))
        }
    }

    /// Adds the result of other devices of the same scenario.
    public mutating func merge(_ other: SimulationResult) {
        for number in contenders.indices {
            for group in contenders[number].groups.indices {
                contenders[number].groups[group].merge(other.contenders[number].groups[group])
            }
        }
    }
}

/// The result of one sending strategy.
public struct SendingStrategyResult: Hashable, Sendable {
    /// The name of the strategy.
    public var name: String
    /// The tallies of the groups, in the order of the scenario.
    public var groups: [Tally]

    /// The tally of all groups.
    public var total: Tally {
        groups.reduce(into: Tally()) { $0.merge($1) }
    }
}
