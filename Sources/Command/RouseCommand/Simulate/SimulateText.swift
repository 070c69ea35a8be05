// SPDX-License-Identifier: Apache-2.0

import WakeSimulation

/// `rouse simulate` for a person.
struct SimulateText {
    private let console: Console

    /// Writes to this console.
    init(_ console: Console) { self.console = console }

    /// What came of one scenario.
    func tell(_ output: SimulatePlan.Output) {
        let scenario = output.simulation.scenario
        console.say(console.coloured(scenario.name, .strong))
        if !scenario.summary.isEmpty { console.say("", scenario.summary) }
        console.say("Run", Self.words(output))
        console.say()
        guard output.simulation.modelsDevices else {
            tellSends(output.result)
            return
        }
        tellTotals(output.result)
        if output.result.contenders.count > 1, scenario.groups.count > 1 {
            tellGroups(output.result, scenario)
        }
        tellVerdict(output.result, scenario)
    }

    private static func words(_ output: SimulatePlan.Output) -> String {
        let scenario = output.simulation.scenario
        let asked = output.result.contenders.first?.total.asked ?? 0
        return "\(Figures.devices(scenario.deviceCount)) for "
            + "\(Figures.time(scenario.seconds * 1000)), \(Figures.count(asked)) events, "
            + "seed \(scenario.seed); took \(Figures.seconds(output.duration)) s"
    }

    // MARK: Tables

    private static let nameWidth = 20

    private func tellSends(_ result: SimulationResult) {
        row("", [("asked", 10), ("pushes", 10), ("merged", 10), ("ended", 10), ("wait", 9)])
        for sendingStrategy in result.contenders {
            let tally = sendingStrategy.total
            let ended = tally.ended.values.reduce(0, +)
            row(
                sendingStrategy.name,
                [
                    (Figures.count(tally.asked), 10), (Figures.count(tally.sent), 10),
                    (Figures.count(tally.merged), 10), (Figures.count(ended), 10),
                    (Figures.time(tally.wait.percentile(50)), 9),
                ])
        }
        console.say()
        console.say(
            "Meaning",
            "Without a device model only what is sent is known. wait: the median time "
                + "from an event to its push.")
        console.say()
    }

    private func tellTotals(_ result: SimulationResult) {
        row(
            "",
            [
                ("pushes", 9), ("launch", 9), ("/push", 6), ("wasted", 9), ("able", 7),
                ("median", 8), ("95 %", 8), ("age", 8),
            ])
        for sendingStrategy in result.contenders {
            let tally = sendingStrategy.total
            row(
                sendingStrategy.name,
                [
                    (Figures.count(tally.sent), 9), (Figures.count(tally.launched), 9),
                    (Figures.share(tally.launchesPerPush), 6), (Figures.count(tally.wasted), 9),
                    (Figures.percent(tally.reachedShare), 7),
                    (Figures.time(tally.staleness.percentile(50)), 8),
                    (Figures.time(tally.staleness.percentile(95)), 8),
                    (Figures.time(tally.meanAge.map { Int64($0) }), 8),
                ])
        }
        console.say()
        console.say(
            "Columns",
            "able: the share of the pushes sent to a device able to launch the app that reached "
                + "it; median and 95 %: how long events stayed unseen; age: the mean age of the "
                + "app's data.")
        console.say()
    }

    private func tellGroups(_ result: SimulationResult, _ scenario: Scenario) {
        guard let tested = result.contenders.first,
            let everything = result.contenders.first(where: { $0.name == "everything" })
        else { return }
        console.say("\(tested.name), by profile")
        row(
            "",
            [
                ("pushes", 9), ("of all", 7), ("/push", 6), ("able", 7), ("median", 8),
                ("95 %", 8), ("age", 8), ("of all's", 9),
            ])
        for (index, group) in scenario.groups.enumerated() {
            let comparison = Comparison(tested.groups[index], everything.groups[index])
            let tally = tested.groups[index]
            row(
                group.name,
                [
                    (Figures.count(tally.sent), 9), (Figures.percent(comparison.pushes), 7),
                    (Figures.share(tally.launchesPerPush), 6),
                    (Figures.percent(tally.reachedShare), 7),
                    (Figures.time(tally.staleness.percentile(50)), 8),
                    (Figures.time(tally.staleness.percentile(95)), 8),
                    (Figures.time(tally.meanAge.map { Int64($0) }), 8),
                    (Figures.share(comparison.age), 9),
                ])
        }
        console.say()
    }

    private func row(_ name: String, _ cells: [(text: String, width: Int)]) {
        var line = name.padding(toWidth: Self.nameWidth)
        for cell in cells {
            line += String(repeating: " ", count: max(1, cell.width - cell.text.count)) + cell.text
        }
        console.say(line)
    }

    // MARK: Verdict

    private func tellVerdict(_ result: SimulationResult, _ scenario: Scenario) {
        guard let tested = result.contenders.first,
            let everything = result.contenders.first(where: { $0.name == "everything" })
        else { return }
        let tally = tested.total
        let comparison = Comparison(tally, everything.total)
        let age = comparison.age.map { "data \(Figures.share($0)) times as old" } ?? "no events"
        console.say(
            "Verdict",
            "Against sending everything: \(Figures.percent(comparison.pushes)) of the pushes, "
                + age + Self.words(worstOf: tested, everything, scenario)
                + "; \(Figures.percent(tally.reachedShare)) of what is sent to an able "
                + "device reaches the app.", comparison.meetsGoals ? .good : .doubtful)
        console.say()
    }

    /// The profile whose data is oldest beside sending everything: the mean of all would hide it.
    private static func words(
        worstOf tested: SendingStrategyResult, _ everything: SendingStrategyResult,
        _ scenario: Scenario
    ) -> String {
        let ages = zip(scenario.groups, zip(tested.groups, everything.groups)).compactMap {
            group, tallies in
            Comparison(tallies.0, tallies.1).age.map { (name: group.name, age: $0) }
        }
        guard ages.count > 1, let worst = ages.max(by: { $0.age < $1.age }) else { return "" }
        return " (at worst \(Figures.share(worst.age)) times, on \(worst.name) devices)"
    }
}

/// One way to send beside sending everything to the same devices.
struct Comparison {
    /// The most pushes that Rouse's budget may need, as a share of sending everything.
    static let mostPushes = 0.5
    /// The oldest that the data may be, as a multiple of its age when everything is sent.
    static let oldestData = 1.05
    /// The least share of the pushes to able devices that must reach the app.
    static let leastReached = 0.95

    /// Its pushes as a share of the other's; `nil` when that has none.
    let pushes: Double?
    /// The mean age of its data as a multiple of the other's; `nil` when that has none.
    let age: Double?
    private let reached: Double?

    /// Compares the first with the second.
    init(_ tally: Tally, _ everything: Tally) {
        pushes = everything.sent == 0 ? nil : Double(tally.sent) / Double(everything.sent)
        let oldest = everything.meanAge ?? 0
        age = oldest == 0 ? nil : tally.meanAge.map { $0 / oldest }
        reached = tally.reachedShare
    }

    /// Whether it does what the budget is for: as fresh, with fewer pushes, none in vain.
    var meetsGoals: Bool {
        (pushes ?? 0) <= Self.mostPushes && (age ?? 1) <= Self.oldestData
            && (reached ?? 1) >= Self.leastReached
    }
}
