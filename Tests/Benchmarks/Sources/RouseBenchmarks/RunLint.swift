// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import PayloadLint

/// The measurement of the checker, in the process that is measured.
struct RunLint: AsyncParsableCommand {
    static let name = "run-lint"
    static let configuration = CommandConfiguration(
        commandName: name, abstract: "For the benchmark's own use.", shouldDisplay: false)

    @Argument var path: String

    func run() async throws {
        let before = (wall: ProcessClocks.wallSeconds, cpu: ProcessClocks.cpuSeconds)
        var options = LintOptions()
        options.paths = [path]
        options.settings = .none
        options.assumptions.pushType = "background"
        options.workers = ProcessInfo.processInfo.activeProcessorCount
        var reportBytes = 0
        let result = try await LintRun(options).run(
            LintOutput(write: { reportBytes += $0.utf8.count }, remark: { print($0) }))
        let summary = result.summary
        let sample = LintSample(
            seconds: ProcessClocks.wallSeconds - before.wall,
            cpuSeconds: ProcessClocks.cpuSeconds - before.cpu,
            peakBytes: ProcessClocks.residentBytes.peak, pushes: summary.pushes,
            findings: summary.errors + summary.warnings + summary.notes)
        print(String(decoding: try JSONEncoder().encode(sample), as: UTF8.self))
    }
}
