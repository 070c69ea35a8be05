// SPDX-License-Identifier: Apache-2.0

import APNsClient
import APNsSender
import ArgumentParser
import FoundationEssentials
import Gateway
import Glibc
import Logging
import PushTransport
import RouseCommand
import StorePostgreSQL
import WakeBudget
import WakeModel

/// A gateway on a shared store, in the process that is measured.
struct RunSharedStore: AsyncParsableCommand {
    static let name = "run-shared-store"
    static let configuration = CommandConfiguration(
        commandName: name, abstract: "For the benchmark's own use.", shouldDisplay: false)

    /// The time over which waiting wakes become due, in seconds.
    private static let spreadSeconds = 80_000
    /// The numbers of devices from one gateway to the next.
    static let devicesOfGateway = 10_000_000
    /// The numbers of devices of which wakes wait, and that are called.
    private static let firstWaiting = 500_000_000
    static let firstCalled = 600_000_000

    @Argument var task: String

    func run() async throws {
        let task = try JSONDecoder().decode(SharedStoreTask.self, from: Data(task.utf8))
        let store = try await PostgreSQLWakeStore.open(url: task.database)
        let client = try task.port.map { port in
            try APNsClientLoad.client(
                .native, port: port, authorityPath: task.authorityPath ?? "", connections: 4,
                streamsPerConnection: nil)
        }
        let app = AppIdentity(bundleID: try BundleID(Sample.bundleID), environment: .production)
        let sender: any WakeSender =
            client.map { APNsWakeSender(clients: [app: $0]) } ?? PromptSender()
        let stopwatch = Stopwatch(sender)
        var logger = Logger(label: "rouse")
        logger.logLevel = .warning
        var limits = GatewayLimits()
        limits.intakeQueueCount = max(limits.intakeQueueCount, task.atATime * task.batch)
        let gateway = Gateway(
            apps: [app], store: store, sender: stopwatch, limits: limits, logger: logger)
        let running = Task { try await gateway.run() }
        var load = GatewayLoad(
            gateway: gateway, store: store, app: app, batch: task.batch, devices: .max)
        try await prepare(task, load)
        print("ready")
        fflush(nil)
        _ = readLine()
        // The queue is filled by the gateway that gets ready last.
        let left = try await store.perform(CountWakes())

        let before = (wall: ProcessClocks.wallSeconds, cpu: ProcessClocks.cpuSeconds)
        var wakes = task.wakes
        let first = Self.firstDevice(of: task)
        if task.load > 0 {
            wakes = try await loadAndCall(task, gateway, load, stopwatch)
        } else {
            load = GatewayLoad(
                gateway: gateway, store: store, app: app, batch: task.batch,
                devices: first + task.devices)
            try await load.accept(wakes, from: first, batchesAtATime: task.atATime)
        }
        let acceptedAt = ProcessClocks.wallSeconds
        let settledAt =
            task.devices < wakes ? acceptedAt : try await finish(store, leaving: left.unended)
        let end = try await store.perform(CountWakes())
        let sample = SharedStoreSample(
            wakes: wakes, acceptedSeconds: acceptedAt - before.wall,
            settledSeconds: settledAt - before.wall,
            cpuSeconds: ProcessClocks.cpuSeconds - before.cpu,
            notSent: task.place == 0 ? end.endedUnsent - left.endedUnsent : 0,
            callTimes: stopwatch.takeTimes())
        print(String(decoding: try JSONEncoder().encode(sample), as: UTF8.self))
        fflush(nil)
        _ = readLine()
        running.cancel()
        _ = try? await running.value
        if let client { await client.shutDown(gracePeriod: .zero) }
        await store.close()
    }

    private static func firstDevice(of task: SharedStoreTask) -> Int {
        task.sharesDevices ? 0 : task.place * devicesOfGateway
    }

    /// Warms up, and has wakes wait.
    private func prepare(_ task: SharedStoreTask, _ load: GatewayLoad) async throws {
        var load = load
        load.batch = 1_000
        let first = Self.firstWaiting - (task.place + 1) * 10_000
        try await load.accept(2_000, from: first, batchesAtATime: 2)
        _ = try await finish(load.store, leaving: 0)
        guard task.waiting > 0 else { return }
        try await load.accept(
            task.waiting, from: Self.firstWaiting, batchesAtATime: 4,
            spreadSeconds: Self.spreadSeconds)
    }

    /// Waits until no more wakes than these are left. Not as often as beside one gateway: the look
    /// is work for the server.
    private func finish(_ store: any WakeStore, leaving rest: Int) async throws -> Double {
        while try await store.perform(CountWakes()).unended > rest {
            try await Task.sleep(for: .milliseconds(20))
        }
        return ProcessClocks.wallSeconds
    }

    /// Calls one device after the other beside a steady load, and returns how many wakes those were
    /// in all.
    private func loadAndCall(
        _ task: SharedStoreTask, _ gateway: Gateway, _ load: GatewayLoad, _ stopwatch: Stopwatch
    ) async throws -> Int {
        _ = stopwatch.takeTimes()
        let first = Self.firstDevice(of: task)
        let batch = max(1, task.load / 20)
        let steady = Task {
            var sent = 0
            while !Task.isCancelled {
                let end = ContinuousClock.now.advanced(by: .milliseconds(50))
                var load = load
                load.batch = batch
                try await load.accept(batch, from: first + sent)
                sent += batch
                try? await Task.sleep(until: end)
            }
            return sent
        }
        if task.calls == 0 { try await Task.sleep(for: .seconds(20)) }
        for number in 0..<task.calls {
            let answer = await gateway.accept(
                WakeRequest(
                    kind: .voip,
                    deviceToken: try GatewayTask.deviceToken(Self.firstCalled + number),
                    bundleID: load.app.bundleID, payload: Stopwatch.callPayload(number)))
            guard case .admitted(let wake) = answer else {
                throw GatewayLoad.Refused(answer: answer)
            }
            _ = try await gateway.outcome(of: wake.id, within: 5000)
            try await Task.sleep(for: .milliseconds(5))
        }
        steady.cancel()
        return try await steady.value + task.calls
    }
}

extension StoreCount {
    /// The wakes that ended otherwise than sent.
    fileprivate var endedUnsent: Int { accepted - unended - (byState[.sent] ?? 0) }
}
