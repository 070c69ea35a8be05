// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import Glibc
import StorePostgreSQL

/// Wakes per second through several gateways on one PostgreSQL database.
struct SharedStoreBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "shared-store",
        abstract: "Wakes per second through gateways that share a PostgreSQL database.",
        discussion: """
            Each gateway is a process of its own, and is handed its batches in process; each \
            answer means that the batch is committed. The end is when every wake's outcome is \
            there too. Without --apns a sender that answers at once takes the place of APNs.

            The database is emptied before each measurement. The server must run on this machine, \
            with nothing else on it, and the role be a superuser, who can be told the server's \
            process. Its processor time is that of all its processes, its log is counted by \
            pg_current_wal_lsn. Needs psql and pgbench.

            Rows that begin with SQL are the reference: pgbench, which writes a device and a wake \
            for each wake and then ends it, in statements for as many rows, and decides nothing.

            Example: RouseBenchmarks shared-store --database postgresql://…/bench --gateways 1,2,3
            """)

    @OptionGroup var options: BenchmarkOptions

    @Option(help: "The URI of a database that is emptied.")
    var database: String

    @Option(help: "How many gateways: one measurement for each number.")
    var gateways = "1,2,3"

    @Option(help: "Wakes of one measurement (60000, or 6000 with --quick).")
    var wakes: Int?

    @Option(help: "Wakes of one batch.")
    var batch = 1000

    @Option(help: "How many batches of each gateway wait for their answers at any time.")
    var atATime = 4

    @Option(help: "Devices of each gateway; fewer than wakes makes some of them wait.")
    var devices = 1_000_000

    @Flag(help: "All gateways send to the same devices, so that they meet.")
    var sameDevices = false

    @Flag(help: "Send to nghttpd on the same processors.")
    var apns = false

    @Option(help: "Wakes that wait in the queue before the measurement.")
    var waiting = 0

    @Option(help: "Calls of the first gateway, in place of a flood, beside --load wakes a second.")
    var calls = 0

    @Option(help: "Background wakes a second beside calls.")
    var load = 3000

    func run() async throws {
        let bench = try Bench()
        defer { bench.clear() }
        var server: MeasuredServer?
        let counts = gateways.split(separator: ",").compactMap { Int($0) }
        if apns {
            try makeDocuments(counts.max() ?? 1, on: bench)
            server = try MeasuredServer.start(.nghttpd, on: bench, processor: nil)
        }
        let measured = try MeasuredDatabase(database)
        var results: [SharedStoreResult] = []
        for count in counts {
            for round in 1...options.rounds {
                bench.progress("shared store: \(count) gateways, round \(round)")
                try measured.execute("DROP SCHEMA IF EXISTS rouse CASCADE")
                try await PostgreSQLWakeStore.migrate(url: database)
                results.append(try measure(count, measured, server))
                if calls == 0 { results.append(try measurePlainSQL(measured, on: bench)) }
            }
        }
        try server?.stop()
        try options.show(results, as: Self.report)
    }

    private var wakeCount: Int { wakes ?? (options.quick ? 6_000 : 60_000) }

    /// The files of all devices that wakes are sent to, for so many gateways at most.
    private func makeDocuments(_ gateways: Int, on bench: Bench) throws {
        let sent = min(devices, calls > 0 ? load * max(1, calls / 20) : wakeCount)
        for place in 0..<(sameDevices ? 1 : gateways) {
            try GatewayTask.makeDocuments(
                sent, in: bench.documentsPath, from: place * RunSharedStore.devicesOfGateway)
        }
        try GatewayTask.makeDocuments(
            calls, in: bench.documentsPath, from: RunSharedStore.firstCalled)
    }

    private func measure(
        _ count: Int, _ measured: MeasuredDatabase, _ server: MeasuredServer?
    ) throws -> SharedStoreResult {
        let wakes = wakeCount
        let tasks = (0..<count).map { place in
            SharedStoreTask(
                database: database, place: place, sharesDevices: sameDevices,
                wakes: calls > 0 ? 0 : wakes / count, batch: max(1, batch),
                atATime: max(1, atATime), devices: max(1, devices),
                waiting: place == 0 ? waiting : 0, calls: place == 0 ? calls : 0,
                load: calls > 0 ? load / count : 0, port: server?.port,
                authorityPath: server?.authorityPath)
        }
        // One after the other, and the first one last: each waits until nothing is left of its
        // warm-up, and the first one fills the queue.
        var children: [ChildProcess] = []
        for task in tasks.reversed() {
            let child = try ChildProcess.ourselves(
                [
                    RunSharedStore.name,
                    String(decoding: try JSONEncoder().encode(task), as: UTF8.self),
                ], processor: nil)
            guard child.readLine() == "ready" else {
                throw ChildProcess.Failure(description: "a gateway did not start")
            }
            children.insert(child, at: 0)
        }
        try measured.execute("CHECKPOINT")
        let before = try measured.reading()
        for child in children { try child.writeLine("go") }
        let samples = try children.map { child in
            guard let line = child.readLine() else {
                throw ChildProcess.Failure(description: "a gateway ended early")
            }
            return try JSONDecoder().decode(SharedStoreSample.self, from: Data(line.utf8))
        }
        let after = try measured.reading()
        for child in children { try child.writeLine("end") }
        for child in children { _ = try child.waitForEnd() }
        return SharedStoreResult(
            gateways: count, batch: batch, samples: samples, before: before, after: after)
    }

    /// The same rows, written by two connections that do nothing else, beside those that are there.
    private func measurePlainSQL(
        _ measured: MeasuredDatabase, on bench: Bench
    ) throws -> SharedStoreResult {
        let batch = max(1, min(batch, 2_000))
        let rounds = max(1, wakeCount / batch / 2)
        let path = bench.directory + "/plain.sql"
        try Data(Self.plainSQL(batch).utf8).write(to: URL(filePath: path))
        try measured.execute("CHECKPOINT")
        let before = try measured.reading()
        let start = ProcessClocks.wallSeconds
        let ending = try ChildProcess(
            "pgbench",
            [
                "-n", "-f", path, "-c", "2", "-j", "1", "-t", String(rounds), "-D", "next=0",
                database,
            ], processor: nil
        ).waitForEnd()
        let seconds = ProcessClocks.wallSeconds - start
        let sample = SharedStoreSample(
            wakes: rounds * batch * 2, acceptedSeconds: seconds, settledSeconds: seconds,
            cpuSeconds: ending.cpuSeconds, notSent: 0, callTimes: [])
        return SharedStoreResult(
            gateways: 0, batch: batch, samples: [sample], before: before,
            after: try measured.reading())
    }

    /// The numbers of two connections never meet: each has half of a millisecond's. Nor do those
    /// of one, which may take several rounds in a millisecond: each begins behind the one before.
    private static func plainSQL(_ batch: Int) -> String {
        """
        \\set device random(1, 9000000000000000)
        SELECT greatest(:next, (extract(epoch FROM clock_timestamp()) * 1000)::bigint * 4096 \
            + :client_id * 2048) AS first \\gset
        \\set next :first + \(batch)
        BEGIN;
        INSERT INTO rouse.device SELECT :device + n, 1, 1, 0, :first + n, NULL, NULL, NULL, 1, \
            decode(repeat('ab', 32), 'hex'), decode(repeat('cd', 100), 'hex'), NULL \
            FROM generate_series(0, \(batch - 1)) AS n;
        INSERT INTO rouse.wake SELECT :first + n, 1, :device + n, 0, NULL, 1, NULL, 1, \
            decode(repeat('ef', 70), 'hex'), decode(repeat('01', 100), 'hex') \
            FROM generate_series(0, \(batch - 1)) AS n;
        COMMIT;
        BEGIN;
        UPDATE rouse.wake SET version = 2, state = 2, payload = NULL \
            WHERE number BETWEEN :first AND :first + \(batch - 1);
        COMMIT;

        """
    }

    private static func report(_ results: [SharedStoreResult]) -> String {
        var table = TextTable(
            "gateways", "batch", "wakes", "accepted/s", "settled/s", "gateway us", "server us",
            "log bytes", "undone", "HOT %", "dead rows", "MB", "not sent", "call p50",
            "p99 ms")
        for result in results {
            table.add(
                result.gateways == 0 ? "SQL" : String(result.gateways), String(result.batch),
                String(result.wakes),
                result.acceptedPerSecond.grouped, result.settledPerSecond.grouped,
                result.gatewayMicroseconds.fixed(1), result.serverMicroseconds.fixed(1),
                result.logBytes.fixed(0), String(result.undone), (result.hotShare * 100).fixed(1),
                String(result.deadRows), (Double(result.bytes) / 1e6).fixed(0),
                String(result.notSent),
                result.callMedianMilliseconds.fixed(1), result.callP99Milliseconds.fixed(1))
        }
        return
            "\nGateways on one database, all on the same processors (per wake: us, log bytes)\n\n"
            + table.text + "\n"
    }
}

/// What the process of a gateway is to do.
struct SharedStoreTask: Codable {
    let database: String
    /// Which of the gateways it is.
    let place: Int
    /// Whether it sends to the first one's devices, and not to its own.
    let sharesDevices: Bool
    let wakes: Int
    let batch: Int
    let atATime: Int
    let devices: Int
    /// Wakes that wait before all else.
    let waiting: Int
    let calls: Int
    /// Background wakes a second beside the calls of the first gateway.
    let load: Int
    /// nghttpd, if there is one.
    let port: Int?
    let authorityPath: String?
}

/// What came of it.
struct SharedStoreSample: Codable {
    let wakes: Int
    let acceptedSeconds: Double
    let settledSeconds: Double
    let cpuSeconds: Double
    /// Of all gateways' wakes, counted by the first one: those that ended otherwise than sent.
    let notSent: Int
    /// From acceptance to APNs' answer, in microseconds, in their order.
    let callTimes: [UInt32]
}

/// One row.
struct SharedStoreResult: Encodable {
    /// None: the reference in plain SQL.
    let gateways: Int
    let batch: Int
    let wakes: Int
    let acceptedPerSecond: Double
    let settledPerSecond: Double
    let gatewayMicroseconds: Double
    let serverMicroseconds: Double
    let logBytes: Double
    /// Transactions that were rolled back: conflicts.
    let undone: Int
    let hotShare: Double
    let deadRows: Int
    let bytes: Int
    let notSent: Int
    let callMedianMilliseconds: Double
    let callP99Milliseconds: Double

    init(
        gateways: Int, batch: Int, samples: [SharedStoreSample], before: MeasuredDatabase.Reading,
        after: MeasuredDatabase.Reading
    ) {
        self.gateways = gateways
        self.batch = batch
        wakes = samples.map(\.wakes).reduce(0, +)
        let count = Double(max(1, wakes))
        acceptedPerSecond = count / (samples.map(\.acceptedSeconds).max() ?? 1)
        settledPerSecond = count / (samples.map(\.settledSeconds).max() ?? 1)
        gatewayMicroseconds = samples.map(\.cpuSeconds).reduce(0, +) * 1e6 / count
        serverMicroseconds = (after.cpuSeconds - before.cpuSeconds) * 1e6 / count
        logBytes = (after.logBytes - before.logBytes) / count
        undone = after.undone - before.undone
        let updates = after.updates - before.updates
        hotShare = updates == 0 ? 1 : Double(after.hotUpdates - before.hotUpdates) / Double(updates)
        deadRows = after.deadRows
        bytes = after.bytes
        notSent = samples.map(\.notSent).reduce(0, +)
        let times = samples.flatMap(\.callTimes).sorted()
        callMedianMilliseconds = times.isEmpty ? 0 : Double(times.percentile(0.5)) / 1000
        callP99Milliseconds = times.isEmpty ? 0 : Double(times.percentile(0.99)) / 1000
    }
}
