// SPDX-License-Identifier: Apache-2.0

import APNsClient
import APNsWire
import ArgumentParser
import FoundationEssentials
import PushTransport
import WakeModel

/// The memory measurement, in the process that is measured.
struct RunMemory: AsyncParsableCommand {
    static let name = "run-memory"
    static let configuration = CommandConfiguration(
        commandName: name, abstract: "For the benchmark's own use.", shouldDisplay: false)

    /// How many pushes are in flight during the long run: what one connection over libcurl takes by
    /// default.
    private static let inFlight = 250

    @Argument var task: String

    func run() async throws {
        let task = try JSONDecoder().decode(MemoryTask.self, from: Data(task.utf8))
        let load = try APNsClientLoad(
            Load(
                client: task.transport == .curl ? .curlCalls : .nativeCalls, port: task.port,
                authorityPath: task.authorityPath, connections: 1,
                inFlight: Self.inFlight, pushes: 0))
        let readings =
            switch task.kind {
            case .queue: try await fillQueue(load, count: task.checkpoints.last ?? 0)
            case .longRun: await pushOn(load, to: task.checkpoints)
            }
        print(String(decoding: try JSONEncoder().encode(readings), as: UTF8.self))
    }

    private func fillQueue(_ load: APNsClientLoad, count: Int) async throws -> [MemoryReading] {
        let warmUp = load.load.warmUpPushes
        let failed = await load.send(warmUp).failed
        var readings = [MemoryReading("nothing queued", pushes: warmUp, failed: failed)]
        let silent = try DeviceToken(hex: Sample.silentDeviceToken)
        let pushes = try (0..<count).map { number in
            try Push.background(
                to: silent, of: load.bundleID, payload: Sample.payload,
                apnsID: APNsID(entropy: UInt64(number), 1))
        }
        // The replies come when the client is shut down.
        load.client.send(pushes) { _ in }
        while load.client.gauges.queued + load.client.gauges.inFlight < count {
            try await Task.sleep(for: .milliseconds(10))
        }
        readings.append(MemoryReading("all queued", pushes: count, failed: 0))
        await load.client.shutDown(gracePeriod: .zero)
        readings.append(MemoryReading("all given up", pushes: count, failed: 0))
        return readings
    }

    private func pushOn(_ load: APNsClientLoad, to checkpoints: [Int]) async -> [MemoryReading] {
        var readings: [MemoryReading] = []
        var sent = 0
        var failed = 0
        // In short pieces, so that the figures of the measurement itself stay few.
        let piece = 1000
        for checkpoint in checkpoints {
            while sent < checkpoint {
                failed += await load.send(piece).failed
                sent += piece
            }
            readings.append(MemoryReading("long run", pushes: sent, failed: failed))
        }
        await load.client.shutDown(gracePeriod: .seconds(1))
        return readings
    }
}
