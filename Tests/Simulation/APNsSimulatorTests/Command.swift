// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import NIOPosix

/// Another program, run to its end.
///
/// By `popen` on a thread of its own: the simplest thing that reads to the end and then waits.
enum Command {
    struct Output: Sendable {
        var status: Int32
        var text: String
    }

    /// Runs the program and returns what it wrote to standard output, and its exit status.
    static func run(_ program: String, _ arguments: [String]) async throws -> Output {
        let line = ([program] + arguments).map(quoted).joined(separator: " ") + " 2>/dev/null"
        return try await NIOThreadPool.singleton.runIfActive {
            guard let stream = popen(line, "r") else { throw Failure(program: program) }
            var bytes: [UInt8] = []
            while case let byte = getc(stream), byte != EOF { bytes.append(UInt8(byte)) }
            // The exit status is in the second byte of what wait(2) gives.
            let status = pclose(stream) >> 8 & 0xff
            return Output(status: status, text: String(decoding: bytes, as: UTF8.self))
        }
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

    private struct Failure: Error {
        let program: String
    }

    private static func quoted(_ text: String) -> String {
        "'" + text.replacing("'", with: "'\\''") + "'"
    }
}
