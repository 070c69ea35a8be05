// SPDX-License-Identifier: Apache-2.0

import CBenchmarkProcess
import Glibc

/// A program started on one processor, whose standard output is read and whose use of the processor
/// is known when it has ended.
///
/// Its standard input is a pipe that closes with this process, so that a child of ours that waits
/// for its end never outlives us.
final class ChildProcess {
    let id: pid_t
    private let input: Int32
    private let output: Int32
    private var hasEnded = false

    /// A program that could not be started, or ended badly.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// What a program printed, its user and system time, and the most of it that was seen in
    /// memory.
    struct Ending {
        let output: String
        let cpuSeconds: Double
        /// The most of it that was in memory; 0 unless that was watched.
        let peakBytes: Int
    }

    /// How often a look is taken at the memory of a program that cannot tell of it itself, in
    /// milliseconds. The kernel's record for `wait4` does not serve: it begins with the memory of
    /// the process that started the program.
    private static let memoryInterval: Int32 = 5

    /// The processor for servers.
    static let serverProcessor: Int32 = 0
    /// The processor for clients.
    static let clientProcessor: Int32 = 1

    /// Starts a program, found by the search path unless it names a file.
    init(_ program: String, _ arguments: [String], processor: Int32?) throws {
        let standardInput = try Self.makePipe()
        let standardOutput = try Self.makePipe()
        defer {
            close(standardInput.read)
            close(standardOutput.write)
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, standardInput.read, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, standardOutput.write, STDOUT_FILENO)

        // The threads that run Swift's tasks block signals; a child shall be one that can be ended.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var noSignals = sigset_t()
        sigemptyset(&noSignals)
        posix_spawnattr_setsigmask(&attributes, &noSignals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        // A child inherits the processors of the thread that starts it.
        if let processor {
            guard CBenchmarkProcess_pin(processor) else {
                throw Failure(description: "processor \(processor) is not there; two are needed")
            }
        }
        defer { if processor != nil { CBenchmarkProcess_unpin() } }
        var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) }
        words.append(nil)
        defer { for word in words { free(word) } }
        var child = pid_t()
        let code = posix_spawnp(&child, program, &actions, &attributes, words, environ)
        guard code == 0 else {
            close(standardInput.write)
            close(standardOutput.read)
            throw Failure(
                description: "\(program) cannot be started: \(String(cString: strerror(code)))")
        }
        id = child
        input = standardInput.write
        output = standardOutput.read
    }

    /// Starts this very program with other arguments.
    static func ourselves(_ arguments: [String], processor: Int32?) throws -> ChildProcess {
        try ChildProcess("/proc/self/exe", arguments, processor: processor)
    }

    deinit {
        if !hasEnded { _ = try? end(SIGTERM) }
        close(output)
    }

    private static func makePipe() throws -> (read: Int32, write: Int32) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Failure(description: "no file descriptor is left") }
        // Only what is put in the child's standard places goes into it.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    /// Gives it a line to read. Throws when it has ended; SIGPIPE must be ignored for that.
    func writeLine(_ line: String) throws {
        let bytes = Array((line + "\n").utf8)
        guard write(input, bytes, bytes.count) == bytes.count else {
            throw Failure(description: "a program does not take \(line)")
        }
    }

    /// The next line that it prints; `nil` when it has ended first.
    func readLine() -> String? {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while read(output, &byte, 1) == 1 {
            if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
            line.append(byte)
        }
        return nil
    }

    /// Reads what it prints until it ends by itself. Throws when it ends badly. To watch its memory
    /// costs processor time that a measurement beside it has not.
    func waitForEnd(watchingMemory: Bool = false) throws -> Ending {
        var text: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65536)
        var peakBytes = 0
        while true {
            if watchingMemory {
                while !awaitOutput() { peakBytes = max(peakBytes, peakOfMemory) }
                peakBytes = max(peakBytes, peakOfMemory)
            }
            let count = read(output, &chunk, chunk.count)
            guard count > 0 else { break }
            text += chunk[..<count]
        }
        let (status, cpuSeconds) = reap()
        guard status == 0 else {
            throw Failure(description: "a measurement ended with the wait status \(status)")
        }
        return Ending(
            output: String(decoding: text, as: UTF8.self), cpuSeconds: cpuSeconds,
            peakBytes: peakBytes)
    }

    private var peakOfMemory: Int { ProcessClocks.residentBytes(of: id).peak }

    /// Waits for something to read, or the end of it; false when it is time for a look at memory.
    private func awaitOutput() -> Bool {
        var wish = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
        return poll(&wish, 1, Self.memoryInterval) != 0
    }

    /// Ends it, and returns its user and system time.
    @discardableResult
    func end(_ signal: Int32) throws -> Double {
        guard !hasEnded else { return 0 }
        kill(id, signal)
        return reap().cpuSeconds
    }

    private func reap() -> (status: Int32, cpuSeconds: Double) {
        close(input)
        hasEnded = true
        var status: Int32 = 0
        var usage = rusage()
        while wait4(id, &status, 0, &usage) < 0, errno == EINTR {}
        let seconds = { (time: timeval) in Double(time.tv_sec) + Double(time.tv_usec) * 1e-6 }
        return (status, seconds(usage.ru_utime) + seconds(usage.ru_stime))
    }
}
