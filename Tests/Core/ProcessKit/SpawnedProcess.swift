// SPDX-License-Identifier: Apache-2.0

package import Foundation
import Synchronization

/// A program that a test starts. Foundation's `Process` reads behind a buffer when it is started in
/// a process with more than some 1 350 open files, which suites in parallel have.
package final class SpawnedProcess: Sendable {
    /// Why a program does not run.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) { self.description = description }
    }

    /// The process's id.
    package let id: pid_t
    /// The wait status, once the end has been collected.
    private let status = Mutex<Int32?>(nil)

    /// Enters the folder, closes what is open (Swift does not see glibc's functions for that) and
    /// becomes the program.
    private static let begin = """
        cd "$0" || exit
        for file in /proc/self/fd/*; do
            number=${file##*/}
            if ((number > 2)); then exec {number}>&-; fi
        done
        exec "$@"
        """

    /// Starts a program with these words, in a folder, with no other open files than these; without
    /// an input it reads `/dev/null`. Bash starts it: its environment gets PWD and SHLVL, and a
    /// program that is missing ends with 127.
    package init(
        _ words: [String], in folder: String = "/",
        environment: [String: String] = ProcessInfo.processInfo.environment,
        input: Int32? = nil, output: Int32, errors: Int32
    ) throws(Failure) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let input {
            posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        } else {
            posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        }
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
        // A shell starts what runs in the background with SIGINT ignored, which programs inherit.
        var interrupt = sigset_t()
        sigemptyset(&interrupt)
        sigaddset(&interrupt, SIGINT)
        posix_spawnattr_setsigdefault(&attributes, &interrupt)
        posix_spawnattr_setflags(
            &attributes,
            Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF))
        let arguments = Self.copies(["bash", "-c", Self.begin, folder] + words)
        let variables = Self.copies(environment.map { "\($0)=\($1)" })
        defer { for word in arguments + variables { free(word) } }
        var id: pid_t = 0
        let code = posix_spawn(
            &id, "/bin/bash", &actions, &attributes, arguments, variables)
        guard code == 0 else {
            throw Failure(description: "\(words.first ?? ""): \(String(cString: strerror(code)))")
        }
        self.id = id
    }

    /// Copies for C, which the caller frees, and the null pointer that ends them.
    private static func copies(_ words: [String]) -> [UnsafeMutablePointer<CChar>?] {
        words.map { strdup($0) } + [nil]
    }

    package var isRunning: Bool { status.withLock { Self.collect(id, &$0, WNOHANG) == nil } }

    /// Sends a signal, unless the process has ended: its id may be another's then.
    package func signal(_ signal: Int32) {
        status.withLock { status in
            if Self.collect(id, &status, WNOHANG) == nil { kill(id, signal) }
        }
    }

    /// Waits for the end, which blocks the thread. Returns the exit code, or the negative number of
    /// the signal that ended it.
    @discardableResult
    package func waitForEnd() -> Int32 {
        guard isRunning else { return outcome }
        // Without collecting it, so that a signal may be sent meanwhile.
        var info = siginfo_t()
        while waitid(P_PID, id_t(id), &info, WEXITED | WNOWAIT) < 0, errno == EINTR {}
        return outcome
    }

    /// The exit code of a process that has ended, or the negative number of its signal.
    private var outcome: Int32 {
        let status = status.withLock { Self.collect(id, &$0, 0) } ?? 0
        return status & 0x7f == 0 ? status >> 8 & 0xff : -(status & 0x7f)
    }

    /// Waits for the end on a thread of its own. Returns what ``waitForEnd()`` does.
    package func end() async -> Int32 {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: self.waitForEnd()) }
        }
    }

    private static func collect(_ id: pid_t, _ status: inout Int32?, _ options: Int32) -> Int32? {
        if status == nil {
            var new: Int32 = 0
            let answer = waitpid(id, &new, options)
            if answer == id { status = new }
            // Somebody else collected it, and how it ended is not known: by no means well.
            if answer < 0, errno == ECHILD { status = SIGKILL }
        }
        return status
    }
}
