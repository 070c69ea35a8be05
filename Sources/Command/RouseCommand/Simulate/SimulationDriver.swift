// SPDX-License-Identifier: Apache-2.0

public import WakeSimulation

/// Shares the devices of a simulation out among threads.
///
/// The result does not depend on how: devices have nothing to do with each other, results are added
/// up in whole numbers, and traces are written in the order of the devices.
public struct SimulationDriver: Sendable {
    /// The most threads that may be asked for.
    public static let maximumThreads = 256
    /// Devices in one portion of work: enough that dispatching it is cheap, few enough that the
    /// last portion does not delay the end.
    static let devicesPerPortion = 16

    private let simulation: Simulation
    private let threads: Int

    /// Prepares a run on so many threads, from 1 to ``maximumThreads``.
    public init(_ simulation: Simulation, threads: Int) {
        self.simulation = simulation
        self.threads = threads
    }

    /// One portion's result, and its lines of trace.
    private struct Portion: Sendable {
        var number: Int
        var result: SimulationResult
        var trace: [UInt8]
    }

    /// Runs all devices, without a trace.
    public func run() async -> SimulationResult {
        do {
            return try await run(trace: nil)
        } catch {
            preconditionFailure("A run that writes no trace met an error: \(error)")
        }
    }

    /// Runs all devices. `progress` gets how many are done.
    func run(
        trace: OutputFile?, progress: (Int) -> Void = { _ in }
    ) async throws -> SimulationResult {
        let scenario = simulation.scenario
        let size = Self.devicesPerPortion
        let count = (scenario.deviceCount + size - 1) / size
        var total = SimulationResult(scenario)
        try await withThrowingTaskGroup(of: Portion.self) { group in
            var next = 0
            func addPortion() {
                guard next < count else { return }
                let number = next
                let devices = number * size..<min((number + 1) * size, scenario.deviceCount)
                next += 1
                group.addTask { portion(number, devices, withTrace: trace != nil) }
            }
            for _ in 0..<threads { addPortion() }
            // Portions that are done before an earlier one: at most as many as there are threads,
            // because the next is begun only when the earliest is written.
            var early: [Int: Portion] = [:]
            var written = 0
            while let portion = try await group.next() {
                early[portion.number] = portion
                while let portion = early.removeValue(forKey: written) {
                    total.merge(portion.result)
                    try trace?.append(portion.trace)
                    written += 1
                    progress(min(written * size, scenario.deviceCount))
                    addPortion()
                }
            }
        }
        return total
    }

    private func portion(_ number: Int, _ devices: Range<Int>, withTrace: Bool) -> Portion {
        guard withTrace else {
            return Portion(
                number: number, result: simulation.run(devices: devices), trace: [])
        }
        var lines = TraceLines(scenario: simulation.scenario.name)
        let result = simulation.run(devices: devices) { lines.append($0) }
        return Portion(number: number, result: result, trace: lines.bytes)
    }
}
