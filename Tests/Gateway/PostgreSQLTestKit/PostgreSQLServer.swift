// SPDX-License-Identifier: Apache-2.0

import Foundation
import ProcessKit
import Synchronization

/// A PostgreSQL server, on a port of its own, with its data in a temporary folder and fsync on: the
/// newest of Debian's packages, or the one whose programs are in the folder that
/// `ROUSE_POSTGRESQL_PROGRAMS` names. PostgreSQL refuses to run as root; see ``ServerProcess``.
package final class PostgreSQLServer: Sendable {
    private static let shared = Result {
        let server = try PostgreSQLServer()
        // Its folder goes with the process.
        atexit { (try? PostgreSQLServer.running())?.end() }
        return server
    }

    /// The server that all tests of this process share. Tests that stop a server, or set it up in
    /// another way, start one of their own.
    package static func running() throws -> PostgreSQLServer { try shared.get() }

    /// The port on which it listens.
    package let port: Int
    let folder: String
    private let data: String
    private let programs: String
    private let process = Mutex<ServerProcess?>(nil)
    private let databases = Mutex<(count: Int, free: [String])>((0, []))

    /// The owner of all databases, a superuser.
    package static let user = "rouse"
    package static let password = "a secret of the tests"

    /// Makes a server and starts it. `settings` go into its configuration, and `files`, by name,
    /// into the folder of its data.
    package init(_ settings: [String: String] = [:], files: [String: String] = [:]) throws {
        programs = try Self.findPrograms()
        let root = FileManager.default.temporaryDirectory.path
        Self.removeFoldersOfTheDead(in: root)
        folder = "\(root)/rouse-pg-\(getpid())-\(UUID().uuidString.prefix(8))"
        data = folder + "/data"
        port = try Sockets.freePort()
        try ServerProcess.makeFolder(folder)
        try ServerProcess.write(Self.password, to: folder + "/password")
        try run(
            "initdb", "--pgdata", data, "--username", Self.user, "--pwfile", folder + "/password",
            "--auth", "scram-sha-256", "--encoding", "UTF8", "--locale", "C.UTF-8", "--no-sync")
        var lines = [
            "port": "\(port)", "listen_addresses": "'127.0.0.1'",
            "unix_socket_directories": "'\(folder)'", "max_connections": "100",
            "shared_buffers": "'64MB'", "fsync": "on", "log_min_messages": "warning",
        ]
        lines.merge(settings) { $1 }
        try ServerProcess.write(
            lines.map { "\($0.key) = \($0.value)\n" }.sorted().joined(),
            to: data + "/postgresql.auto.conf")
        for (name, text) in files { try ServerProcess.write(text, to: "\(data)/\(name)") }
        try start()
    }

    /// Makes a standby of a server, which follows its log and can take its place, and starts it.
    package init(standbyOf primary: PostgreSQLServer) throws {
        programs = primary.programs
        let root = FileManager.default.temporaryDirectory.path
        folder = "\(root)/rouse-pg-\(getpid())-\(UUID().uuidString.prefix(8))"
        data = folder + "/data"
        port = try Sockets.freePort()
        try ServerProcess.makeFolder(folder)
        try run(
            "pg_basebackup", "--dbname", primary.uri(), "--pgdata", data, "--wal-method", "stream",
            "--checkpoint", "fast", "--write-recovery-conf", "--no-sync")
        // What stands there last counts.
        let settings = data + "/postgresql.auto.conf"
        let text = try String(contentsOfFile: settings, encoding: .utf8)
        try ServerProcess.write(
            text + "port = \(port)\nunix_socket_directories = '\(folder)'\n", to: settings)
        try start()
    }

    /// Makes a standby take its primary's place, and waits until it can be written.
    package func promote() throws { try execute("SELECT pg_promote(true, 60)") }

    deinit { end() }

    /// Stops the server and has its folder removed, for which nobody waits: hundreds of databases
    /// are some hundred thousand files.
    private func end() {
        stop(.immediate)
        ServerProcess.removeLater(folder)
    }

    // MARK: Life

    /// Starts the server and waits until it answers.
    package func start() throws {
        let server = try ServerProcess(
            [programs + "/postgres", "-D", data], in: folder, end: "QUIT")
        process.withLock { $0 = server }
        let end = ContinuousClock.now + .seconds(60)
        while (try? run("pg_isready", "-q", "-h", "127.0.0.1", "-p", "\(port)")) == nil {
            guard server.isRunning, ContinuousClock.now < end else {
                throw SpawnedProcess.Failure(
                    description: "the server did not start: \(ServerProcess.log(in: folder))")
            }
            usleep(20_000)
        }
    }

    /// How `pg_ctl stop` stops it.
    package enum StopMode: Sendable {
        /// As a crash would: without a checkpoint.
        case immediate
        /// With its connections ended and a checkpoint.
        case fast
    }

    /// Stops the server and waits for its end.
    package func stop(_ mode: StopMode) {
        process.withLock { $0.take() }?.stop(mode == .immediate ? SIGQUIT : SIGINT)
    }

    // MARK: Databases

    /// The URI of a database over TCP, with the password, at the server's or another port.
    package func uri(_ database: String = "postgres", port: Int? = nil) -> String {
        let secret = Self.password.replacingOccurrences(of: " ", with: "%20")
        return "postgresql://\(Self.user):\(secret)@127.0.0.1:\(port ?? self.port)/\(database)"
    }

    /// Makes an empty database for one test, and returns its name.
    package func makeDatabase() throws -> String {
        try databases.withLock { databases in
            if databases.free.isEmpty {
                // Some at once: a process costs more than a database.
                let names = (1...8).map { "test_\(databases.count + $0)" }
                try psql(names.map { "CREATE DATABASE \($0)" }, in: "postgres")
                databases.count += names.count
                databases.free = names.reversed()
            }
            return databases.free.removeLast()
        }
    }

    /// Makes an empty database whose tables are in a folder, such as that of a small disk. For a
    /// server that ends with the test.
    package func makeDatabase(in folder: String) throws -> String {
        try ServerProcess.makeFolder(folder + "/tables")
        try psql(
            [
                "CREATE TABLESPACE elsewhere LOCATION '\(folder)/tables'",
                "CREATE DATABASE elsewhere TABLESPACE elsewhere",
            ], in: "postgres")
        return "elsewhere"
    }

    /// Runs SQL with psql as the superuser, and returns what it prints: rows, columns apart by `|`.
    @discardableResult
    package func execute(_ sql: String, in database: String = "postgres") throws -> String {
        try psql([sql], in: database)
    }

    /// Runs SQL with psql for which nobody waits, such as a transaction that is left open until its
    /// backend is terminated. On a thread of its own: tasks have as few as there are processors.
    package func hold(_ sql: String, in database: String) {
        Thread.detachNewThread { [self] in _ = try? execute(sql, in: database) }
    }

    /// Runs commands with psql, each in a transaction of its own.
    @discardableResult
    private func psql(_ commands: [String], in database: String) throws -> String {
        let options = ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", uri(database)]
        return try ServerProcess.run(
            [programs + "/psql"] + options + commands.flatMap { ["-c", $0] })
    }

    /// Runs one of PostgreSQL's programs to its end, and returns its output.
    @discardableResult
    package func run(_ program: String, _ arguments: String...) throws -> String {
        try ServerProcess.run([programs + "/" + program] + arguments)
    }

    // MARK: Files

    private static func findPrograms() throws -> String {
        if let folder = ProcessInfo.processInfo.environment["ROUSE_POSTGRESQL_PROGRAMS"] {
            return folder
        }
        let root = "/usr/lib/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        guard let newest = versions.compactMap({ Int($0) }).max() else {
            throw SpawnedProcess.Failure(
                description: "PostgreSQL is not installed: apt-get install postgresql")
        }
        return "\(root)/\(newest)/bin"
    }

    /// Removes what test processes that were killed left behind.
    private static func removeFoldersOfTheDead(in root: String) {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        where name.hasPrefix("rouse-pg-") {
            guard let process = pid_t(name.split(separator: "-")[2]), kill(process, 0) != 0 else {
                continue
            }
            ServerProcess.removeLater("\(root)/\(name)")
        }
    }
}
