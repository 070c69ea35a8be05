// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import WakeSimulation

/// `rouse simulate`: predicts the outcomes of pushes.
struct SimulateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Try ways to send on modelled devices, in virtual time.",
        discussion: """
            A scenario is a YAML file: devices with habits, streams of events that ask for wakes, \
            and the ways to send that are compared. Rouse's wake budget, the code that the gateway \
            runs, stands against sending everything and against simpler limits. Some scenarios \
            come with Rouse, in Deploy/scenarios.

            The devices are a model of how iOS treats background pushes. It serves to compare \
            schedules with each other; it forecasts nothing.

            Staleness: an event makes the app's data stale until the app syncs, which it does when \
            a push reaches it and when its user opens it. The mean age is the average over time of \
            how old the oldest event is that the app has not seen.

            Example:

              rouse simulate Deploy/scenarios/chat-app.yaml --html report.html

            With --grid no scenario is read: the default budget runs for a week on six families of \
            devices under six workloads each, with what a sender may hear of them.
            """)

    @Argument(
        help: ArgumentHelp("The scenarios' files.", valueName: "scenario"), completion: .file())
    var scenarios: [String] = []

    @Flag(help: "Print the table of the grid of device families and workloads.")
    var grid = false

    @Flag(help: "Write the result as JSON.")
    var json = false

    @Option(
        help: ArgumentHelp(
            "Write every event of every device to this file, as JSON lines.", valueName: "file"),
        completion: .file())
    var trace: String?

    @Option(
        help: ArgumentHelp("Draw one scenario's result as SVG.", valueName: "file"),
        completion: .file())
    var svg: String?

    @Option(
        help: ArgumentHelp("Write a report with pictures as HTML.", valueName: "file"),
        completion: .file())
    var html: String?

    @Option(help: ArgumentHelp("The device whose day is drawn, from 0.", valueName: "number"))
    var device = 0

    @Flag(name: .customLong("no-device-model"), help: "Model no devices: only what is sent.")
    var withoutDeviceModel = false

    @Option(
        help: ArgumentHelp(
            "Take this many devices in all, and one of each profile at least, instead of the "
                + "scenario's number.", valueName: "count"))
    var devices: Int?

    @Option(
        help: ArgumentHelp(
            "Take all devices' hidden figures from here, instead of from where the scenario says.",
            valueName: "source"))
    var model: Model?

    @Option(help: ArgumentHelp("Another seed than the scenario's.", valueName: "number"))
    var seed: UInt64?

    @Option(
        help: ArgumentHelp(
            "Run on this many threads. The result does not depend on it.", valueName: "count"))
    var threads: Int?

    /// Where the figures of modelled devices come from.
    enum Model: String, CaseIterable, ExpressibleByArgument {
        case standard
        case exact
        case drawn

        /// The engine's word for it.
        var source: Scenario.ModelSource {
            switch self {
            case .standard: .standard
            case .exact: .exact
            case .drawn: .drawn
            }
        }
    }

    func validate() throws {
        guard grid != !scenarios.isEmpty else {
            throw ValidationError(
                grid
                    ? "--grid reads no scenario: leave the files out."
                    : "Name a scenario's file, or use --grid.")
        }
        guard !grid || (trace, svg, html, model) == (nil, nil, nil, nil) && !withoutDeviceModel
        else {
            throw ValidationError("With --grid go only --json, --devices, --seed and --threads.")
        }
        guard svg == nil || scenarios.count == 1 else {
            throw ValidationError("--svg draws one scenario; use --html for several.")
        }
        guard device >= 0 else { throw ValidationError("--device is below 0.") }
        guard devices.map(Scenario.deviceCounts.contains) ?? true else {
            throw ValidationError("--devices is not from 1 to \(Scenario.deviceCounts.upperBound).")
        }
        guard threads.map((1...SimulationDriver.maximumThreads).contains) ?? true else {
            throw ValidationError(
                "--threads is not from 1 to \(SimulationDriver.maximumThreads).")
        }
    }

    func run() async throws {
        let console = Console(.current)
        guard !grid else {
            try await SimulateGrid(self).run(console)
            return
        }
        let plan = try SimulatePlan(self)
        let outputs = try await plan.run()
        if json {
            try console.write(SimulateDocument(outputs))
        } else {
            let text = SimulateText(console)
            for output in outputs { text.tell(output) }
        }
    }
}
