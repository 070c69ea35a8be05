// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// How long one key's single requests take while another key floods the gateway with batches.
struct GatewayNeighbours: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gateway-neighbours",
        abstract: "One key's single requests, alone and beside another key's flood of batches.",
        discussion: """
            The gateway as `rouse serve` runs it, the APNs simulator, and two callers with a key \
            each share both processors. The first sends single wakes at a fixed rate; a request's \
            time begins when it is due, so that a wait for a free connection counts. It is \
            measured alone, and then while the second sends one batch after the other on each of \
            its connections; the ratio is that of the 99th percentiles of the two in one run.

            Goal: a ratio below 3.

            Example: RouseBenchmarks gateway-neighbours --per-second 100
            """)

    @OptionGroup var options: BenchmarkOptions

    @Option(help: "Single wakes a second of the first key.")
    var perSecond = 100

    @Option(help: "Seconds of each measurement (15, or 2 with --quick).")
    var seconds: Int?

    @Option(help: "Wakes of one batch of the second key; more than one.")
    var batch = 1000

    @Option(help: "Connections of the second key.")
    var batchConnections = 4

    func validate() throws {
        guard (2...10_000).contains(batch), batchConnections > 0, perSecond > 0, seconds ?? 1 > 0
        else {
            throw ValidationError("--batch is from 2 to 10000; the other numbers begin at 1.")
        }
    }

    func run() async throws {
        let bench = try Bench()
        defer { bench.clear() }
        let server = try MeasuredServer.start(.simulator, on: bench, processor: nil)
        var rounds: [NeighboursRound] = []
        for round in 1...options.rounds {
            bench.progress("gateway-neighbours: round \(round) of \(options.rounds)")
            rounds.append(try await measure(server, on: bench))
        }
        try server.stop()
        try options.show(NeighboursResult(rounds), as: Self.report)
    }

    /// One run with a new gateway: warmed up by both, then quiet, then beside the flood.
    private func measure(
        _ server: MeasuredServer, on bench: Bench
    ) async throws -> NeighboursRound {
        let gateway = try MeasuredGateway.start(against: server, keyCount: 2, on: bench)
        let seconds = seconds ?? (options.quick ? 2 : 15)
        var single = NeighbourTask(
            port: gateway.port, key: gateway.keys[0], firstDevice: 0, batch: 1, connections: 32,
            perSecond: perSecond, seconds: 1)
        let _: NeighbourReport = try bench.runOurselves(RunNeighbour.name, single, processor: nil)
        single.seconds = seconds
        single.firstDevice = 1_000_000
        let quiet: NeighbourReport = try bench.runOurselves(
            RunNeighbour.name, single, processor: nil)
        let flood = NeighbourTask(
            port: gateway.port, key: gateway.keys[1], firstDevice: 10_000_000, batch: batch,
            connections: batchConnections, perSecond: nil, seconds: seconds + 2)
        let flooding = try bench.startOurselves(RunNeighbour.name, flood, processor: nil)
        single.firstDevice = 2_000_000
        single.delayMilliseconds = 1_000
        let beside: NeighbourReport = try bench.runOurselves(
            RunNeighbour.name, single, processor: nil)
        let flooded: NeighbourReport = try bench.answer(of: flooding)
        _ = try await gateway.stop()
        return NeighboursRound(quiet: quiet, beside: beside, flood: flooded)
    }

    private static func report(_ result: NeighboursResult) -> String {
        var table = TextTable(
            "round", "quiet p50 ms", "p99", "beside p50 ms", "p99", "p99 ratio", "flood/s",
            "not taken")
        for (place, round) in result.rounds.enumerated() {
            table.add(
                String(place + 1), round.quiet.medianMilliseconds.fixed(1),
                round.quiet.p99Milliseconds.fixed(1), round.beside.medianMilliseconds.fixed(1),
                round.beside.p99Milliseconds.fixed(1), round.p99Ratio.fixed(2),
                round.flood.acceptedPerSecond.grouped, String(round.beside.refused))
        }
        return "\nSingle wakes of one key beside batches of another, all on the same processors\n\n"
            + table.text + "\nMedian of the ratios: \(result.p99Ratio.fixed(2))\n"
    }
}

/// One run.
struct NeighboursRound: Encodable {
    let quiet: NeighbourReport
    let beside: NeighbourReport
    let flood: NeighbourReport

    var p99Ratio: Double { beside.p99Milliseconds / max(quiet.p99Milliseconds, 0.001) }
}

/// All runs, and the median of their ratios.
struct NeighboursResult: Encodable {
    let rounds: [NeighboursRound]
    let p99Ratio: Double

    init(_ rounds: [NeighboursRound]) {
        self.rounds = rounds
        p99Ratio = rounds.map(\.p99Ratio).median
    }
}
