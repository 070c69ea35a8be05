// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import Glibc

/// Time and memory of `rouse validate`'s checker over many small files, and over JSON lines.
struct LintBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lint",
        abstract: "Checks many small files, and JSON lines: wall time and peak memory.",
        discussion: """
            Each run is a process of its own on all processors, from reading the files to the \
            finished report, which is thrown away. One payload in a hundred has findings. Lines \
            are also counted tenfold, to see that the memory stays the same.
            """)

    @OptionGroup var options: BenchmarkOptions

    @Option(help: "Small files, and a tenth of the lines (100000, or 1000 with --quick).")
    var files: Int?

    func run() async throws {
        let count = max(10, files ?? (options.quick ? 1000 : 100_000))
        let corpus = try LintCorpus(files: count)
        defer { corpus.clear() }
        let cases = [
            ("small files", corpus.folder, count), ("JSON lines", corpus.fewLines, count),
            ("JSON lines", corpus.manyLines, 10 * count),
        ]
        let results = try cases.map { name, path, pushes in
            let samples = try (0..<options.rounds).map { _ in try Self.measure(path) }
            return LintResultRow(name: name, pushes: pushes, samples: samples)
        }
        try options.show(results, as: Self.report)
    }

    private static func measure(_ path: String) throws -> LintSample {
        let child = try ChildProcess.ourselves([RunLint.name, path], processor: nil)
        return try JSONDecoder().decode(
            LintSample.self, from: Data(try child.waitForEnd().output.utf8))
    }

    /// The results as a table.
    static func report(_ results: [LintResultRow]) -> String {
        var table = TextTable("input", "payloads", "seconds", "payloads/s", "us CPU", "peak MiB")
        for result in results {
            table.add(
                result.name, Double(result.pushes).grouped, result.seconds.fixed(2),
                (Double(result.pushes) / result.seconds).grouped,
                (result.cpuSeconds * 1e6 / Double(result.pushes)).fixed(2),
                result.peakMebibytes.fixed(1))
        }
        return "\nChecking files as rouse validate does\n\n" + table.text + "\n"
    }
}

/// What one process needed.
struct LintSample: Codable {
    let seconds: Double
    let cpuSeconds: Double
    let peakBytes: Int
    /// The payloads that were checked, and the findings: a run that checked nothing is no run.
    let pushes: Int
    let findings: Int
}

/// One row: the medians of all rounds.
struct LintResultRow: Encodable {
    let name: String
    let pushes: Int
    let seconds: Double
    let cpuSeconds: Double
    let peakMebibytes: Double

    init(name: String, pushes: Int, samples: [LintSample]) {
        precondition(
            samples.allSatisfy { $0.pushes == pushes && $0.findings >= pushes / 100 },
            "A run did not check every payload.")
        self.name = name
        self.pushes = pushes
        seconds = samples.map(\.seconds).median
        cpuSeconds = samples.map(\.cpuSeconds).median
        peakMebibytes = samples.map { Double($0.peakBytes) / 1_048_576 }.median
    }
}

/// The files of the measurement, in a folder of their own.
private struct LintCorpus {
    private static let filesPerFolder = 1000

    let root: String
    var folder: String { root + "/files" }
    var fewLines: String { root + "/few.jsonl" }
    var manyLines: String { root + "/many.jsonl" }

    init(files: Int) throws {
        root =
            FileManager.default.temporaryDirectory
            .appending(path: "rouse-lint-\(ProcessInfo.processInfo.processIdentifier)")
            .path(percentEncoded: false)
        for start in stride(from: 0, to: files, by: Self.filesPerFolder) {
            let folder = folder + "/\(start)"
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true)
            for number in start..<min(files, start + Self.filesPerFolder) {
                try Data(Self.payload(number).utf8)
                    .write(to: URL(filePath: folder + "/\(number).json"))
            }
        }
        try Self.writeLines(files, to: fewLines)
        try Self.writeLines(10 * files, to: manyLines)
    }

    /// Removes the folder.
    func clear() { try? FileManager.default.removeItem(atPath: root) }

    /// About a hundred bytes; every hundredth has a badge, which background pushes must not have.
    private static func payload(_ number: Int) -> String {
        let badge = number.isMultiple(of: 100) ? ",\"badge\":1" : ""
        return "{\"aps\":{\"content-available\":1\(badge)},\"version\":\(number),"
            + "\"mailbox\":\"inbox\",\"cursor\":\"8f14e45fceea167a5a36dedd4bea2543\"}\n"
    }

    private static func writeLines(_ count: Int, to path: String) throws {
        guard let file = fopen(path, "w") else {
            throw ChildProcess.Failure(description: "\(path) cannot be written")
        }
        defer { fclose(file) }
        for number in 0..<count { fputs(payload(number), file) }
    }
}
