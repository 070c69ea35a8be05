// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// A server that runs as nobody when the tests run as root, and ends with the test process however
/// that ends: the kernel then sends it a signal, for which `setpriv --pdeathsig` asks.
final class ServerProcess: Sendable {
    /// Why something does not run.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// What setpriv needs to leave root behind; nothing for any other user.
    static let identity =
        getuid() == 0 ? ["--reuid", "nobody", "--regid", "nogroup", "--clear-groups"] : []

    private let child: Mutex<Child>

    /// Starts a program in a folder, where `output` holds what it prints.
    init(_ command: [String], in folder: String, end signal: String) throws {
        let output = open(folder + "/output", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
        guard output >= 0 else { throw Failure(description: "open \(folder)/output") }
        defer { close(output) }
        let words = Self.identity + ["--pdeathsig", signal] + command
        let child = Mutex(Child(id: 0))
        try LastingThread.run {
            let new = try Child.spawn(words, in: folder, output: output, errors: output)
            child.withLock { $0 = new }
        }
        self.child = Mutex(child.withLock { $0 })
    }

    var isRunning: Bool { child.withLock { $0.isRunning } }

    /// Sends a signal and waits for the end.
    func stop(_ signal: Int32) {
        child.withLock { child in
            guard child.isRunning else { return }
            kill(child.id, signal)
            while child.isRunning { usleep(5_000) }
        }
    }

    /// The end of what a server in a folder has printed.
    static func log(in folder: String) -> String {
        let text = try? String(contentsOfFile: folder + "/output", encoding: .utf8)
        return String((text ?? "").suffix(2_000))
    }

    /// Runs a program to its end as whom the servers run as, and returns its output.
    static func run(_ command: [String]) throws -> String {
        let (output, errors) = (Pipe(), Pipe())
        var child = try Child.spawn(
            identity + command, in: "/tmp",
            output: output.fileHandleForWriting.fileDescriptor,
            errors: errors.fileHandleForWriting.fileDescriptor)
        try output.fileHandleForWriting.close()
        try errors.fileHandleForWriting.close()
        let text = try output.fileHandleForReading.readToEnd() ?? Data()
        let words = try errors.fileHandleForReading.readToEnd() ?? Data()
        guard child.waitForEnd() == 0 else {
            throw Failure(
                description: "\(command.first ?? ""): \(String(decoding: words, as: UTF8.self))")
        }
        return String(decoding: text, as: UTF8.self).trimmingCharacters(in: .newlines)
    }

    // MARK: Files

    /// Makes a folder of whom the servers run as.
    static func makeFolder(_ path: String) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        guard chmod(path, 0o755) == 0 else { throw Failure(description: "chmod \(path)") }
        try own(path)
    }

    /// Writes a file that only whom the servers run as can read.
    static func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        guard chmod(path, 0o600) == 0 else { throw Failure(description: "chmod \(path)") }
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
            throw Failure(description: "chown \(path): \(String(cString: strerror(errno)))")
        }
    }
}

/// A program that setpriv runs. Foundation's `Process` reads behind a buffer when it is started in
/// a process with more than some 1 350 open files, which suites in parallel have.
private struct Child {
    let id: pid_t
    /// The wait status, once it has ended.
    private var status: Int32?

    init(id: pid_t) { self.id = id }

    /// Enters the folder, closes what is open (Swift does not see glibc's functions for that) and
    /// becomes setpriv.
    private static let begin = """
        cd "$0" || exit
        for file in /proc/self/fd/*; do
            number=${file##*/}
            if ((number > 2)); then exec {number}>&-; fi
        done
        exec setpriv "$@"
        """

    /// Starts setpriv with these words, in a folder, with no other open files than these two.
    static func spawn(
        _ words: [String], in folder: String, output: Int32, errors: Int32
    ) throws -> Child {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO)
        // A signal of the terminal is for the tests, and threads of Swift's tasks block signals.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var noSignals = sigset_t()
        sigemptyset(&noSignals)
        posix_spawnattr_setsigmask(&attributes, &noSignals)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP))
        let arguments = (["bash", "-c", begin, folder] + words).map { strdup($0) } + [nil]
        defer { for word in arguments { free(word) } }
        var id: pid_t = 0
        let code = posix_spawn(
            &id, "/bin/bash", &actions, &attributes, arguments, environ)
        guard code == 0 else {
            throw ServerProcess.Failure(description: "setpriv: \(String(cString: strerror(code)))")
        }
        return Child(id: id)
    }

    var isRunning: Bool {
        mutating get {
            if status == nil { look(WNOHANG) }
            return status == nil
        }
    }

    /// The wait status at its end.
    mutating func waitForEnd() -> Int32 {
        while status == nil { look(0) }
        return status ?? 0
    }

    private mutating func look(_ options: Int32) {
        var new: Int32 = 0
        let answer = waitpid(id, &new, options)
        if answer == id { status = new }
        if answer < 0, errno == ECHILD { status = -1 }
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
    static func run(_ body: @escaping @Sendable () throws -> Void) throws {
        _ = thread
        let isDone = DispatchSemaphore(value: 0)
        let failure = Mutex<(any Error)?>(nil)
        let work: @Sendable () -> Void = {
            do { try body() } catch { failure.withLock { $0 = error } }
            isDone.signal()
        }
        queue.withLock { $0.append(work) }
        isFilled.signal()
        isDone.wait()
        if let error = failure.withLock({ $0 }) { throw error }
    }
}
