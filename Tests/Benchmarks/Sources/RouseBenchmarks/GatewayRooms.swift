// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc

/// Where the gateway's processor time goes, room by room.
struct GatewayRooms: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gateway-rooms",
        abstract: "The gateway's processor time by room, and by library.",
        discussion: """
            The gateway and its callers as in `gateway-http`, while `perf` records the gateway: \
            once with single requests, once with batches. Neither its start nor its first devices \
            are part of it.

            A sample counts for the room whose function is nearest to the leaf of the stack, with \
            all that it calls; the rows below a room say how much of its time is in libraries. \
            Stacks are followed by frame pointers, which Debian's C libraries do not have: a stack \
            that one of them cuts off counts for the room that alone uses it, or whose thread it \
            is; tasks share theirs, so some memory and scheduling has no room. The second table \
            says whose code was running, whoever called it.

            Shares are much the same on a busy machine, microseconds are not. No part of `all`: \
            it needs perf (Debian: linux-perf) and the right to use it, as root or with \
            kernel.perf_event_paranoid at 1 or below, and recording slows what is measured.
            """)

    @OptionGroup var options: BenchmarkOptions

    @OptionGroup var amounts: GatewayHTTPBenchmark.Amounts

    private static let batch = 1000
    private static let connections = 64
    private static let batchConnections = 4

    func validate() throws {
        try amounts.check(batch: Self.batch)
    }

    func run() async throws {
        // A perf that ends at once must not end this program too.
        signal(SIGPIPE, SIG_IGN)
        let bench = try Bench()
        defer { bench.clear() }
        try PerfRecording.check(in: bench.directory)
        let forms = amounts.forms(
            quick: options.quick, connections: Self.connections, batch: Self.batch,
            batchConnections: Self.batchConnections)
        let known = amounts.known(quick: options.quick)
        try GatewayTask.makeDocuments(
            known + (forms.map(\.wakes).max() ?? 0), in: bench.documentsPath)
        let server = try MeasuredServer.start(amounts.server, on: bench, processor: nil)
        var results: [GatewayRoomsResult] = []
        for form in forms {
            results.append(try await measure(form, known, server, on: bench))
        }
        try server.stop()
        try options.show(results, as: Self.report)
    }

    /// All rounds of a form together.
    private func measure(
        _ form: GatewayHTTPBenchmark.Form, _ known: Int, _ server: MeasuredServer, on bench: Bench
    ) async throws -> GatewayRoomsResult {
        var profile = RoomProfile()
        var cpuSeconds = 0.0
        for round in 1...options.rounds {
            bench.progress(
                "gateway-rooms: batches of \(form.batch), round \(round) of \(options.rounds)")
            var recordings: [PerfRecording] = []
            let sample = try await form.overHTTP(known, server, on: bench) { gateway, load in
                let recording = try PerfRecording.attach(
                    to: gateway.processID, in: bench.directory)
                recordings.append(recording)
                let report = try load()
                try recording.end()
                return report
            }
            cpuSeconds += sample.gateway.cpuSeconds
            for recording in recordings {
                for sample in try recording.takeSamples() { profile.add(sample) }
            }
        }
        guard profile.sampleCount > 0 else {
            throw ChildProcess.Failure(description: "perf has recorded nothing")
        }
        return GatewayRoomsResult(
            amounts.server, form, profile,
            microsecondsPerWake: cpuSeconds * 1e6 / Double(form.wakes * options.rounds))
    }

    /// The results as two tables each.
    static func report(_ results: [GatewayRoomsResult]) -> String {
        results.map(report).joined()
    }

    private static func report(_ result: GatewayRoomsResult) -> String {
        var rooms = TextTable("room", "%", "us/wake")
        for room in result.rooms {
            rooms.add(room.name, room.percent.fixed(1), room.microsecondsPerWake.fixed(2))
            for part in room.parts where part.isWorthALine && room.parts.count > 1 {
                rooms.add(
                    "  " + part.name, part.percent.fixed(1), part.microsecondsPerWake.fixed(2))
            }
        }
        var leaves = TextTable("running", "%", "us/wake")
        for leaf in result.leaves where leaf.isWorthALine {
            leaves.add(leaf.name, leaf.percent.fixed(1), leaf.microsecondsPerWake.fixed(2))
        }
        let form =
            result.batch == 1 ? "single requests" : "batches of \(result.batch)"
        return "\nThe gateway's processor time with \(form) on \(result.connections) connections: "
            + "\(result.microsecondsPerWake.fixed(1)) us a wake,\n\(result.sampleCount) samples, "
            + "\(result.server) and the load on the same processors (below \(Share.least) %: no "
            + "line)\n\n" + rooms.text + "\n\n" + leaves.text + "\n"
    }
}
