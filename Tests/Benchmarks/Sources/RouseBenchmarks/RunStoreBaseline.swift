// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CStoreBaseline
import FoundationEssentials

/// What keeping wakes costs a C program, in a process of its own.
struct RunStoreBaseline: ParsableCommand {
    static let name = "run-store-baseline"
    static let configuration = CommandConfiguration(
        commandName: name, abstract: "For the benchmark's own use.", shouldDisplay: false)

    @Argument var task: String

    func run() throws {
        let task = try JSONDecoder().decode(StoreBaselineTask.self, from: Data(task.utf8))
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "rouse-bench-\(ProcessInfo.processInfo.processIdentifier)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "store.sqlite").path(percentEncoded: false)
        var result = CStoreBaselineResult()
        guard CStoreBaseline_run(path, UInt32(task.wakes), UInt32(task.batch), &result) else {
            throw ChildProcess.Failure(description: "SQLite or the disk failed")
        }
        let sample = StoreBaselineSample(
            wallSeconds: Double(result.wallNanoseconds) * 1e-9,
            cpuSeconds: Double(result.cpuNanoseconds) * 1e-9)
        print(String(decoding: try JSONEncoder().encode(sample), as: UTF8.self))
    }
}

/// What is to be kept.
struct StoreBaselineTask: Codable {
    let wakes: Int
    let batch: Int
}

/// What that took.
struct StoreBaselineSample: Codable {
    let wallSeconds: Double
    let cpuSeconds: Double
}
