// SPDX-License-Identifier: Apache-2.0

import Foundation
import ProcessKit
import Synchronization

/// A server that runs as nobody when the tests run as root, and ends with the test process however
/// that ends: the kernel then sends it a signal, for which `setpriv --pdeathsig` asks.
final class ServerProcess: Sendable {
    /// What setpriv needs to leave root behind; nothing for any other user.
    static let identity =
        getuid() == 0 ? ["--reuid", "nobody", "--regid", "nogroup", "--clear-groups"] : []

    private let child: SpawnedProcess

    /// Starts a program in a folder, where `output` holds what it prints.
    init(_ command: [String], in folder: String, end signal: String) throws {
        let output = open(folder + "/output", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
        guard output >= 0 else {
            throw SpawnedProcess.Failure(description: "open \(folder)/output")
        }
        defer { close(output) }
        let words = ["setpriv"] + Self.identity + ["--pdeathsig", signal] + command
        child = try LastingThread.run {
            try SpawnedProcess(words, in: folder, output: output, errors: output)
        }
    }

    var isRunning: Bool { child.isRunning }

    /// Sends a signal and waits for the end.
    func stop(_ signal: Int32) {
        child.signal(signal)
        child.waitForEnd()
    }

    /// The end of what a server in a folder has printed.
    static func log(in folder: String) -> String {
        let text = try? String(contentsOfFile: folder + "/output", encoding: .utf8)
        return String((text ?? "").suffix(2_000))
    }

    /// Runs a program to its end as whom the servers run as, and returns its output.
    static func run(_ command: [String]) throws -> String {
        let (output, errors) = (Pipe(), Pipe())
        let child = try SpawnedProcess(
            ["setpriv"] + identity + command, in: "/tmp",
            output: output.fileHandleForWriting.fileDescriptor,
            errors: errors.fileHandleForWriting.fileDescriptor)
        try output.fileHandleForWriting.close()
        try errors.fileHandleForWriting.close()
        let text = try output.fileHandleForReading.readToEnd() ?? Data()
        let words = try errors.fileHandleForReading.readToEnd() ?? Data()
        guard child.waitForEnd() == 0 else {
            throw SpawnedProcess.Failure(
                description: "\(command.first ?? ""): \(String(decoding: words, as: UTF8.self))")
        }
        return String(decoding: text, as: UTF8.self).trimmingCharacters(in: .newlines)
    }

    // MARK: Files

    /// Makes a folder of whom the servers run as.
    static func makeFolder(_ path: String) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        guard chmod(path, 0o755) == 0 else {
            throw SpawnedProcess.Failure(description: "chmod \(path)")
        }
        try own(path)
    }

    /// Writes a file that only whom the servers run as can read.
    static func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        guard chmod(path, 0o600) == 0 else {
            throw SpawnedProcess.Failure(description: "chmod \(path)")
        }
        try own(path)
    }

    /// Has a folder removed by a process of its own, for which nobody waits.
    static func removeLater(_ path: String) {
        let arguments: [String?] = ["rm", "-rf", path, nil]
        let words = arguments.map { word in word.flatMap { strdup($0) } }
        defer { for word in words { free(word) } }
        var process: pid_t = 0
        posix_spawn(&process, "/bin/rm", nil, nil, words, [nil])
    }

    private static func own(_ path: String) throws {
        guard getuid() == 0, let nobody = getpwnam("nobody")?.pointee else { return }
        guard chown(path, nobody.pw_uid, nobody.pw_gid) == 0 else {
            throw SpawnedProcess.Failure(
                description: "chown \(path): \(String(cString: strerror(errno)))")
        }
    }
}

/// A thread that never ends, to start processes from: what the kernel sends a process at its
/// parent's end, it sends at the end of the thread that started it.
private enum LastingThread {
    private static let queue: Mutex<[@Sendable () -> Void]> = Mutex([])
    private static let isFilled = DispatchSemaphore(value: 0)
    private static let thread: Void = Thread.detachNewThread {
        while true {
            isFilled.wait()
            let work = queue.withLock { $0.removeFirst() }
            work()
        }
    }

    /// Does something on the thread, and waits for it.
    static func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) throws -> Value
    {
        _ = thread
        let isDone = DispatchSemaphore(value: 0)
        let result = Mutex<Result<Value, any Error>?>(nil)
        let work: @Sendable () -> Void = {
            let done = Result { try body() }
            result.withLock { $0 = done }
            isDone.signal()
        }
        queue.withLock { $0.append(work) }
        isFilled.signal()
        isDone.wait()
        guard let done = result.withLock({ $0 }) else { throw CancellationError() }
        return try done.get()
    }
}
