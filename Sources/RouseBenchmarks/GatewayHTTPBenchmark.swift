// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Gateway
import PushTransport
import StoreSQLite

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

    @Option(help: "What stands for APNs: nghttpd, stand-in.")
    var server = MeasuredServer.Kind.nghttpd

    @Option(help: "Wakes in requests of their own (20000, or 2000 with --quick).")
    var singles: Int?

    @Option(help: "Wakes in batches (100000, or 10000 with --quick).")
    var batched: Int?

    @Option(help: "Wakes of one batch; more than one.")
    var batch = 1000

    @Option(help: "Connections for single wakes.")
    var connections = 64

    @Option(help: "Connections for batches.")
    var batchConnections = 4

    @Option(help: "Devices that the gateway knows already (100000, or 1000 with --quick).")
    var devices: Int?

    func validate() throws {
        guard singles ?? 1 > 0, batched ?? batch >= batch, devices ?? 1 > 0 else {
            throw ValidationError("--singles and --devices begin at 1, --batched at a batch.")
        }
        guard (2...10_000).contains(batch), connections > 0, batchConnections > 0 else {
            throw ValidationError("--batch is from 2 to 10000; connections begin at 1.")
        }
    }

    func run() async throws {
        let bench = try Bench()
        defer { bench.clear() }
        let forms = [
            Form(wakes: singles ?? (options.quick ? 2000 : 20_000), batch: 1, connections),
            Form(
                wakes: batched ?? (options.quick ? 10_000 : 100_000), batch: batch,
                batchConnections),
        ]
        let known = Self.wholeBatches(
            devices ?? (options.quick ? 1000 : 100_000), of: Self.warmUpBatch)
        try GatewayTask.makeDocuments(
            known + (forms.map(\.wakes).max() ?? 0), in: bench.documentsPath)
        let server = try MeasuredServer.start(server, on: bench, processor: nil)
        var samples = forms.map { _ in [Sample]() }
        for round in 1...options.rounds {
            for (index, form) in forms.enumerated() {
                bench.progress(
                    "gateway-http: batches of \(form.batch), round \(round) of \(options.rounds)")
                samples[index].append(
                    Sample(
                        overHTTP: try await form.overHTTP(known, server, on: bench),
                        inProcess: try form.inProcess(known, server, on: bench)))
            }
        }
        try server.stop()
        try options.show(
            zip(forms, samples).map { GatewayHTTPResult(self.server, $0, samples: $1) },
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
        }
        let server = results.first?.server ?? ""
        return
            "\nThe gateway over HTTP, from request to settled outcome, \(server) and the load on "
            + "the same\nprocessors (ratio: to the same in process, in the run beside it)\n\n"
            + table.text + "\n"
    }
}

extension GatewayHTTPBenchmark {
    /// How wakes are asked for.
    struct Form {
        let wakes: Int
        let batch: Int
        let connections: Int

        init(wakes: Int, batch: Int, _ connections: Int) {
            self.wakes = GatewayHTTPBenchmark.wholeBatches(wakes, of: batch)
            self.batch = batch
            self.connections = connections
        }

        /// One run over HTTP, with a new gateway that knows so many devices.
        func overHTTP(
            _ known: Int, _ server: MeasuredServer, on bench: Bench
        ) async throws -> HTTPSample {
            let gateway = try MeasuredGateway.start(against: server, on: bench)
            let _: HTTPLoadReport = try bench.runOurselves(
                RunHTTPLoad.name,
                HTTPLoad(
                    port: gateway.port, key: gateway.key, firstDevice: 0, wakes: known,
                    batch: GatewayHTTPBenchmark.warmUpBatch, connections: 4),
                processor: nil)
            let before = (gateway: gateway.cpuSeconds, server: server.cpuSeconds)
            let report: HTTPLoadReport = try bench.runOurselves(
                RunHTTPLoad.name,
                HTTPLoad(
                    port: gateway.port, key: gateway.key, firstDevice: known, wakes: wakes,
                    batch: batch, connections: connections),
                processor: nil)
            let used = (
                gateway: gateway.cpuSeconds - before.gateway,
                server: server.cpuSeconds - before.server
            )
            let count = try await gateway.stop()
            guard count.accepted == known + wakes, count.byState[.sent] == known + wakes else {
                throw ChildProcess.Failure(
                    description: "\(known + wakes) wakes were accepted, but the store holds "
                        + "\(count.accepted): \(count.byState)")
            }
            var gatewaySample = GatewaySample(
                wakes: wakes, acceptedSeconds: report.acceptedSeconds,
                settledSeconds: report.settledSeconds, cpuSeconds: used.gateway, notSent: 0)
            gatewaySample.serverCPUSeconds = used.server
            return HTTPSample(gateway: gatewaySample, load: report)
        }

        /// The same wakes handed to a gateway in process, as many requests at a time.
        func inProcess(
            _ known: Int, _ server: MeasuredServer, on bench: Bench
        ) throws -> GatewaySample {
            let task = GatewayTask(
                transport: .native, port: server.port, authorityPath: server.authorityPath,
                wakes: wakes, batch: batch, batchesAtATime: connections, durability: .disk,
                devices: known + wakes, warmUpWakes: known)
            let sample: GatewaySample = try bench.runOurselves(
                RunGateway.name, task, processor: nil)
            guard sample.notSent == 0 else {
                throw ChildProcess.Failure(
                    description: "\(sample.notSent) wakes in process were not sent")
            }
            return sample
        }
    }

    /// One run over HTTP.
    struct HTTPSample {
        let gateway: GatewaySample
        let load: HTTPLoadReport
    }

    /// Two runs beside each other.
    struct Sample {
        let overHTTP: HTTPSample
        let inProcess: GatewaySample
    }
}

/// The medians of all rounds.
struct GatewayHTTPResult: Encodable {
    /// What a gateway did.
    struct Rates: Encodable {
        let acceptedPerSecond: Double
        let settledPerSecond: Double
        let microsecondsPerWake: Double

        init(_ samples: [GatewaySample]) {
            acceptedPerSecond = samples.map { Double($0.wakes) / $0.acceptedSeconds }.median
            settledPerSecond = samples.map { Double($0.wakes) / $0.settledSeconds }.median
            microsecondsPerWake = samples.map { $0.cpuSeconds * 1e6 / Double($0.wakes) }.median
        }
    }

    let server: String
    /// Wakes of one request.
    let batch: Int
    let connections: Int
    let overHTTP: Rates
    let inProcess: Rates
    let acceptedRatio: Double
    let settledRatio: Double
    let cpuRatio: Double
    let loadMicrosecondsPerWake: Double
    let serverMicrosecondsPerWake: Double
    let medianMilliseconds: Double
    let p99Milliseconds: Double

    init(
        _ server: MeasuredServer.Kind, _ form: GatewayHTTPBenchmark.Form,
        samples: [GatewayHTTPBenchmark.Sample]
    ) {
        self.server = server.rawValue
        batch = form.batch
        connections = form.connections
        overHTTP = Rates(samples.map(\.overHTTP.gateway))
        inProcess = Rates(samples.map(\.inProcess))
        acceptedRatio =
            samples.map {
                $0.inProcess.acceptedSeconds / $0.overHTTP.gateway.acceptedSeconds
            }.median
        settledRatio =
            samples.map {
                $0.inProcess.settledSeconds / $0.overHTTP.gateway.settledSeconds
            }.median
        cpuRatio = samples.map { $0.overHTTP.gateway.cpuSeconds / $0.inProcess.cpuSeconds }.median
        loadMicrosecondsPerWake =
            samples.map { $0.overHTTP.load.cpuSeconds * 1e6 / Double(form.wakes) }.median
        serverMicrosecondsPerWake =
            samples.map { $0.overHTTP.gateway.serverCPUSeconds * 1e6 / Double(form.wakes) }.median
        medianMilliseconds = samples.map(\.overHTTP.load.medianMilliseconds).median
        p99Milliseconds = samples.map(\.overHTTP.load.p99Milliseconds).median
    }
}
