// SPDX-License-Identifier: Apache-2.0

import APNsClient
import APNsSender
import ArgumentParser
import FoundationEssentials
import Gateway
import Logging
import PushTransport
import RouseCommand
import StoreSQLite
import WakeBudget
import WakeModel

/// The curves' measurement, in the process that is measured.
struct RunGatewayCurves: AsyncParsableCommand {
    static let name = "run-gateway-curves"
    static let configuration = CommandConfiguration(
        commandName: name, abstract: "For the benchmark's own use.", shouldDisplay: false)

    /// The time over which waiting wakes become due, in seconds: less than a wake is held at most.
    private static let spreadSeconds = 80_000

    @Argument var task: String

    func run() async throws {
        let task = try JSONDecoder().decode(CurveTask.self, from: Data(task.utf8))
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "rouse-bench-\(ProcessInfo.processInfo.processIdentifier)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "store.sqlite").path(percentEncoded: false)
        var points: [CurvePoint] = []
        if task.server != nil {
            // Whoever waits later is a device that is known from the beginning: else the table of
            // devices would grow with the queue, and its cost would be taken for the queue's.
            try await GatewayContext.open(path, nil) { context in
                try await context.load.accept(task.steps.max() ?? 0, from: 0, batchesAtATime: 4)
                try await context.load.finish()
            }
        }
        try await GatewayContext.open(path, task.server) { context in
            points =
                try await task.server == nil
                ? Self.byDevices(task, context) : Self.byPending(task, context)
        }
        if task.server != nil, !points.isEmpty {
            let start = ProcessClocks.wallSeconds
            try await GatewayContext.open(path, task.server) { context in
                try await context.load.accept(1, from: CurveTask.firstCalled - 1)
                points[points.count - 1].startUpSeconds = ProcessClocks.wallSeconds - start
            }
        }
        print(String(decoding: try JSONEncoder().encode(points), as: UTF8.self))
    }

    /// Sends to one new device after the other, and at each step to some that are known already.
    private static func byDevices(
        _ task: CurveTask, _ context: GatewayContext
    ) async throws -> [CurvePoint] {
        var points: [CurvePoint] = []
        var known = 0
        for step in task.steps {
            // What is measured is the last part of the way there.
            let measured = min(100_000, step - known)
            try await context.load.accept(step - known - measured, from: known, batchesAtATime: 4)
            try await context.load.finish()
            var point = try await context.measure(
                measured, from: step - measured, count: step, leaving: 0)
            let again = try await context.knowing(step).measure(
                measured, from: step, count: step, leaving: 0)
            point.knownPerSecond = again.settledPerSecond
            point.microsecondsPerKnown = again.microsecondsPerWake
            points.append(point)
            known = step
        }
        return points
    }

    /// Sends to the same devices beside more and more wakes that wait, for devices that are known
    /// already, so that what the devices cost stays the same.
    private static func byPending(
        _ task: CurveTask, _ context: GatewayContext
    ) async throws -> [CurvePoint] {
        var points: [CurvePoint] = []
        var waiting = 0
        var next = CurveTask.firstSent + task.wakes
        try await context.load.accept(task.wakes, from: CurveTask.firstSent, batchesAtATime: 4)
        try await context.load.finish()
        let empty = ProcessClocks.residentBytes.now
        for (index, step) in task.steps.enumerated() {
            try await context.load.accept(
                step - waiting, from: waiting, batchesAtATime: 4, spreadSeconds: spreadSeconds)
            waiting = step
            let resident = ProcessClocks.residentBytes.now
            // The first of each batch that waits are due at once.
            let due = waiting / 1000 * 2
            try await Task.sleep(for: .milliseconds(500))
            let left = try await context.store.perform(CountWakes()).unended
            // Once without a look at the clock: those that came to wait have pushed these devices
            // out of all caches, which they did not at the first step.
            _ = try await context.measure(
                task.wakes, from: CurveTask.firstSent, count: step, leaving: left + due)
            var point = try await context.measure(
                task.wakes, from: CurveTask.firstSent, rounds: 2, count: step, leaving: left + due)
            point.bytesPerPending = step == 0 ? 0 : Double(resident - empty) / Double(step)
            let times = try await context.call(
                task.calls, from: CurveTask.firstCalled + index * task.calls,
                besidesWakesFrom: next, perSecond: task.load, maximum: task.callLoadMaximum)
            next += task.callLoadMaximum
            point.callMedianMilliseconds = Double(times.percentile(0.5)) / 1000
            point.callP99Milliseconds = Double(times.percentile(0.99)) / 1000
            points.append(point)
        }
        return points
    }
}

/// A gateway that runs.
private struct GatewayContext {
    let gateway: Gateway
    let store: SQLiteWakeStore
    let load: GatewayLoad
    let app: AppIdentity
    let stopwatch: Stopwatch

    static func open(
        _ path: String, _ server: CurveTask.Server?, _ body: (GatewayContext) async throws -> Void
    ) async throws {
        let app = AppIdentity(bundleID: try BundleID(Sample.bundleID), environment: .production)
        let store = try SQLiteWakeStore(path: path)
        let client = try server.map { server in
            try APNsClientLoad.client(
                .native, port: server.port, authorityPath: server.authorityPath, connections: 4,
                streamsPerConnection: nil)
        }
        let sender: any WakeSender =
            client.map { APNsWakeSender(clients: [app: $0]) } ?? PromptSender()
        let stopwatch = Stopwatch(sender)
        var logger = Logger(label: "rouse")
        logger.logLevel = .error
        let gateway = Gateway(
            configuration: try configuration(app), store: store, sender: stopwatch, logger: logger)
        let running = Task { try await gateway.run() }
        let load = GatewayLoad(gateway: gateway, store: store, app: app, devices: .max)
        try await body(
            GatewayContext(
                gateway: gateway, store: store, load: load, app: app, stopwatch: stopwatch))
        running.cancel()
        _ = try? await running.value
        if let client { await client.shutDown(gracePeriod: .zero) }
        try store.close()
    }

    /// The budget decides on each wake as always, but lets a device have two without a pause.
    private static func configuration(_ app: AppIdentity) throws -> GatewayConfiguration {
        var settings = BudgetSettings()
        settings.spacingSeconds = 0
        settings.hourlySends = BudgetLimits.hourlySends.upperBound
        var configuration = GatewayConfiguration(apps: [app])
        configuration.policies = [app: try BudgetPolicy(settings)]
        return configuration
    }

    /// The same, with wakes that go here and there among so many devices.
    func knowing(_ devices: Int) -> GatewayContext {
        var load = GatewayLoad(gateway: gateway, store: store, app: app, devices: devices)
        load.isScattered = true
        return GatewayContext(
            gateway: gateway, store: store, load: load, app: app, stopwatch: stopwatch)
    }

    /// Sends so many wakes through, in several rounds to the same devices.
    func measure(
        _ wakes: Int, from first: Int, rounds: Int = 1, count: Int, leaving rest: Int
    ) async throws -> CurvePoint {
        let before = (wall: ProcessClocks.wallSeconds, cpu: ProcessClocks.cpuSeconds)
        var settledAt = before.wall
        for _ in 0..<rounds {
            try await load.accept(wakes, from: first, batchesAtATime: 4)
            settledAt = try await load.finish(leaving: rest)
        }
        let sent = Double(rounds * wakes)
        return CurvePoint(
            count: count, settledPerSecond: sent / (settledAt - before.wall),
            microsecondsPerWake: (ProcessClocks.cpuSeconds - before.cpu) * 1e6 / sent,
            residentBytes: ProcessClocks.residentBytes.now)
    }

    /// Calls one device after the other beside a steady load of wakes; the times to APNs' answers
    /// in microseconds, in their order.
    func call(
        _ calls: Int, from first: Int, besidesWakesFrom next: Int, perSecond: Int, maximum: Int
    ) async throws -> [UInt32] {
        let steady = Task {
            let batch = max(1, perSecond / 20)
            for offset in stride(from: 0, to: maximum - batch, by: batch) {
                let end = ContinuousClock.now.advanced(by: .milliseconds(50))
                try await load.accept(batch, from: next + offset)
                try await Task.sleep(until: end)
            }
        }
        for number in 0..<calls {
            let answer = await gateway.accept(
                WakeRequest(
                    kind: .voip, deviceToken: try GatewayTask.deviceToken(first + number),
                    bundleID: app.bundleID, payload: Stopwatch.callPayload(number)))
            guard case .admitted(let wake) = answer else {
                throw GatewayLoad.Refused(answer: answer)
            }
            _ = try await gateway.outcome(of: wake.id, within: 5000)
            try await Task.sleep(for: .milliseconds(5))
        }
        steady.cancel()
        _ = try? await steady.value
        return stopwatch.takeTimes()
    }
}
