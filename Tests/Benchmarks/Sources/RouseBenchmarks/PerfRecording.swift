// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc

/// A recording of where a running process is, by Linux's `perf`, several hundred times per second
/// of its processor time.
struct PerfRecording {
    /// No divisor of the rate of a timer, so that the two do not run in step.
    static let samplesPerSecond = 997

    private let process: ChildProcess
    private let path: String

    /// Throws, with what is to be done, when `perf` is not there or may not see all.
    static func check(in directory: String) throws {
        let path = directory + "/trial.perf"
        let trial: ChildProcess
        do {
            // Of the kernel only: for less than all that is asked for, perf would drop the kernel.
            trial = try ChildProcess(
                "perf", ["record", "-q", "-e", "cpu-clock:k", "-o", path, "true"], processor: nil)
        } catch {
            throw ChildProcess.Failure(description: "\(error); Debian's linux-perf has it")
        }
        guard (try? trial.waitForEnd()) != nil else { throw refusal }
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Starts one of this process and returns when it records. SIGPIPE must be ignored.
    static func attach(to process: pid_t, in directory: String) throws -> PerfRecording {
        let path = "\(directory)/\(process).perf"
        // It begins when it is told to, by its standard input, and says so on its standard output.
        let perf = try ChildProcess(
            "perf",
            [
                "record", "-q", "-e", "cpu-clock", "-F", String(samplesPerSecond), "--call-graph",
                "fp", "--no-buildid", "--delay=-1", "--control=fd:0,1", "-p", String(process),
                "-o", path,
            ], processor: nil)
        try perf.writeLine("enable")
        guard perf.readLine() == "ack" else { throw refusal }
        return PerfRecording(process: perf, path: path)
    }

    /// Ends it; what it recorded stays in a file.
    func end() throws {
        try process.writeLine("stop")
        _ = try process.waitForEnd()
    }

    /// What it recorded, after its end, and removes the file. The program and its libraries must
    /// still be where they were, for the names.
    func takeSamples() throws -> [StackSample] {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let text = try ChildProcess(
            "perf",
            ["script", "-i", path, "--no-demangle", "--no-inline", "-F", "comm,ip,sym,dso"],
            processor: nil
        ).waitForEnd().output
        return StackSample.all(in: text)
    }

    private static var refusal: ChildProcess.Failure {
        let setting = "/proc/sys/kernel/perf_event_paranoid"
        let level = (try? String(contentsOf: URL(filePath: setting), encoding: .utf8)) ?? "?"
        return ChildProcess.Failure(
            description: "perf may not record a process and the kernel's work for it: be root, or "
                + "let root run `sysctl kernel.perf_event_paranoid=1` (it is "
                + level.filter { !$0.isNewline } + "); a container needs CAP_PERFMON")
    }
}
