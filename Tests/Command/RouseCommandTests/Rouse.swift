// SPDX-License-Identifier: Apache-2.0

import Foundation
import ProcessKit
import Testing

/// The built `rouse`, run as a process of its own with an environment of its own.
struct Rouse {
    /// The program, which the build puts beside the test bundle.
    static let path: String = {
        let bundle = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        return bundle.deletingLastPathComponent().appending(path: "rouse").path
    }()

    /// What a process left behind.
    struct Finished: Sendable {
        /// Its exit code; -1 when a signal ended it.
        let status: Int32
        /// Its standard output.
        let out: String
        /// Its standard error.
        let error: String

        /// Both.
        var all: String { out + error }

        /// Standard output as a JSON object.
        func json() throws -> [String: Any] {
            try #require(
                try JSONSerialization.jsonObject(with: Data(out.utf8)) as? [String: Any],
                "no JSON object: \(all)")
        }
    }

    /// The environment that commands get unless a test says otherwise: nothing of the machine's.
    static let environment = [
        "PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "COLUMNS": "80", "LC_ALL": "C.UTF-8",
        "TMPDIR": NSTemporaryDirectory(),
    ]

    /// Runs `rouse` to its end.
    static func run(
        _ arguments: [String], stdin: String = "", environment extra: [String: String] = [:]
    ) async throws -> Finished {
        try await run(path, arguments, stdin: stdin, environment: extra)
    }

    /// Runs any program to its end. Its output goes through files, so that no pipe can fill up.
    static func run(
        _ program: String, _ arguments: [String], stdin: String = "",
        environment extra: [String: String] = [:]
    ) async throws -> Finished {
        let folder = try TestFolder()
        let out = try folder.write("", to: "out")
        let error = try folder.write("", to: "error")
        let input = try folder.write(stdin, to: "in")
        let handles = [
            try FileHandle(forReadingFrom: URL(filePath: input)),
            try FileHandle(forWritingTo: URL(filePath: out)),
            try FileHandle(forWritingTo: URL(filePath: error)),
        ]
        let process = try SpawnedProcess(
            [program] + arguments, environment: environment.merging(extra) { $1 },
            input: handles[0].fileDescriptor, output: handles[1].fileDescriptor,
            errors: handles[2].fileDescriptor)
        for handle in handles { try handle.close() }
        let status = max(await process.end(), -1)
        return Finished(
            status: status, out: try String(contentsOfFile: out, encoding: .utf8),
            error: try String(contentsOfFile: error, encoding: .utf8))
    }
}

/// A `rouse` that keeps running: its lines as they come, and signals to it. Used by one task.
final class RunningRouse {
    private let process: SpawnedProcess
    private let lines: AsyncStream<String>
    private var seen: [String] = []
    let errorPath: String
    private let folder: TestFolder

    /// Starts it; or another program that starts it.
    init(
        _ arguments: [String], by program: String = Rouse.path,
        environment extra: [String: String] = [:]
    ) throws {
        folder = try TestFolder()
        errorPath = try folder.write("", to: "error")
        let pipe = Pipe()
        let error = try FileHandle(forWritingTo: URL(filePath: errorPath))
        let (lines, lineSource) = AsyncStream.makeStream(of: String.self)
        self.lines = lines
        process = try SpawnedProcess(
            [program] + arguments, environment: Rouse.environment.merging(extra) { $1 },
            output: pipe.fileHandleForWriting.fileDescriptor, errors: error.fileDescriptor)
        try pipe.fileHandleForWriting.close()
        try error.close()
        let reader = pipe.fileHandleForReading
        Thread {
            var rest = ""
            // Whatever is there, and nothing at the end.
            while case let data = reader.availableData, !data.isEmpty {
                rest += String(decoding: data, as: UTF8.self)
                while let end = rest.firstIndex(of: "\n") {
                    lineSource.yield(String(rest[..<end]))
                    rest = String(rest[rest.index(after: end)...])
                }
            }
            lineSource.finish()
        }.start()
    }

    deinit {
        process.signal(SIGKILL)
        process.waitForEnd()
    }

    /// The lines up to the first that fulfils the condition, that one included.
    func lines(until isLast: (String) -> Bool) async throws -> [String] {
        for await line in lines {
            seen.append(line)
            if isLast(line) { return seen }
        }
        let error = try String(contentsOfFile: errorPath, encoding: .utf8)
        Issue.record("rouse ended before the line came: \(seen) \(error)")
        throw CancellationError()
    }

    /// The process's id.
    var processID: Int32 { process.id }

    /// Sends a signal.
    func signal(_ signal: Int32) { process.signal(signal) }

    /// Sends a signal and waits for the end. Returns the exit code, -1 for death by signal.
    func end(_ signal: Int32) async throws -> Int32 {
        process.signal(signal)
        return max(await process.end(), -1)
    }

    /// What it wrote to standard error so far.
    var error: String { (try? String(contentsOfFile: errorPath, encoding: .utf8)) ?? "" }
}

/// A temporary folder that is gone with the object.
final class TestFolder: Sendable {
    let path: String

    init() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "rc-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Writes a file that only its owner can read, and returns its path.
    @discardableResult
    func write(_ text: String, to name: String) throws -> String {
        let file = path + "/" + name
        try #require(
            FileManager.default.createFile(
                atPath: file, contents: Data(text.utf8), attributes: [.posixPermissions: 0o600]))
        return file
    }
}
