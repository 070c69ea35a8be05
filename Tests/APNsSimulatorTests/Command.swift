// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Another program, run to its end.
enum Command {
    struct Output: Sendable {
        var status: Int32
        var text: String
    }

    /// Runs the program and returns what it wrote to standard output, and its exit status.
    static func run(_ program: String, _ arguments: [String]) async throws -> Output {
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        let ended = AsyncStream<Int32> { continuation in
            process.terminationHandler = {
                continuation.yield($0.terminationStatus)
                continuation.finish()
            }
        }
        try process.run()
        // What these programs write fits into a pipe, so it can be read when they have ended.
        var status: Int32 = -1
        for await code in ended { status = code }
        let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
        return Output(status: status, text: String(decoding: data, as: UTF8.self))
    }

    /// Writes a temporary file for the time of `body`.
    static func withFile<Result>(
        _ text: String, _ body: (String) async throws -> Result
    ) async throws -> Result {
        let url = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).pem")
        try Data(text.utf8).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        return try await body(url.path(percentEncoded: false))
    }
}
