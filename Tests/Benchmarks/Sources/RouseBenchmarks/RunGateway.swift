// SPDX-License-Identifier: Apache-2.0

import APNsClient
import APNsSender
import ArgumentParser
import FoundationEssentials
import Gateway
import Logging
import RouseCommand
import StoreSQLite
import WakeModel

/// The gateway's measurement, in the process that is measured.
struct RunGateway: AsyncParsableCommand {
    static let name = "run-gateway"
    static let configuration = CommandConfiguration(
        commandName: name, abstract: "For the benchmark's own use.", shouldDisplay: false)

    @Argument var task: String

    func run() async throws {
        let task = try JSONDecoder().decode(GatewayTask.self, from: Data(task.utf8))
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "rouse-bench-\(ProcessInfo.processInfo.processIdentifier)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try SQLiteWakeStore(
            path: folder.appending(path: "store.sqlite").path(percentEncoded: false),
            durability: task.durability)
        let client = try APNsClientLoad.client(
            task.transport, port: task.port, authorityPath: task.authorityPath, connections: 4,
            streamsPerConnection: nil)
        let app = AppIdentity(bundleID: try BundleID(Sample.bundleID), environment: .production)
        var logger = Logger(label: "rouse")
        logger.logLevel = .warning
        var limits = GatewayLimits()
        limits.intakeQueueCount = max(
            limits.intakeQueueCount, task.batchesAtATime * task.batch)
        let gateway = Gateway(
            apps: [app], store: store, sender: APNsWakeSender(clients: [app: client]),
            limits: limits, logger: logger)
        let running = Task { try await gateway.run() }
        let load = GatewayLoad(
            gateway: gateway, store: store, app: app, batch: task.batch, devices: task.devices)

        var warmUp = load
        warmUp.batch = 1000
        try await warmUp.accept(task.warmUpWakes, batchesAtATime: 4)
        try await load.finish()
        let before = (wall: ProcessClocks.wallSeconds, cpu: ProcessClocks.cpuSeconds)
        try await load.accept(
            task.wakes, from: task.warmUpWakes, batchesAtATime: task.batchesAtATime)
        let acceptedAt = ProcessClocks.wallSeconds
        let settledAt = try await load.finish()
        let count = try await store.perform(RecountWakes())
        let sample = GatewaySample(
            wakes: task.wakes, acceptedSeconds: acceptedAt - before.wall,
            settledSeconds: settledAt - before.wall,
            cpuSeconds: ProcessClocks.cpuSeconds - before.cpu,
            notSent: count.accepted - (count.byState[.sent] ?? 0))
        print(String(decoding: try JSONEncoder().encode(sample), as: UTF8.self))
        running.cancel()
        _ = try? await running.value
        await client.shutDown(gracePeriod: .zero)
        try store.close()
    }
}
