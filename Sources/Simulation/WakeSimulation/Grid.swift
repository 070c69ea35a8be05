// SPDX-License-Identifier: Apache-2.0

public import DeviceModel
public import WakeBudget
import WakeModel

/// Rouse's budget on families of unmeasured devices, for a week, each under several workloads,
/// compared with sending everything to the same devices.
///
/// A cell is one family under one workload. Cells have nothing to do with each other, so they can
/// run on as many threads as there are; ``rows(of:)`` adds them up.
public struct Grid: Sendable {
    /// The families.
    public var families = DeviceFamily.known
    /// The workloads.
    public var workloads = GridWorkload.known
    /// The reports that the sender receives from its devices.
    public var conditions = GridCondition.known
    /// The rules.
    public var policy = BudgetPolicy.standard
    /// Where all chance comes from.
    public var seed: UInt64 = 1
    /// How many devices a cell has.
    public var devicesPerCell = 56
    /// How long it lasts, in seconds.
    public var seconds: Int64 = 7 * 86_400

    /// The grid of the shipped families, workloads and conditions.
    public init() {}

    /// How many cells there are.
    public var cellCount: Int { families.count * workloads.count }

    /// What came of one cell.
    public struct Cell: Hashable, Sendable {
        /// The names of its family and its workload.
        public let name: String
        /// When everything is sent.
        let everything: Tally
        /// Condition by condition, in the order of the grid.
        var conditions: [Tally]
        /// The age of each device's data as a multiple of its age when everything is sent,
        /// condition by condition.
        var ages: [[Double]]
    }

    /// Runs one cell, by its number from 0.
    public func run(cell number: Int) -> Cell {
        let family = families[number / workloads.count]
        let workload = workloads[number % workloads.count]
        let scenario = scenario(family, workload, number)
        var everything = Tally()
        var tallies = conditions.map { _ in Tally() }
        var ages = conditions.map { _ in [Double]() }
        for device in 0..<devicesPerCell {
            let simulation = Simulation(scenario)
            let (story, _) = simulation.story(ofDevice: device)
            let (sent, _) = simulation.run(story, by: .everything)
            everything.merge(sent)
            for (place, condition) in conditions.enumerated() {
                var scenario = scenario
                scenario.feedback = condition.feedback
                let (tally, _) = Simulation(scenario).run(
                    story, by: condition.isOracle ? .oracle : .budget(policy))
                tallies[place].merge(tally)
                guard let least = sent.meanAge, least > 0 else { continue }
                ages[place].append((tally.meanAge ?? 0) / least)
            }
        }
        return Cell(
            name: "\(family.name)/\(workload.name)", everything: everything, conditions: tallies,
            ages: ages)
    }

    private func scenario(
        _ family: DeviceFamily, _ workload: GridWorkload, _ number: Int
    ) -> Scenario {
        var family = family
        if let opens = workload.opensPerWeek { family.opensPerWeek = opens }
        var scenario = Scenario(name: "\(family.name)/\(workload.name)")
        var seeds = SeededGenerator(seed: seed, stream: UInt64(number))
        scenario.seed = seeds.next()
        scenario.seconds = seconds
        var group = Scenario.DeviceGroup(name: family.name, profile: nil, count: devicesPerCell)
        group.family = family
        scenario.groups = [group]
        scenario.streams = workload.streams
        return scenario
    }

    /// One line of the grid's table.
    public struct Row: Hashable, Sendable {
        /// The condition's name.
        public let condition: String
        /// The share of the pushes that reached the app, of those that only the device's own pace
        /// could hold: see ``Tally/reachedShare``.
        public let able: Double
        /// Pushes as a share of those that reach the app when everything is sent.
        public let pushesPerNeed: Double
        /// The age of the data over time, of all devices together, as a multiple of its age when
        /// everything is sent.
        public let staleness: Double
        /// The same of each device, which 95 % of the devices do not exceed.
        public let staleness95: Double
        /// The same of the cell that is worst off.
        public let worst: Double
        /// That cell's name.
        public let worstCell: String
    }

    /// The table of all cells, a row for each condition.
    public func rows(of cells: [Cell]) -> [Row] {
        let everything = cells.reduce(into: Tally()) { $0.merge($1.everything) }
        let needed = Double(everything.launched + everything.inForeground)
        return conditions.enumerated().map { place, condition in
            let total = cells.reduce(into: Tally()) { $0.merge($1.conditions[place]) }
            let ages = cells.flatMap { $0.ages[place] }.sorted()
            let worst = cells.map { (age: $0.age(place), name: $0.name) }.max { $0.age < $1.age }
            return Row(
                condition: condition.name, able: total.reachedShare ?? 0,
                pushesPerNeed: needed == 0 ? 0 : Double(total.sent) / needed,
                staleness: total.age(asOf: everything),
                staleness95: ages.isEmpty ? 0 : ages[(ages.count * 95 + 99) / 100 - 1],
                worst: worst?.age ?? 0, worstCell: worst?.name ?? "")
        }
    }
}

extension Grid.Cell {
    /// The age of the data under a condition, as a multiple of its age when everything is sent.
    fileprivate func age(_ place: Int) -> Double { conditions[place].age(asOf: everything) }
}

extension Tally {
    fileprivate func age(asOf other: Tally) -> Double {
        guard let age = meanAge, let base = other.meanAge, base > 0 else { return 0 }
        return age / base
    }
}
