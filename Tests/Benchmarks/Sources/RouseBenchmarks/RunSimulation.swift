// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import RouseCommand
import WakeSimulation

/// The measurement of a simulation, in the process that is measured.
struct RunSimulation: AsyncParsableCommand {
    static let name = "run-simulation"
    static let configuration = CommandConfiguration(
        commandName: name, abstract: "For the benchmark's own use.", shouldDisplay: false)

    @Argument var task: String

    func run() async throws {
        let task = try JSONDecoder().decode(SimulationTask.self, from: Data(task.utf8))
        let before = (wall: ProcessClocks.wallSeconds, cpu: ProcessClocks.cpuSeconds)
        let driver = SimulationDriver(Simulation(task.scenario), threads: task.threads)
        let result = await driver.run()
        let totals = result.contenders.map(\.total)
        let sample = SimulationSample(
            seconds: ProcessClocks.wallSeconds - before.wall,
            cpuSeconds: ProcessClocks.cpuSeconds - before.cpu,
            peakBytes: ProcessClocks.residentBytes.peak, events: Int(totals[0].asked),
            pushes: totals.reduce(0) { $0 + Int($1.sent) })
        print(String(decoding: try JSONEncoder().encode(sample), as: UTF8.self))
    }
}
