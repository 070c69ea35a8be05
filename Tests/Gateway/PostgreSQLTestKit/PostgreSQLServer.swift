// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// A PostgreSQL server of Debian's packages, on a port of its own, with its data in a temporary
/// folder and fsync on.
///
/// PostgreSQL refuses to run as root, so as root the tests run it as nobody. The kernel ends it when
/// the test process ends, also by a kill: see `start()`.
package final class PostgreSQLServer: Sendable {
    /// Why there is no server.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// The one server of this test process, with the default settings. Tests that stop a server
    /// start one of their own.
    private static let shared = Result {
        let server = try PostgreSQLServer()
        // Its folder goes with the process.
        atexit { (try? PostgreSQLServer.running())?.end() }
        return server
    }

    /// The server that all tests of this process share.
    package static func running() throws -> PostgreSQLServer { try shared.get() }

    package let port: Int
    package let folder: String
    private let data: String
    private let programs: String
    private let process = Mutex<Process?>(nil)
    private let databases = Atomic(0)

    /// The owner of all databases, a superuser.
    package static let user = "rouse"
    package static let password = "a secret of the tests"

    /// Makes a cluster and starts it. `settings` go into postgresql.conf.
    package init(_ settings: [String: String] = [:]) throws {
        programs = try Self.findPrograms()
        folder =
            FileManager.default.temporaryDirectory.path
            + "/rouse-pg-\(ProcessInfo.processInfo.processIdentifier)-\(UUID().uuidString.prefix(8))"
        data = folder + "/data"
        Self.removeFoldersOfTheDead()
        port = try Sockets.freePort()
        try Self.makeFolder(folder)
        try Data(Self.password.utf8).write(to: URL(fileURLWithPath: folder + "/password"))
        try Self.own(folder + "/password")
        try run(
            "initdb", "--pgdata", data, "--username", Self.user, "--pwfile", folder + "/password",
            "--auth", "scram-sha-256", "--encoding", "UTF8", "--locale", "C.UTF-8", "--no-sync")
        var lines = [
            "port": "\(port)", "listen_addresses": "'127.0.0.1'",
            "unix_socket_directories": "'\(folder)'", "max_connections": "60",
            "shared_buffers": "'64MB'", "fsync": "on", "log_min_messages": "warning",
        ]
        lines.merge(settings) { $1 }
        let text = lines.map { "\($0.key) = \($0.value)\n" }.sorted().joined()
        let path = data + "/postgresql.auto.conf"
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        try Self.own(path)
        try start()
    }

    deinit { end() }

    /// Stops the server and removes its folder.
    private func end() {
        stop(.immediate)
        try? FileManager.default.removeItem(atPath: folder)
    }

    // MARK: Life

    /// Starts the server and waits until it answers.
    ///
    /// `setpriv --pdeathsig` has the kernel send it SIGQUIT, an immediate shutdown, when the thread
    /// that started it ends. So that thread never ends before the process does.
    package func start() throws {
        let server = Process()
        server.executableURL = URL(fileURLWithPath: "/usr/bin/setpriv")
        server.arguments =
            Self.identity + ["--pdeathsig", "QUIT", programs + "/postgres", "-D", data]
        server.currentDirectoryURL = URL(fileURLWithPath: folder)
        let log = folder + "/log"
        if !FileManager.default.fileExists(atPath: log) {
            try Data().write(to: URL(fileURLWithPath: log))
        }
        let output = try FileHandle(forWritingTo: URL(fileURLWithPath: log))
        try output.seekToEnd()
        server.standardOutput = output
        server.standardError = output
        try LastingThread.run { try server.run() }
        process.withLock { $0 = server }
        let end = ContinuousClock.now + .seconds(60)
        while (try? run("pg_isready", "-q", "-h", "127.0.0.1", "-p", "\(port)")) == nil {
            guard server.isRunning, ContinuousClock.now < end else {
                let words = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
                throw Failure(description: "the server did not start: \(words.suffix(2000))")
            }
            usleep(20_000)
        }
    }

    /// How `pg_ctl stop` stops it.
    package enum StopMode: String, Sendable {
        /// As a crash would: without a checkpoint.
        case immediate
        case fast
    }

    /// Stops the server and waits for its end.
    package func stop(_ mode: StopMode) {
        guard let server = process.withLock({ $0.take() }) else { return }
        kill(server.processIdentifier, mode == .immediate ? SIGQUIT : SIGINT)
        // Not with a run loop: this may be the process's exit.
        while server.isRunning, kill(server.processIdentifier, 0) == 0 { usleep(5_000) }
    }

    // MARK: Databases

    /// The URI of a database, over TCP, with the password.
    package func uri(
        _ database: String = "postgres", port: Int? = nil, user: String = user
    )
        -> String
    {
        let secret = Self.password.replacingOccurrences(of: " ", with: "%20")
        return "postgresql://\(user):\(secret)@127.0.0.1:\(port ?? self.port)/\(database)"
    }

    /// Makes an empty database for one test, and returns its name.
    package func makeDatabase() throws -> String {
        let name = "test_\(databases.add(1, ordering: .relaxed).newValue)"
        try execute("CREATE DATABASE \(name)")
        return name
    }

    /// Runs SQL with psql as the superuser, and returns what it prints: rows, columns apart by `|`.
    @discardableResult
    package func execute(_ sql: String, in database: String = "postgres") throws -> String {
        try run(
            "psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", uri(database), "-c", sql)
    }

    // MARK: Programs

    /// Runs one of PostgreSQL's programs to its end, and returns its output.
    @discardableResult
    package func run(_ program: String, _ arguments: String...) throws -> String {
        try Self.run("/usr/bin/setpriv", Self.identity + [programs + "/" + program] + arguments)
    }

    /// What setpriv needs to leave root behind; nothing for any other user.
    static let identity =
        getuid() == 0
        ? ["--reuid", "nobody", "--regid", "nogroup", "--clear-groups"] : []

    private static func run(_ program: String, _ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.currentDirectoryURL = URL(fileURLWithPath: "/tmp")
        let (output, errors) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        let text = String(
            decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let words = String(
            decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(
                description:
                    "\(arguments.first { $0.contains("/postgresql/") } ?? program): \(words)")
        }
        return text.trimmingCharacters(in: .newlines)
    }

    private static func findPrograms() throws -> String {
        let root = "/usr/lib/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        guard let newest = versions.compactMap(Int.init).max() else {
            throw Failure(description: "PostgreSQL is not installed: apt-get install postgresql")
        }
        return "\(root)/\(newest)/bin"
    }

    /// Removes what test processes that were killed left behind.
    private static func removeFoldersOfTheDead() {
        let root = FileManager.default.temporaryDirectory.path
        for name in (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        where name.hasPrefix("rouse-pg-") {
            guard let process = pid_t(name.split(separator: "-")[2]), kill(process, 0) != 0 else {
                continue
            }
            try? FileManager.default.removeItem(atPath: "\(root)/\(name)")
        }
    }

    private static func makeFolder(_ path: String) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        guard chmod(path, 0o755) == 0 else { throw Failure(description: "chmod \(path)") }
        try own(path)
    }

    /// Gives a file to whom the server runs as.
    package static func own(_ path: String) throws {
        guard getuid() == 0, let nobody = getpwnam("nobody")?.pointee else { return }
        guard chown(path, nobody.pw_uid, nobody.pw_gid) == 0 else {
            throw Failure(description: "chown \(path): \(String(cString: strerror(errno)))")
        }
    }
}

/// A thread that never ends, to start processes from: what the kernel sends a process at its
/// parent's end, it sends at the end of the thread that started it.
enum LastingThread {
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
