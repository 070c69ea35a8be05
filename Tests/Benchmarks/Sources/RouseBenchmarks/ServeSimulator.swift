// SPDX-License-Identifier: Apache-2.0

import APNsSimulator
import ArgumentParser
import FoundationEssentials
import Glibc
import WakeModel

/// Where a simulator listens, as its process prints it.
struct SimulatorAddress: Codable {
    let port: Int
    let authorityPEM: String
}

/// The simulator as a process of its own, until its standard input ends.
struct ServeSimulator: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve-simulator", abstract: "For the benchmark's own use.",
        shouldDisplay: false)

    func run() async throws {
        var configuration = APNsSimulator.Configuration()
        configuration.log = .off
        // h2load takes a limit that rises after the first answer for one that stays.
        configuration.oneStreamUntilValidToken = false
        let simulator = try await APNsSimulator.start(configuration)
        let silent = try DeviceToken(hex: Sample.silentDeviceToken)
        simulator.inject(Fault(.neverAnswer, for: .deviceToken(silent)))
        let address = SimulatorAddress(
            port: simulator.port, authorityPEM: simulator.certificateAuthorityPEM)
        print(String(decoding: try JSONEncoder().encode(address), as: UTF8.self))
        fflush(nil)
        // Whoever started this closes the pipe, by wish or by dying.
        while getchar() != EOF {}
        try await simulator.shutdown()
    }
}
