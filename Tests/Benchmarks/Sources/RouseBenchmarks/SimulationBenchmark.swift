// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import DeviceModel
import FoundationEssentials
import WakeBudget
import WakeSimulation

/// How long `rouse simulate` takes for a week of many devices, and what memory.
struct SimulationBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "A week of 10 000 devices, simulated: time and peak memory.",
        discussion: """
            The devices, the events and the ways to send are those of the scenario chat-app: \
            Rouse's budget, sending everything, a plain spacing and a limiter that drops. Each run \
            is a process of its own that does what rouse simulate does between reading the \
            scenario and printing the result. A tenth of the devices is measured as well, and one \
            thread, to see what grows with what.
            """)

    @OptionGroup var options: BenchmarkOptions

    @Option(help: "How many devices (10000, or 200 with --quick).")
    var devices: Int?

    func run() async throws {
        let count = max(10, devices ?? (options.quick ? 200 : 10_000))
        let threads = ProcessInfo.processInfo.activeProcessorCount
        var tasks = [SimulationTask(devices: count, threads: threads)]
        if threads > 1 { tasks.insert(SimulationTask(devices: count / 10, threads: 1), at: 0) }
        tasks.insert(SimulationTask(devices: count / 10, threads: threads), at: tasks.count - 1)
        let rows = try tasks.map { task in
            Bench.report("simulate: \(task.devices) devices on \(task.threads) threads")
            let samples = try (0..<options.rounds).map { _ in try Self.measure(task) }
            return SimulationResultRow(task, samples)
        }
        try options.show(rows, as: Self.report)
    }

    private static func measure(_ task: SimulationTask) throws -> SimulationSample {
        let text = String(decoding: try JSONEncoder().encode(task), as: UTF8.self)
        let child = try ChildProcess.ourselves([RunSimulation.name, text], processor: nil)
        return try JSONDecoder().decode(
            SimulationSample.self, from: Data(try child.waitForEnd().output.utf8))
    }

    /// The results as a table.
    static func report(_ rows: [SimulationResultRow]) -> String {
        var table = TextTable(
            "devices", "threads", "events", "pushes", "wall s", "CPU s", "pushes/s", "peak MiB")
        for row in rows {
            table.add(
                Double(row.devices).grouped, "\(row.threads)", Double(row.events).grouped,
                Double(row.pushes).grouped, row.seconds.fixed(2), row.cpuSeconds.fixed(2),
                (Double(row.pushes) / row.seconds).grouped, row.peakMebibytes.fixed(1))
        }
        return "\nA week of many devices, simulated under \(SimulationTask.contenders.count) ways "
            + "to send\n\n" + table.text
            + "\n\nEvents count once for each device, pushes for each way to send.\n"
    }
}

/// What is to be simulated.
struct SimulationTask: Codable {
    let devices: Int
    let threads: Int

    /// The ways to send that are compared.
    static let contenders =
        [SendingStrategy(name: "rouse", method: .budget(.standard))] + SendingStrategy.baselines

    /// A week as in the scenario `chat-app`, with so many devices instead of its 500.
    var scenario: Scenario {
        var scenario = Scenario(name: "chat-app")
        scenario.seed = 20
        scenario.seconds = 7 * 86_400
        let shares: [(profile: DayProfile, of500: Int)] = [
            (.commuter, 150), (.nightOwl, 100), (.rarelyOpened, 60), (.alwaysCharging, 60),
            (.lowPowerModeHeavy, 80), (.forceQuitter, 50),
        ]
        var given = 0
        var share = 0
        for (profile, of500) in shares {
            share += of500
            let end = devices * share / 500
            scenario.groups.append(
                .init(name: profile.name, profile: profile, count: end - given))
            given = end
        }
        var messages = EventStream(
            name: "message", pattern: .bursts(perDay: 40, size: 8, withinSeconds: 900))
        messages.hours = [7 * 60..<24 * 60]
        scenario.streams = [messages]
        scenario.contenders = Self.contenders
        return scenario
    }
}

/// What one process needed.
struct SimulationSample: Codable {
    let seconds: Double
    let cpuSeconds: Double
    let peakBytes: Int
    /// Events of all devices, and pushes under all ways to send: a run without any is no run.
    let events: Int
    let pushes: Int
}

/// One row: the medians of all rounds.
struct SimulationResultRow: Encodable {
    let devices: Int
    let threads: Int
    let events: Int
    let pushes: Int
    let seconds: Double
    let cpuSeconds: Double
    let peakMebibytes: Double

    init(_ task: SimulationTask, _ samples: [SimulationSample]) {
        let first = samples[0]
        precondition(
            samples.allSatisfy { $0.events == first.events && $0.pushes == first.pushes }
                && first.pushes > task.devices,
            "Two runs of one scenario came to different results.")
        devices = task.devices
        threads = task.threads
        events = first.events
        pushes = first.pushes
        seconds = samples.map(\.seconds).median
        cpuSeconds = samples.map(\.cpuSeconds).median
        peakMebibytes = samples.map { Double($0.peakBytes) / 1_048_576 }.median
    }
}
