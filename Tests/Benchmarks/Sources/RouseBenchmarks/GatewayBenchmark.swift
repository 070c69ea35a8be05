// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser
import FoundationEssentials
import PushTransport
public import StoreSQLite
import WakeModel

/// Wakes per second through the whole gateway: accepted durably, sent, settled.
struct GatewayBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gateway",
        abstract: "Wakes per second through the gateway: accepted on disk, sent, settled.",
        discussion: """
            The gateway in one process and nghttpd in another share both processors. Batches are \
            handed to the gateway in process; each answer means that its batch is on disk \
            (SQLite, WAL, flushed), or with --durability system that the operating system has it. \
            The end is when every wake's outcome is there too.
            Each wake goes to another device, whose budget is asked, debited and kept.
            The last row is a C program that writes the same rows to SQLite, and does nothing \
            else: one batch after the other, both of its transactions on disk.
            """)

    @OptionGroup var options: BenchmarkOptions

    @Option(help: "Wakes of one measurement (50000, or 5000 with --quick).")
    var wakes: Int?

    @Option(help: "Wakes of one batch.")
    var batch = 1000

    @Option(help: "How many batches wait for their answers at any time.")
    var atATime = 4

    @Option(help: "What answers wait for: disk, system. May be given twice, to compare.")
    var durability: [SQLiteWakeStore.Durability] = [.disk]

    @Option(help: "Devices that the wakes go to; fewer than wakes makes some of them wait.")
    var devices = 100_000

    func run() async throws {
        let bench = try Bench()
        defer { bench.clear() }
        let results = try Self.measure(
            options, wakes: wakes ?? Self.wakes(options), batch: max(1, batch),
            batchesAtATime: max(1, atATime), durabilities: durability,
            devices: max(1, devices), on: bench)
        let baseline = try Self.measureBaseline(
            options, wakes: wakes ?? Self.wakes(options), batch: max(1, batch), on: bench)
        try options.show(results + [baseline], as: Self.report)
    }

    static func wakes(_ options: BenchmarkOptions) -> Int { options.quick ? 5000 : 50_000 }

    static func measure(
        _ options: BenchmarkOptions, wakes: Int, batch: Int, batchesAtATime: Int = 4,
        durabilities: [SQLiteWakeStore.Durability] = [.disk], devices: Int = 100_000,
        on bench: Bench
    ) throws -> [GatewayResult] {
        try GatewayTask.makeDocuments(devices, in: bench.documentsPath)
        let server = try MeasuredServer.start(.nghttpd, on: bench, processor: nil)
        let tasks = durabilities.flatMap { durability in
            TransportKind.allCases.map { kind in
                GatewayTask(
                    transport: kind, port: server.port, authorityPath: server.authorityPath,
                    wakes: wakes, batch: batch, batchesAtATime: batchesAtATime,
                    durability: durability, devices: devices)
            }
        }
        var samples = Array(repeating: [GatewaySample](), count: tasks.count)
        for round in 1...options.rounds {
            for (index, task) in tasks.enumerated() {
                bench.progress(
                    "gateway: \(task.transport.rawValue), \(task.durability.rawValue), "
                        + "batches of \(batch), round \(round) of \(options.rounds)")
                let before = server.cpuSeconds
                var sample: GatewaySample = try bench.runOurselves(
                    RunGateway.name, task, processor: nil)
                sample.serverCPUSeconds = server.cpuSeconds - before
                samples[index].append(sample)
            }
        }
        try server.stop()
        return zip(tasks, samples).map { GatewayResult($0, samples: $1) }
    }

    /// The same rows written by a C program.
    static func measureBaseline(
        _ options: BenchmarkOptions, wakes: Int, batch: Int, on bench: Bench
    ) throws -> GatewayResult {
        let samples = try (1...options.rounds).map { round in
            bench.progress("gateway: C and SQLite, round \(round) of \(options.rounds)")
            let sample: StoreBaselineSample = try bench.runOurselves(
                RunStoreBaseline.name, StoreBaselineTask(wakes: wakes, batch: batch),
                processor: nil)
            return GatewaySample(
                wakes: wakes, acceptedSeconds: sample.wallSeconds,
                settledSeconds: sample.wallSeconds, cpuSeconds: sample.cpuSeconds, notSent: 0)
        }
        return GatewayResult("C, store alone", durability: .disk, batch: batch, samples: samples)
    }

    /// The results as a table.
    static func report(_ results: [GatewayResult]) -> String {
        var table = TextTable(
            "transport", "durability", "batch", "accepted/s", "settled/s", "us CPU", "server us",
            "not sent")
        for result in results {
            table.add(
                result.transport, result.durability, String(result.batch),
                result.acceptedPerSecond.grouped, result.settledPerSecond.grouped,
                result.microsecondsPerWake.fixed(1),
                result.serverMicrosecondsPerWake.fixed(1), String(result.notSent))
        }
        return "\nThe gateway, from batch to settled outcome, nghttpd on the same processors\n\n"
            + table.text + "\n"
    }
}

/// What the process that is measured is to do.
struct GatewayTask: Codable {
    let transport: TransportKind
    let port: Int
    let authorityPath: String
    let wakes: Int
    let batch: Int
    /// How many batches wait for their answers at any time.
    let batchesAtATime: Int
    let durability: SQLiteWakeStore.Durability
    let devices: Int
    /// Wakes before the measurement, each to a device that is not measured.
    var warmUpWakes = 1000

    /// A device token of 32 bytes, another for each number.
    static func deviceToken(_ number: Int) throws -> DeviceToken {
        var bits = UInt64(number)
        var bytes: [UInt8] = []
        for _ in 0..<4 {
            bits = (bits ^ (bits >> 30)) &* 0xbf58_476d_1ce4_e5b9 &+ 0x9e37_79b9_7f4a_7c15
            bytes += (0..<8).map { UInt8(truncatingIfNeeded: bits >> (8 * $0)) }
        }
        return try DeviceToken(bytes: bytes)
    }

    /// nghttpd answers 200 for files that are there: makes one for each device.
    static func makeDocuments(_ devices: Int, in folder: String, from first: Int = 0) throws {
        for number in first..<first + devices {
            try Data().write(to: URL(filePath: "\(folder)/3/device/\(deviceToken(number).hex)"))
        }
    }
}

/// What came of it.
struct GatewaySample: Codable {
    let wakes: Int
    /// Until the last batch was on disk.
    let acceptedSeconds: Double
    /// Until the last outcome was on disk.
    let settledSeconds: Double
    let cpuSeconds: Double
    /// Wakes that ended otherwise than sent.
    let notSent: Int
    var serverCPUSeconds = 0.0
}

/// One row: the medians of all rounds.
struct GatewayResult: Encodable {
    let transport: String
    let durability: String
    let batch: Int
    let acceptedPerSecond: Double
    let settledPerSecond: Double
    let microsecondsPerWake: Double
    let serverMicrosecondsPerWake: Double
    let notSent: Int

    init(_ task: GatewayTask, samples: [GatewaySample]) {
        self.init(
            task.transport.rawValue, durability: task.durability, batch: task.batch,
            samples: samples)
    }

    init(
        _ transport: String, durability: SQLiteWakeStore.Durability, batch: Int,
        samples: [GatewaySample]
    ) {
        self.transport = transport
        self.durability = durability.rawValue
        self.batch = batch
        acceptedPerSecond = samples.map { Double($0.wakes) / $0.acceptedSeconds }.median
        settledPerSecond = samples.map { Double($0.wakes) / $0.settledSeconds }.median
        microsecondsPerWake = samples.map { $0.cpuSeconds * 1e6 / Double($0.wakes) }.median
        serverMicrosecondsPerWake =
            samples.map { $0.serverCPUSeconds * 1e6 / Double($0.wakes) }.median
        notSent = samples.map(\.notSent).reduce(0, +)
    }
}

extension SQLiteWakeStore.Durability: @retroactive ExpressibleByArgument {}
