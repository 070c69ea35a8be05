// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayTestKit
import Testing

/// The simulated life of a queue, from some seeds: a few seconds of it in each test run, and as
/// many as `ROUSE_SIMULATION_SECONDS` says where somebody looks for more. A run that finds
/// something prints its seed, and `ROUSE_SIMULATION_SEED` runs that one alone and prints each step;
/// with both, the seeds from that one on are run.
@Suite("Simulation of the queue")
struct QueueSimulationTests {
    static let stepsPerSeed = 4_000

    private static func variable(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
    }

    @Test("Nothing is lost, nothing ends twice, no phone rings twice, and no budget is exceeded")
    func simulation() async {
        let clock = ContinuousClock()
        let start = clock.now
        let seconds = Self.variable("ROUSE_SIMULATION_SECONDS")
        let first = Self.variable("ROUSE_SIMULATION_SEED")
        let only = seconds == nil ? first : nil
        var total = QueueSimulation.Tally()
        var seed = first ?? 1
        repeat {
            let simulation = QueueSimulation(seed: seed, machine: MemoryMachine())
            simulation.isTraced = only != nil
            if let failure = await simulation.run(steps: Self.stepsPerSeed) {
                Issue.record("\(failure); ROUSE_SIMULATION_SEED=\(seed) repeats it")
                return
            }
            total += simulation.tally
            seed += 1
        } while only == nil
            && (seconds.map { start.duration(to: clock.now) < .seconds($0) } ?? (seed <= 6))
        if seconds != nil {
            print("seeds up to \(seed - 1) in \(start.duration(to: clock.now)): \(total)")
        }
        guard only == nil else { return }
        // One that does nothing finds nothing.
        #expect(total.accepted > 1_000 && total.pushes > 1_000 && total.merged > 100)
        #expect(total.sameCalls > 100 && total.unknown > 100 && total.failures > 100)
        #expect(total.crashes > 100 && total.powerCuts > 10 && total.leaps > 10)
    }

    @Test("The same seed is the same life")
    func repeatable() async {
        var tallies: [QueueSimulation.Tally] = []
        for _ in 0..<2 {
            let simulation = QueueSimulation(seed: 3, machine: MemoryMachine())
            _ = await simulation.run(steps: 500)
            tallies.append(simulation.tally)
        }
        #expect(tallies[0] == tallies[1])
    }
}
