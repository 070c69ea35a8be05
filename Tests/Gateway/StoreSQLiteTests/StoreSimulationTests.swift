// SPDX-License-Identifier: Apache-2.0

import CSimulatedDisk
import Foundation
import Gateway
import GatewayTestKit
import StoreTestKit
import Testing

@testable import StoreSQLite

/// The simulated life of a queue (see QueueSimulationTests) on the store in SQLite, over a disk
/// that fails and tears: a few seconds of it in each test run, and as many as
/// `ROUSE_SIMULATION_SECONDS` says where somebody looks for more. `ROUSE_SIMULATION_SEED` is used
/// as there.
@Suite("Simulation of the store")
struct StoreSimulationTests {
    static let stepsPerSeed = 400
    static let seeds: UInt64 = 6

    private static func variable(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
    }

    @Test(
        "Whatever the disk loses, what was answered stays, or a beginning of it",
        arguments: SQLiteWakeStore.Durability.allCases)
    func simulation(_ durability: SQLiteWakeStore.Durability) async throws {
        let clock = ContinuousClock()
        let start = clock.now
        let seconds = Self.variable("ROUSE_SIMULATION_SECONDS")
        let first = Self.variable("ROUSE_SIMULATION_SEED")
        let only = seconds == nil ? first : nil
        var total = QueueSimulation.Tally()
        var lost = Losses()
        var seed = first ?? 1
        repeat {
            var failure: String?
            try await withTemporaryFolder { folder in
                let machine = try SQLiteMachine(
                    folder: folder, durability: durability, seed: seed)
                let simulation = QueueSimulation(seed: seed, machine: machine)
                simulation.isTraced = only != nil
                failure = await simulation.run(steps: Self.stepsPerSeed)
                total += simulation.tally
                lost += machine.counts
            }
            if let failure {
                Issue.record("\(failure); ROUSE_SIMULATION_SEED=\(seed) repeats it")
                return
            }
            seed += 1
        } while only == nil
            && (seconds.map { start.duration(to: clock.now) < .seconds($0) }
                ?? (seed <= Self.seeds))
        if seconds != nil {
            print("seeds up to \(seed - 1) in \(start.duration(to: clock.now)): \(total), \(lost)")
        }
        guard only == nil else { return }
        // One that does nothing finds nothing.
        #expect(total.accepted > 1_000 && total.pushes > 300 && total.merged > 100)
        #expect(total.powerCuts > 7 && total.restarts > total.powerCuts && total.doubtful > 2)
        #expect(lost.sectors > 10 && lost.tornWrites > 0 && lost.failures > 15)
    }

    /// What power cuts took.
    struct Losses {
        var writes: UInt64 = 0
        var sectors: UInt64 = 0
        var files: UInt64 = 0
        var tornWrites: UInt64 = 0
        var failures: UInt64 = 0

        static func += (sum: inout Losses, counts: CSimulatedDiskCounts) {
            sum.writes += counts.writes
            sum.sectors += counts.lostSectors
            sum.files += counts.lostFiles
            sum.tornWrites += counts.tornWrites
            sum.failures += counts.failures
        }
    }
}
