// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// The simulator's own rate, so that it is known when it is the simulator that is measured.
struct SimulatorBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulator",
        abstract: "The simulator's own rate under h2load, beside nghttpd and the client's best.")

    @OptionGroup var options: BenchmarkOptions

    func run() async throws {
        let bench = try Bench()
        defer { bench.clear() }
        let result = try Self.measure(options, on: bench)
        try options.show(result, as: Self.report)
    }

    /// A server serves h2load in all forms; then the client pushes to the simulator.
    static func measure(_ options: BenchmarkOptions, on bench: Bench) throws -> SimulatorResult {
        let pushes = options.quick ? 2000 : 10_000
        var rows: [SimulatorResult.Row] = []
        var clientBest = 0.0
        for kind in MeasuredServer.Kind.allCases {
            let server = try MeasuredServer.start(kind, on: bench)
            for (connections, inFlight) in [(1, 100), (1, 1000), (4, 1000)] {
                bench.progress(
                    "simulator: \(kind.rawValue), \(connections) connections, \(inFlight) in flight"
                )
                let load = Load(
                    client: .nativeReceiving, port: server.port,
                    authorityPath: server.authorityPath,
                    connections: connections, inFlight: inFlight, pushes: pushes)
                rows.append(try measure(load, server: server, rounds: options.rounds, on: bench))
                if kind == .simulator {
                    let rates = try (0..<options.rounds).map { _ in
                        let report = try bench.run(load)
                        return Double(report.accepted) / report.cpuSeconds
                    }
                    clientBest = max(clientBest, rates.median)
                }
            }
            try server.stop()
        }
        return SimulatorResult(rows: rows, clientPushesPerCPUSecond: clientBest)
    }

    private static func measure(
        _ load: Load, server: MeasuredServer, rounds: Int, on bench: Bench
    ) throws -> SimulatorResult.Row {
        let samples = try (0..<rounds).map { _ in
            let before = server.cpuSeconds
            let report = try H2Load.run(load, bodyPath: bench.bodyPath)
            return (report: report, cpuSeconds: server.cpuSeconds - before)
        }
        return SimulatorResult.Row(
            server: server.kind.rawValue, connections: load.connections, inFlight: load.inFlight,
            requestsPerSecond: samples.map {
                Double($0.report.accepted) / $0.report.wallSeconds
            }.median,
            requestsPerCPUSecond: samples.map { Double($0.report.accepted) / $0.cpuSeconds }.median,
            failed: samples.map(\.report.failed).reduce(0, +))
    }

    /// The result as a table.
    static func report(_ result: SimulatorResult) -> String {
        var table = TextTable(
            "server", "conn", "in flight", "requests/s", "requests/CPU s", "us CPU", "failed")
        for row in result.rows {
            table.add(
                row.server, String(row.connections), String(row.inFlight),
                row.requestsPerSecond.grouped, row.requestsPerCPUSecond.grouped,
                (1e6 / row.requestsPerCPUSecond).fixed(1), String(row.failed))
        }
        return "\nServers under h2load\n\n" + table.text
            + "\n\nThe client's best against the simulator: "
            + result.clientPushesPerCPUSecond.grouped + " pushes per CPU second. The simulator's "
            + "least is " + result.ratioToClient.fixed(2) + " times that (goal: 1.50).\n"
    }
}

/// What servers can serve.
struct SimulatorResult: Encodable {
    struct Row: Encodable {
        let server: String
        let connections: Int
        let inFlight: Int
        let requestsPerSecond: Double
        /// Of the server's processor.
        let requestsPerCPUSecond: Double
        let failed: Int
    }

    let rows: [Row]
    /// The client's best rate against the simulator.
    let clientPushesPerCPUSecond: Double

    /// The simulator's lowest rate on its own processor, in the client's best.
    var ratioToClient: Double {
        let rates = rows.filter { $0.server == MeasuredServer.Kind.simulator.rawValue }
            .map(\.requestsPerCPUSecond)
        return (rates.min() ?? 0) / clientPushesPerCPUSecond
    }
}
