// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import Gateway
import Logging
import StoreSQLite
import WakeBudget
import WakeModel

/// How large the store's file becomes when as much is pruned as comes.
struct RetentionBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gateway-retention",
        abstract: "The size of the store's file while wakes come in and old ones are pruned.",
        discussion: """
            Wakes come at a steady rate, each to a device of its own; a sender that answers at \
            once takes the place of APNs. Ended wakes and their devices are kept as shortly as a \
            gateway can be told to, for two minutes in all, on a clock that runs faster than the \
            machine's. The slowest batch tells whether the pruning gets in the way.
            """)

    @OptionGroup var options: BenchmarkOptions

    @Option(help: "Wakes a second, in batches of a twentieth of them.")
    var rate = 3000

    @Option(help: "Seconds in all (240, or 20 with --quick).")
    var seconds: Int?

    @Option(help: "How much faster the gateway's clock runs than the machine's.")
    var speed = 4

    /// How many batches there are in a second.
    private static let batchesPerSecond = 20
    /// The time between two rows of the table, in seconds.
    private static let rowSeconds = 10.0

    func validate() throws {
        guard rate >= Self.batchesPerSecond, speed >= 1, seconds ?? 1 >= 1 else {
            throw ValidationError("--rate begins at \(Self.batchesPerSecond), the others at 1.")
        }
    }

    func run() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "rouse-bench-\(ProcessInfo.processInfo.processIdentifier)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "store.sqlite").path(percentEncoded: false)
        let rows = try await measure(path)
        try options.show(rows, as: Self.report)
    }

    private func measure(_ path: String) async throws -> [RetentionRow] {
        let app = AppIdentity(bundleID: try BundleID(Sample.bundleID), environment: .production)
        let store = try SQLiteWakeStore(path: path)
        var logger = Logger(label: "rouse")
        logger.logLevel = .error
        let gateway = Gateway(
            configuration: try Self.keepingShortly(app), store: store, sender: PromptSender(),
            clock: FastClock(speed: Int64(speed)), logger: logger)
        let running = Task { try await gateway.run() }
        let load = GatewayLoad(gateway: gateway, store: store, app: app, devices: .max)
        let rows = try await feed(load, RetentionMeter(store: store, path: path))
        try await load.finish()
        running.cancel()
        _ = try? await running.value
        let count = try await store.perform(RecountWakes())
        precondition(count.isConserved, "A wake was lost: \(count)")
        try store.close()
        return rows
    }

    /// The shortest hold and retention that there are: a minute each.
    private static func keepingShortly(_ app: AppIdentity) throws -> GatewayConfiguration {
        var settings = BudgetSettings()
        settings.holdSeconds = BudgetLimits.holdSeconds.lowerBound
        var configuration = GatewayConfiguration(apps: [app])
        configuration.policies[app] = try BudgetPolicy(settings)
        configuration.retentionSeconds = GatewayConfiguration.minimumRetentionSeconds
        configuration.deviceRetentionSeconds =
            configuration.retentionSeconds + settings.holdSeconds
        return configuration
    }

    private func feed(
        _ load: GatewayLoad, _ meter: RetentionMeter
    ) async throws -> [RetentionRow] {
        let batch = rate / Self.batchesPerSecond
        let seconds = Double(seconds ?? (options.quick ? 20 : 240))
        let start = ProcessClocks.wallSeconds
        var meter = meter
        var rows: [RetentionRow] = []
        var number = 0
        while ProcessClocks.wallSeconds - start < seconds {
            let next = ContinuousClock.now.advanced(by: .seconds(1) / Self.batchesPerSecond)
            let began = ProcessClocks.wallSeconds
            try await load.accept(batch, from: number)
            meter.note(ProcessClocks.wallSeconds - began)
            number += batch
            if ProcessClocks.wallSeconds - start >= Double(rows.count + 1) * Self.rowSeconds {
                rows.append(try await meter.row(at: ProcessClocks.wallSeconds - start))
                Bench.report("retention: \(rows.count * Int(Self.rowSeconds)) s")
            }
            try await Task.sleep(until: next)
        }
        return rows
    }

    private static func report(_ rows: [RetentionRow]) -> String {
        var table = TextTable(
            "s", "accepted/s", "pruned/s", "kept wakes", "file MB", "log MB", "p99 ms",
            "slowest ms")
        for row in rows {
            table.add(
                row.seconds.fixed(0), row.acceptedPerSecond.grouped, row.prunedPerSecond.grouped,
                Double(row.kept).grouped, (Double(row.fileBytes) / 1e6).fixed(1),
                (Double(row.logBytes) / 1e6).fixed(1), row.p99Milliseconds.fixed(1),
                row.slowestMilliseconds.fixed(1))
        }
        return "\nA store whose wakes have their time (times are of batches, until on disk)\n\n"
            + table.text + "\n" + verdict(rows)
    }

    /// What the file may grow in the last third of the run without being called growing: a part of
    /// its size. Where wakes and devices come and go at random, their most is never quite the same.
    private static let tolerance = 0.02

    /// Whether the file still grew in the last third of the run.
    private static func verdict(_ rows: [RetentionRow]) -> String {
        let third = rows.count / 3
        guard third > 0 else { return "\nThe run is too short to tell whether the file grows.\n" }
        let before = rows.dropLast(third).map(\.fileBytes).max() ?? 0
        let after = rows.suffix(third).map(\.fileBytes).max() ?? 0
        let growth = Double(after - before) / Double(max(before, 1))
        let words = growth > tolerance ? "still grew" : "did not grow"
        let sizes = [before, after].map { (Double($0) / 1e6).fixed(1) }
        return "\nIn the last third of the run the file \(words): \(sizes[0]) MB at most before, "
            + "\(sizes[1]) MB at most in it (\((growth * 100).fixed(1)) %).\n"
    }
}

/// The store as it stood at one moment, and what happened since the row before.
struct RetentionRow: Encodable {
    let seconds: Double
    let acceptedPerSecond: Double
    let prunedPerSecond: Double
    /// Wakes in the file, ended or not.
    let kept: Int
    let fileBytes: Int
    let logBytes: Int
    /// Of a batch, from its arrival until it was on disk.
    let p99Milliseconds: Double
    let slowestMilliseconds: Double
}

/// Measures a store from row to row.
private struct RetentionMeter {
    let store: SQLiteWakeStore
    let path: String
    private var times: [UInt32] = []
    private var last = (seconds: 0.0, accepted: 0, pruned: 0)

    init(store: SQLiteWakeStore, path: String) {
        self.store = store
        self.path = path
    }

    /// Notes how long a batch took.
    mutating func note(_ seconds: Double) { times.append(UInt32(clamping: Int(seconds * 1e6))) }

    mutating func row(at seconds: Double) async throws -> RetentionRow {
        // The quick count does not tell what was pruned.
        let count = try await store.perform(RecountWakes())
        let elapsed = seconds - last.seconds
        times.sort()
        defer {
            times = []
            last = (seconds, count.accepted, count.pruned)
        }
        return RetentionRow(
            seconds: seconds,
            acceptedPerSecond: Double(count.accepted - last.accepted) / elapsed,
            prunedPerSecond: Double(count.pruned - last.pruned) / elapsed,
            kept: count.accepted - count.pruned, fileBytes: try Self.bytes(of: path),
            logBytes: try Self.bytes(of: path + "-wal"),
            p99Milliseconds: Double(times.percentile(0.99)) / 1000,
            slowestMilliseconds: Double(times.last ?? 0) / 1000)
    }

    private static func bytes(of path: String) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
    }
}

/// A clock that begins at the present and runs faster than the machine's.
private struct FastClock: GatewayClock {
    private let system = SystemGatewayClock()
    private let start = SystemGatewayClock().now()
    let speed: Int64

    init(speed: Int64) { self.speed = speed }

    func now() -> WallInstant {
        start.advanced(byMilliseconds: system.now().milliseconds(since: start) * speed)
    }

    func sleep(until instant: WallInstant) async throws {
        let milliseconds = instant.milliseconds(since: start) / speed
        try await system.sleep(until: start.advanced(byMilliseconds: milliseconds + 1))
    }
}
