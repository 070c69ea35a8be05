// SPDX-License-Identifier: Apache-2.0

import WakeSimulation

/// `rouse simulate` with everything read and opened that it needs.
struct SimulatePlan {
    /// What is simulated, one after the other.
    let simulations: [Simulation]
    /// Where traces go.
    let trace: OutputFile?
    /// Where the picture goes.
    let svg: OutputFile?
    /// Where the report goes.
    let html: OutputFile?
    /// The device that is drawn.
    let drawnDevice: Int
    /// On how many threads.
    let threads: Int

    /// Reads the scenarios of a command line, then opens what is to be written: a path that cannot
    /// be written ends the command before a long run and not after it.
    init(_ command: SimulateCommand) throws(CommandFailure) {
        var files: [String] = []
        var simulations: [Simulation] = []
        for path in command.scenarios {
            simulations.append(try Self.simulation(path, command, files: &files))
        }
        self.simulations = simulations
        drawnDevice = command.device
        threads = command.threads ?? Processors.usableCount
        var used = Set(files.compactMap(FileIdentity.init(path:)))
        trace = try Self.open(command.trace, "--trace", &used)
        svg = try Self.open(command.svg, "--svg", &used)
        html = try Self.open(command.html, "--html", &used)
    }

    private static func simulation(
        _ path: String, _ command: SimulateCommand, files: inout [String]
    ) throws(CommandFailure) -> Simulation {
        var scenario = try Scenario(path: path, files: &files)
        if let seed = command.seed { scenario.seed = seed }
        if let count = command.devices { scenario.scale(to: count) }
        if let model = command.model?.source {
            for group in scenario.groups.indices { scenario.groups[group].model = model }
        }
        guard command.device < scenario.deviceCount else {
            throw CommandFailure(
                .usage,
                "--device \(command.device): \(scenario.name) has only "
                    + "\(Figures.devices(scenario.deviceCount)), counted from 0.")
        }
        return Simulation(scenario, modelsDevices: !command.withoutDeviceModel)
    }

    /// Opens an output, which is none of the files in use, and is one from then on.
    private static func open(
        _ path: String?, _ field: String, _ used: inout Set<FileIdentity>
    ) throws(CommandFailure) -> OutputFile? {
        guard let path else { return nil }
        let file = try OutputFile(path, field, apartFrom: used)
        if let identity = file.identity { used.insert(identity) }
        return file
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
        var outputs: [Output] = []
        let deviceCount = simulations.reduce(0) { $0 + $1.scenario.deviceCount }
        let bar = ProgressBar(
            total: deviceCount, noun: "devices", patience: ProgressBar.patience)
        defer { bar.clear() }
        var doneCount = 0
        for simulation in simulations {
            let clock = ContinuousClock()
            let start = clock.now
            let result = try await SimulationDriver(simulation, threads: threads).run(
                trace: trace
            ) { bar.show(doneCount + $0) }
            doneCount += simulation.scenario.deviceCount
            let duration = start.duration(to: clock.now)
            var drawn: [DeviceTrace] = []
            if svg != nil || html != nil {
                _ = simulation.run(devices: drawnDevice..<drawnDevice + 1) { drawn.append($0) }
            }
            outputs.append(
                Output(
                    simulation: simulation, result: result, duration: duration, drawn: drawn))
        }
        try trace?.close()
        if let output = outputs.first { try svg?.finish(with: ResultPicture(output).svg) }
        try html?.finish(with: ReportPage(outputs).html)
        return outputs
    }
}

extension Scenario {
    /// Changes the number of devices and keeps the groups' shares, each with one device at least.
    mutating func scale(to count: Int) {
        let before = max(1, deviceCount)
        let total = max(count, groups.count)
        var given = 0
        var seen = 0
        for index in groups.indices {
            seen += groups[index].count
            // Each group ends where its share of the whole ends, so that nothing is lost, but
            // leaves one for each group behind it.
            let share = total * seen / before
            let end = min(max(given + 1, share), total - (groups.count - index - 1))
            groups[index].count = end - given
            given = end
        }
    }
}
