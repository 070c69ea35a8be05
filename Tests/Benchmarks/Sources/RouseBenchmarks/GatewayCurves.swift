// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import PushTransport

/// What a wake costs the gateway as devices and queue grow, and how fast calls are beside them.
struct GatewayCurves: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gateway-curves",
        abstract: "What a wake costs as devices and queue grow; calls beside a long queue.",
        discussion: """
            First the devices: each wake goes to another one, until there are as many as asked \
            for, and the last of each part are measured, and then as many to devices that are \
            known, here and there among them; a sender that answers at once takes the place of \
            APNs. Then the queue, with all its devices known before it: with so many wakes \
            waiting for their time, others are sent through to nghttpd, to the same known \
            devices each time, and then calls beside a steady load. At the end the store is \
            closed, and opened again.

            A call's time ends when the answer of APNs is there, so it holds a round trip more \
            than the way from request to APNs. Takes some minutes, and 2 GB in /tmp.
            """)

    @OptionGroup var options: BenchmarkOptions

    @Option(help: "How many devices there are in the end (3000000, or 30000 with --quick).")
    var devices: Int?

    @Option(help: "How many wakes wait in the end (1000000, or 10000 with --quick).")
    var pending: Int?

    @Option(help: "Background wakes a second beside the calls.")
    var load = 3000

    func run() async throws {
        let bench = try Bench()
        defer { bench.clear() }
        let devices = max(1, devices ?? (options.quick ? 30_000 : 3_000_000))
        let pending = max(0, pending ?? (options.quick ? 10_000 : 1_000_000))
        var task = CurveTask(steps: [devices / 30, devices / 3, devices], load: load)
        bench.progress("gateway: up to \(devices) devices")
        let byDevices: [CurvePoint] = try bench.runOurselves(
            RunGatewayCurves.name, task, processor: nil)

        task.wakes = options.quick ? 2_000 : 50_000
        task.calls = options.quick ? 50 : 300
        task.steps = [0, pending / 10, pending]
        try GatewayTask.makeDocuments(
            task.documentCount, in: bench.documentsPath, from: CurveTask.firstSent)
        try GatewayTask.makeDocuments(
            task.calls * task.steps.count, in: bench.documentsPath, from: CurveTask.firstCalled)
        let server = try MeasuredServer.start(.nghttpd, on: bench, processor: nil)
        task.server = CurveTask.Server(port: server.port, authorityPath: server.authorityPath)
        bench.progress("gateway: up to \(pending) wakes that wait")
        let byPending: [CurvePoint] = try bench.runOurselves(
            RunGatewayCurves.name, task, processor: nil)
        try server.stop()
        let result = CurvesResult(byDevices: byDevices, byPending: byPending)
        try options.show(result, as: Self.report)
    }

    /// The results as two tables.
    static func report(_ result: CurvesResult) -> String {
        var devices = TextTable(
            "devices", "to new ones/s", "us CPU", "to known ones/s", "us CPU", "resident MB")
        for point in result.byDevices {
            devices.add(
                Double(point.count).grouped, point.settledPerSecond.grouped,
                point.microsecondsPerWake.fixed(1), point.knownPerSecond.grouped,
                point.microsecondsPerKnown.fixed(1), (Double(point.residentBytes) / 1e6).fixed(0))
        }
        var pending = TextTable(
            "pending", "wakes/s", "us CPU", "call p50 ms", "p99 ms", "bytes each", "start-up ms")
        for point in result.byPending {
            pending.add(
                Double(point.count).grouped, point.settledPerSecond.grouped,
                point.microsecondsPerWake.fixed(1), point.callMedianMilliseconds.fixed(1),
                point.callP99Milliseconds.fixed(1), point.bytesPerPending.fixed(0),
                point.startUpSeconds.map { ($0 * 1000).fixed(1) } ?? "-")
        }
        return """

            A wake, as the number of known devices grows (without APNs)

            \(devices.text)

            A wake and a call, as the queue grows (nghttpd on the same processors)

            \(pending.text)

            """
    }
}

/// Both curves.
struct CurvesResult: Encodable {
    let byDevices: [CurvePoint]
    let byPending: [CurvePoint]
}

/// What the process that is measured is to do.
struct CurveTask: Codable {
    /// What stands for APNs.
    struct Server: Codable {
        let port: Int
        let authorityPath: String
    }

    /// The numbers of devices that wakes are sent to, beside which others only wait.
    static let firstSent = 20_000_000
    /// The numbers of devices that are called.
    static let firstCalled = 40_000_000

    /// How many devices there are at the points of the curve; or, with a server, how many wakes
    /// wait.
    var steps: [Int]
    /// Wakes of one measurement; without a server those to all new devices.
    var wakes = 0
    /// Calls of one measurement.
    var calls = 0
    /// Background wakes a second beside calls.
    var load: Int
    var server: Server?

    /// How many devices are sent to at most: a call takes at most 20 ms or so.
    var documentCount: Int { steps.count * (wakes + callLoadMaximum) }

    /// The most background wakes beside the calls of one measurement.
    var callLoadMaximum: Int { load * max(1, calls / 20) }
}

/// One point of a curve.
struct CurvePoint: Codable {
    /// Devices, or wakes that wait.
    let count: Int
    let settledPerSecond: Double
    let microsecondsPerWake: Double
    let residentBytes: Int
    var knownPerSecond = 0.0
    var microsecondsPerKnown = 0.0
    var bytesPerPending = 0.0
    var callMedianMilliseconds = 0.0
    var callP99Milliseconds = 0.0
    var startUpSeconds: Double?
}
