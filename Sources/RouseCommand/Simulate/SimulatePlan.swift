// SPDX-License-Identifier: Apache-2.0

import Foundation
import WakeSimulation

/// `rouse simulate` with everything read that it needs.
struct SimulatePlan {
    /// What is simulated, one after the other.
    let simulations: [Simulation]
    /// Where traces go.
    let tracePath: String?
    /// Where the picture goes.
    let svgPath: String?
    /// Where the report goes.
    let htmlPath: String?
    /// The device that is drawn.
    let drawnDevice: Int
    /// On how many threads.
    let threads: Int

    /// Reads the scenarios of a command line.
    init(_ command: SimulateCommand) throws(CommandFailure) {
        var simulations: [Simulation] = []
        for path in command.scenarios {
            var scenario = try Scenario(path: path)
            if let seed = command.seed { scenario.seed = seed }
            if let count = command.devices { scenario.scale(to: count) }
            if let model = command.model?.source {
                for group in scenario.groups.indices { scenario.groups[group].model = model }
            }
            guard command.device < scenario.deviceCount else {
                throw CommandFailure(
                    .usage,
                    "--device \(command.device): \(scenario.name) has only "
                        + "\(scenario.deviceCount) devices, counted from 0.")
            }
            simulations.append(
                Simulation(scenario, modelsDevices: !command.withoutDeviceModel))
        }
        self.simulations = simulations
        tracePath = command.trace
        svgPath = command.svg
        htmlPath = command.html
        drawnDevice = command.device
        threads = command.threads ?? ProcessInfo.processInfo.activeProcessorCount
    }

    /// What came of one scenario.
    struct Output: Sendable {
        /// What was simulated.
        let simulation: Simulation
        /// What came of it.
        let result: SimulationResult
        /// How long it took.
        let duration: Duration
        /// Everything about the device that is drawn, one trace for each way to send.
        let drawn: [DeviceTrace]
    }

    /// Runs everything and writes the files.
    func run() async throws -> [Output] {
        let trace = try tracePath.map { path throws(CommandFailure) in
            try OutputFile(path, "--trace")
        }
        var outputs: [Output] = []
        for simulation in simulations {
            let clock = ContinuousClock()
            let start = clock.now
            let result = try await SimulationDriver(simulation, threads: threads).run(trace: trace)
            let duration = start.duration(to: clock.now)
            var drawn: [DeviceTrace] = []
            if svgPath != nil || htmlPath != nil {
                _ = simulation.run(devices: drawnDevice..<drawnDevice + 1) { drawn.append($0) }
            }
            outputs.append(
                Output(
                    simulation: simulation, result: result, duration: duration, drawn: drawn))
        }
        try trace?.close()
        if let svgPath, let output = outputs.first {
            try OutputFile.write(ResultPicture(output).svg, to: svgPath, "--svg")
        }
        if let htmlPath {
            try OutputFile.write(ReportPage(outputs).html, to: htmlPath, "--html")
        }
        return outputs
    }
}

extension Scenario {
    /// Changes the number of devices and keeps the groups' shares, each with one device at least.
    mutating func scale(to count: Int) {
        let before = max(1, deviceCount)
        var given = 0
        var seen = 0
        for index in groups.indices {
            seen += groups[index].count
            // Each group ends where its share of the whole ends, so that nothing is lost.
            let end = max(given + 1, count * seen / before)
            groups[index].count = end - given
            given = end
        }
    }
}
