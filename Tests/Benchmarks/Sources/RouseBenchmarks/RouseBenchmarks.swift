// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// Measurements of Rouse, beside what they are to be compared with, in one run.
@main
struct RouseBenchmarks: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "RouseBenchmarks",
        abstract: """
            Measures the push client, the APNs simulator, the gateway, the payload checker, the \
            wake budget, simulations, and memory.
            """,
        discussion: """
            Everything runs on loopback: the server on the first processor, the client on the \
            second, each as a process of its own, so that the time and memory of one are not \
            counted for the other. Runs alternate, figures are medians, and a ratio is the median \
            of the ratios of neighbouring runs: compare ratios, not figures of different machines.

            Needs nghttpd and h2load (Debian: nghttp2-server, nghttp2-client) and openssl.

            Example: RouseBenchmarks client --server nghttpd --in-flight 100
            """,
        subcommands: [
            AllBenchmarks.self, ClientBenchmark.self, SimulatorBenchmark.self, MemoryBenchmark.self,
            GatewayBenchmark.self, GatewayHTTPBenchmark.self, GatewayNeighbours.self,
            GatewayCurves.self, SharedStoreBenchmark.self, RetentionBenchmark.self,
            PayloadBenchmark.self,
            LintBenchmark.self, BudgetBenchmark.self, SimulationBenchmark.self,
            FaultBenchmark.self, RunLoad.self, RunMemory.self, RunGateway.self, RunSharedStore.self,
            RunHTTPLoad.self, RunNeighbour.self, RunGatewayCurves.self, RunStoreBaseline.self,
            RunLint.self,
            RunSimulation.self, ServeGateway.self,
            ServeSimulator.self,
        ],
        defaultSubcommand: AllBenchmarks.self)
}

/// What every benchmark takes.
struct BenchmarkOptions: ParsableArguments {
    @Flag(help: "Few and short runs, to see that all of it works; the figures are noise.")
    var quick = false

    @Flag(help: "Print JSON instead of tables.")
    var json = false

    @Option(help: "How many times each measurement is repeated (3, or 1 with --quick).")
    var repetitions: Int?

    var rounds: Int { max(1, repetitions ?? (quick ? 1 : 3)) }

    /// Prints what was measured, as JSON or in the words of `report`.
    func show<Result: Encodable>(
        _ result: Result, as report: (Result) -> String
    ) throws {
        if json { try JSONOutput.print(result) } else { print(report(result)) }
    }
}

/// All benchmarks, one after the other.
struct AllBenchmarks: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "all", abstract: "All benchmarks, one after the other (the default).")

    @OptionGroup var options: BenchmarkOptions

    func run() async throws {
        let bench = try Bench()
        defer { bench.clear() }
        let client = try ClientBenchmark.plan(options).measure(on: bench)
        let simulator = try SimulatorBenchmark.measure(options, on: bench)
        let memory = try MemoryBenchmark.measure(options, on: bench)
        bench.progress("budget")
        let budget = BudgetBenchmark.measure(options)
        if options.json {
            try JSONOutput.print(
                AllResults(client: client, simulator: simulator, memory: memory, budget: budget))
        } else {
            print(ClientBenchmark.report(client))
            print(SimulatorBenchmark.report(simulator))
            print(MemoryBenchmark.report(memory))
            print(BudgetBenchmark.report(budget))
        }
    }

    private struct AllResults: Encodable {
        let client: [ClientResult]
        let simulator: SimulatorResult
        let memory: [MemoryResult]
        let budget: BudgetResult
    }
}
