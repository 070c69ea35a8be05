// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// Pushes per second of the client, beside plain libcurl and h2load.
struct ClientBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "client",
        abstract: "Pushes per second of APNsClient, beside libcurl from C and h2load.",
        discussion: """
            Clients: \(Load.Client.allCases.map(\.rawValue).joined(separator: ", ")). A ratio is \
            to c-plain in the same round. Latency is from the hand-over to the answer, with always \
            as many pushes in flight as the table says; a batch's pushes are answered together. \
            Memory is the most that the client's process had, which but for h2load is this program \
            with its notes on each push.
            """)

    @OptionGroup var options: BenchmarkOptions

    @Option(help: "Only this server (nghttpd or simulator); both by default.")
    var server: [MeasuredServer.Kind] = []

    @Option(help: "Only these clients, beside c-plain.")
    var client: [Load.Client] = []

    @Option(help: "Only so many connections; 1 and 4 by default.")
    var connections: [Int] = []

    @Option(help: "Only so many pushes in flight; 100 and 1000 by default.")
    var inFlight: [Int] = []

    @Option(help: "Pushes of one measurement (20000, or 2000 with --quick).")
    var pushes: Int?

    func run() async throws {
        let bench = try Bench()
        defer { bench.clear() }
        let results = try plan.measure(on: bench)
        try options.show(results, as: Self.report)
    }

    private var plan: ClientPlan {
        var plan = Self.plan(options)
        if !server.isEmpty { plan.servers = server }
        if !client.isEmpty { plan.clients = client.filter { $0 != .plainC } }
        if !connections.isEmpty { plan.connections = connections.map { max(1, $0) } }
        if !inFlight.isEmpty { plan.inFlight = inFlight.map { max(1, $0) } }
        if let pushes { plan.pushes = max(1000, pushes) }
        return plan
    }

    /// What is measured unless somebody chooses.
    static func plan(_ options: BenchmarkOptions) -> ClientPlan {
        ClientPlan(pushes: options.quick ? 2000 : 20_000, rounds: options.rounds)
    }

    /// The results as tables of at most 100 columns, one for each load of a server.
    static func report(_ results: [ClientResult]) -> String {
        var text = "\nPush clients (ratios to c-plain)\n"
        var rest = results[...]
        while let first = rest.first {
            let group = rest.prefix { $0.load == first.load }
            rest = rest.dropFirst(group.count)
            text += "\n\(first.load)\n\n" + table(group) + "\n"
        }
        let own = results.filter { $0.client != ClientResult.limit }.map(\.startMegabytes).median
        text +=
            "\nOf peak MB, this program has \(own.fixed(1)) before it pushes; "
            + "h2load is another.\n"
        return text + failures(results)
    }

    private static func table(_ results: ArraySlice<ClientResult>) -> String {
        var table = TextTable(
            "client", "per CPU s", "ratio", "h2load", "per s", "ratio", "p50 ms", "p99 ms",
            "ratio", "srv us", "peak MB")
        for result in results {
            let isLibrary = result.client != ClientResult.limit
            table.add(
                result.client, result.pushesPerCPUSecond.grouped, result.cpuRatio.fixed(2),
                result.limitRatio.fixed(2), result.pushesPerSecond.grouped,
                result.wallRatio.fixed(2), isLibrary ? result.medianMilliseconds.fixed(1) : "-",
                isLibrary ? result.p99Milliseconds.fixed(1) : "-",
                isLibrary ? result.p99Ratio.fixed(2) : "-",
                result.serverMicrosecondsPerPush.fixed(1), result.peakMegabytes.fixed(1))
        }
        return table.text
    }

    private static func failures(_ results: [ClientResult]) -> String {
        results.filter { $0.failed > 0 }.map { result in
            "failed: \(result.failed) of \(result.client), \(result.load)"
                + (result.failure.map { ": \($0)" } ?? "") + "\n"
        }.joined()
    }
}

extension Load.Client: ExpressibleByArgument {}
