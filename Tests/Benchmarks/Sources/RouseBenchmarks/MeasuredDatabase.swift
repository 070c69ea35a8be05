// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc

/// A PostgreSQL server on this machine, whose processor time and log are read.
struct MeasuredDatabase {
    /// What stands on its meters.
    struct Reading {
        /// User and system time of all its processes, those that have ended included.
        let cpuSeconds: Double
        /// The length of its write-ahead log since it was made.
        let logBytes: Double
        let undone: Int
        /// Updates of wakes and devices, and those of them that left all indexes alone.
        let updates: Int
        let hotUpdates: Int
        let deadRows: Int
        /// The size of all tables and indexes of the store.
        let bytes: Int
    }

    private let url: String
    private let process: pid_t

    init(_ url: String) throws {
        self.url = url
        let file = try Self.query("SELECT pg_read_file('postmaster.pid')", url)
        guard let process = file.split(separator: "\n").first.flatMap({ pid_t($0) }) else {
            throw ChildProcess.Failure(description: "the server's process is not known")
        }
        self.process = process
    }

    func execute(_ sql: String) throws { _ = try Self.query(sql, url) }

    private static func query(_ sql: String, _ url: String) throws -> String {
        try ChildProcess("psql", ["-X", "-q", "-A", "-t", "-d", url, "-c", sql], processor: nil)
            .waitForEnd().output
    }

    func reading() throws -> Reading {
        // Before the processor time is read, so that who ended just now is counted.
        let words = try Self.query(
            """
            SELECT pg_current_wal_lsn() - '0/0',
                (SELECT xact_rollback FROM pg_stat_database WHERE datname = current_database()),
                coalesce(sum(n_tup_upd), 0), coalesce(sum(n_tup_hot_upd), 0),
                coalesce(sum(n_dead_tup), 0), coalesce(sum(pg_total_relation_size(relid)), 0)
            FROM pg_stat_user_tables
            WHERE schemaname = 'rouse' AND relname ~ '^(wake|device|attempt)'
            """, url
        ).split(whereSeparator: { $0 == "|" || $0 == "\n" }).map(String.init)
        guard words.count == 6 else {
            throw ChildProcess.Failure(description: "the server's figures cannot be read")
        }
        let numbers = words.map { Double($0) ?? 0 }
        return Reading(
            cpuSeconds: cpuSeconds, logBytes: numbers[0], undone: Int(numbers[1]),
            updates: Int(numbers[2]), hotUpdates: Int(numbers[3]), deadRows: Int(numbers[4]),
            bytes: Int(numbers[5]))
    }

    /// Those of the first process and of its children, and what it has of those that ended.
    private var cpuSeconds: Double {
        var ticks = Self.times(of: process).map { $0.own + $0.ended } ?? 0
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        for child in names.compactMap({ pid_t($0) }) {
            guard let times = Self.times(of: child), times.parent == process else { continue }
            ticks += times.own
        }
        return Double(ticks) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    /// proc_pid_stat(5): behind the name in parentheses the fields from the third one on.
    private static func times(of process: pid_t) -> (parent: pid_t, own: Int, ended: Int)? {
        guard let data = FileManager.default.contents(atPath: "/proc/\(process)/stat") else {
            return nil
        }
        let text = String(decoding: data, as: UTF8.self)
        let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
        guard fields.count > 14, let parent = pid_t(fields[1]) else { return nil }
        let numbers = fields[11...14].map { Int($0) ?? 0 }
        return (parent, numbers[0] + numbers[1], numbers[2] + numbers[3])
    }
}
