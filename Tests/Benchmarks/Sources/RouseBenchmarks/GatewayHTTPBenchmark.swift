// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// Wakes per second through the gateway as its callers have it: over HTTP.
struct GatewayHTTPBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gateway-http",
        abstract: "Wakes per second over HTTP: accepted on disk, sent, settled.",
        discussion: """
            The gateway as `rouse serve` runs it, with an API key, its budget, and every answer \
            on disk; what stands for APNs; and the callers: three processes that share both \
            processors. Each connection is kept and has one request at a time, either one wake or \
            a batch. The gateway knows other devices already, and each wake goes to a new one. \
            Every answer is checked, and at the end the store must hold each wake, as sent.

            Each run has one beside it in which the same wakes are handed to a gateway in \
            process, as `gateway` does; ratios are to that one. No part of `all`, for the \
            processes do not have a processor each.
            """)

    @OptionGroup var options: BenchmarkOptions

    @OptionGroup var amounts: Amounts

    @Option(help: "Wakes of one batch; more than one.")
    var batch = 1000

    @Option(help: "Connections for single wakes.")
    var connections = 64

    @Option(help: "Connections of HTTP/2 that carry the requests of --connections; 0: HTTP/1.1.")
    var http2Connections = 0

    @Option(help: "Connections for batches.")
    var batchConnections = 4

    @Flag(
        help: """
            Measure beside it a server written in Go with the standard library, which keeps \
            everything in memory; needs go.
            """)
    var peer = false

    func validate() throws {
        try amounts.check(batch: batch)
        guard (2...10_000).contains(batch), connections > 0, batchConnections > 0 else {
            throw ValidationError("--batch is from 2 to 10000; connections begin at 1.")
        }
    }

    func run() async throws {
        let bench = try Bench()
        defer { bench.clear() }
        let forms = amounts.forms(
            quick: options.quick, connections: connections, http2Connections: http2Connections,
            batch: batch, batchConnections: batchConnections)
        let known = amounts.known(quick: options.quick)
        try GatewayTask.makeDocuments(
            known + (forms.map(\.wakes).max() ?? 0), in: bench.documentsPath)
        let server = try MeasuredServer.start(amounts.server, on: bench, processor: nil)
        let program = peer ? try MeasuredPeer.build(on: bench) : nil
        var samples = forms.map { _ in [RunPair]() }
        for round in 1...options.rounds {
            for (index, form) in forms.enumerated() {
                bench.progress(
                    "gateway-http: batches of \(form.batch), round \(round) of \(options.rounds)")
                samples[index].append(
                    RunPair(
                        overHTTP: try await form.overHTTP(known, server, on: bench),
                        inProcess: try form.inProcess(known, server, on: bench),
                        overPeer: try program.map {
                            try form.overPeer($0, known, server, on: bench)
                        }))
            }
        }
        try server.stop()
        try options.show(
            zip(forms, samples).map { GatewayHTTPResult(amounts.server, $0, samples: $1) },
            as: Self.report)
    }

    /// Wakes of one request to devices that are known afterwards.
    static let warmUpBatch = 1000

    /// At least one batch, and none that is not whole.
    static func wholeBatches(_ wakes: Int, of batch: Int) -> Int {
        max(1, wakes / batch) * batch
    }

    /// The results as a table.
    static func report(_ results: [GatewayHTTPResult]) -> String {
        var table = TextTable(
            "wakes", "in requests of", "conn", "accepted/s", "ratio", "settled/s", "ratio",
            "us CPU", "ratio", "load us", "server us", "p50 ms", "p99 ms")
        for result in results {
            table.add(
                "over HTTP", String(result.batch), String(result.connections),
                result.overHTTP.acceptedPerSecond.grouped, result.acceptedRatio.fixed(2),
                result.overHTTP.settledPerSecond.grouped, result.settledRatio.fixed(2),
                result.overHTTP.microsecondsPerWake.fixed(1), result.cpuRatio.fixed(2),
                result.loadMicrosecondsPerWake.fixed(1),
                result.serverMicrosecondsPerWake.fixed(1),
                result.medianMilliseconds.fixed(1), result.p99Milliseconds.fixed(1))
            table.add(
                "in process", String(result.batch), "-",
                result.inProcess.acceptedPerSecond.grouped, "-",
                result.inProcess.settledPerSecond.grouped, "-",
                result.inProcess.microsecondsPerWake.fixed(1), "-", "-", "-", "-", "-")
            if let peer = result.peer {
                table.add(
                    "Go, in memory", String(result.batch), String(result.connections),
                    peer.rates.acceptedPerSecond.grouped, peer.acceptedRatio.fixed(2),
                    peer.rates.settledPerSecond.grouped, peer.settledRatio.fixed(2),
                    peer.rates.microsecondsPerWake.fixed(1), peer.cpuRatio.fixed(2), "-", "-",
                    peer.medianMilliseconds.fixed(1), peer.p99Milliseconds.fixed(1))
            }
        }
        let server = results.first?.server ?? ""
        return
            "\nThe gateway over HTTP, from request to settled outcome, \(server) and the load on "
            + "the same\nprocessors (ratio: to the same in process, in the run beside it)\n\n"
            + table.text + "\n"
    }
}
