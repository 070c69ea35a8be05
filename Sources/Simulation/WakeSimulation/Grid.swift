// SPDX-License-Identifier: Apache-2.0

public import DeviceModel
public import WakeBudget
import WakeModel

/// Compares Rouse's budget with sending everything, on families of unmeasured devices, for a week,
/// with several workloads.
///
/// A cell is one family with one workload. Cells are independent and can run in parallel;
/// ``rows(of:)`` combines their results.
public struct Grid: Sendable {
    /// The families.
    public var families = DeviceFamily.known
    /// The workloads.
    public var workloads = GridWorkload.known
    /// The reports that the sender receives from devices.
    public var conditions = GridCondition.known
    /// The policy of the budget.
    public var policy = BudgetPolicy.standard
    /// The seed of all random numbers.
    public var seed: UInt64 = 1
    /// The number of devices in a cell.
    public var devicesPerCell = 56
    /// The simulated time, in seconds.
    public var seconds: Int64 = 7 * 86_400

    /// Creates a grid of all known families, workloads and conditions.
    public init() {}

    /// The number of cells.
    public var cellCount: Int { families.count * workloads.count }

    /// The result of one cell.
    public struct Cell: Hashable, Sendable {
        /// The names of its family and its workload.
        public let name: String
        /// The tally if everything is sent.
        let everything: Tally
        /// The tally for each condition, in the order of the grid.
        var conditions: [Tally]
        /// For each condition, the age of each device's data, relative to its age if everything is
        /// sent.
        var ages: [[Double]]
    }

    /// Runs the cell with this index.
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

    /// One row of the grid's table.
    public struct Row: Hashable, Sendable {
        /// The name of the condition.
        public let condition: String
        /// The share of pushes to able devices that reached the app; see ``Tally/reachedShare``.
        public let able: Double
        /// The number of pushes, relative to those that reach the app if everything is sent.
        public let pushesPerNeed: Double
        /// The mean age of the data of all devices, relative to its value if everything is sent.
        public let staleness: Double
        /// The 95th percentile of that ratio among the devices.
        public let staleness95: Double
        /// The ratio of the worst cell.
        public let worst: Double
        /// The name of the worst cell.
        public let worstCell: String
    }

    /// The table of all cells, with one row for each condition.
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
    /// The mean age of the data with a condition, relative to its value if everything is sent.
    fileprivate func age(_ place: Int) -> Double { conditions[place].age(asOf: everything) }
}

extension Tally {
    fileprivate func age(asOf other: Tally) -> Double {
        guard let age = meanAge, let base = other.meanAge, base > 0 else { return 0 }
        return age / base
    }
}
