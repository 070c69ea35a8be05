// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import PushTransport

/// What the client keeps in memory: with a long queue, and after many pushes.
struct MemoryBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "memory",
        abstract: "Memory of the client with 10 000 pushes unanswered, and after two million.")

    @OptionGroup var options: BenchmarkOptions

    func run() async throws {
        let bench = try Bench()
        defer { bench.clear() }
        let result = try Self.measure(options, on: bench)
        try options.show(result, as: Self.report)
    }

    static func measure(_ options: BenchmarkOptions, on bench: Bench) throws -> [MemoryResult] {
        try TransportKind.allCases.map { kind in
            MemoryResult(
                transport: kind.rawValue, queue: try fillQueue(kind, on: bench),
                longRun: try pushOn(kind, options, on: bench))
        }
    }

    private static func fillQueue(
        _ kind: TransportKind, on bench: Bench
    ) throws -> [MemoryReading] {
        let simulator = try MeasuredServer.start(.simulator, on: bench)
        bench.progress("memory: \(kind.rawValue), 10000 pushes to a server that does not answer")
        let readings: [MemoryReading] = try bench.runOurselves(
            RunMemory.name,
            MemoryTask(
                kind: .queue, transport: kind, port: simulator.port,
                authorityPath: simulator.authorityPath, checkpoints: [10_000]))
        try simulator.stop()
        return readings
    }

    private static func pushOn(
        _ kind: TransportKind, _ options: BenchmarkOptions, on bench: Bench
    ) throws -> [MemoryReading] {
        let server = try MeasuredServer.start(.nghttpd, on: bench)
        let checkpoints = [200_000, 1_000_000, 2_000_000].map { options.quick ? $0 / 50 : $0 }
        bench.progress("memory: \(kind.rawValue), \(checkpoints[2]) pushes to nghttpd")
        let readings: [MemoryReading] = try bench.runOurselves(
            RunMemory.name,
            MemoryTask(
                kind: .longRun, transport: kind, port: server.port,
                authorityPath: server.authorityPath, checkpoints: checkpoints))
        try server.stop()
        return readings
    }

    /// The results as a table.
    static func report(_ results: [MemoryResult]) -> String {
        var table = TextTable("transport", "when", "pushes", "resident MB", "peak MB", "failed")
        for result in results {
            for reading in result.queue + result.longRun {
                table.add(
                    result.transport, reading.moment, String(reading.pushes),
                    reading.residentMegabytes.fixed(1), reading.peakMegabytes.fixed(1),
                    String(reading.failed))
            }
        }
        return "\nMemory of the client's process\n\n" + table.text + "\n"
    }
}

/// What the process that is measured is to do.
struct MemoryTask: Codable {
    enum Kind: String, Codable {
        /// Push to a server that does not answer, and look.
        case queue
        /// Push on and on, and look now and then.
        case longRun
    }

    let kind: Kind
    let transport: TransportKind
    let port: Int
    let authorityPath: String
    /// After how many pushes to look.
    let checkpoints: [Int]
}

/// The memory of the client's process at one moment.
struct MemoryReading: Codable {
    let moment: String
    let pushes: Int
    let residentBytes: Int
    let peakBytes: Int
    let failed: Int

    init(_ moment: String, pushes: Int, failed: Int) {
        self.moment = moment
        self.pushes = pushes
        self.failed = failed
        (residentBytes, peakBytes) = ProcessClocks.residentBytes
    }

    var residentMegabytes: Double { Double(residentBytes) / 1e6 }
    var peakMegabytes: Double { Double(peakBytes) / 1e6 }
}

/// Both parts, with one transport.
struct MemoryResult: Encodable {
    let transport: String
    let queue: [MemoryReading]
    let longRun: [MemoryReading]
}
