// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A gateway that may open few files, and strangers that open more connections than that.
@Suite("rouse serve at the limit of open files", .timeLimit(.minutes(10)))
struct ServeDescriptorsTests {
    private static let openFiles = 160
    private static let waitingText = "connections wait"

    /// Starts a gateway that may open that few files.
    private static func start(
        _ simulator: RunningSimulator, _ listener: String
    ) async throws -> (RunningRouse, Int) {
        let path = try await ServeTests.keyedConfiguration(simulator)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try "listener: { \(listener) }\n\(text)"
            .write(toFile: path, atomically: true, encoding: .utf8)
        let script = "ulimit -n \(openFiles) && exec \"$0\" serve --config \"$1\""
        let gateway = try RunningRouse(["-c", script, Rouse.path, path], by: "/bin/sh")
        let lines = try await gateway.lines { $0.hasPrefix("Ready") }
        let port = try #require(lines.last?.firstMatch(of: /127\.0\.0\.1:(\d+)/)?.output.1)
        return (gateway, try #require(Int(port)))
    }

    /// Starts a program that opens connections which say nothing, and holds them until it ends.
    /// They are not this process's own: `Process.run()` reads behind the end of a list of more than
    /// 1 300 open files.
    private static func strangers(_ count: Int, port: Int) async throws -> RunningRouse {
        let program = """
            import signal, socket, sys
            here = ("127.0.0.1", int(sys.argv[1]))
            held = [socket.create_connection(here) for _ in range(int(sys.argv[2]))]
            print("held", flush=True)
            signal.pause()
            """
        let strangers = try RunningRouse(
            ["-c", program, "\(port)", "\(count)"], by: "/usr/bin/python3")
        _ = try await strangers.lines { $0 == "held" }
        return strangers
    }

    private static func health(_ port: Int) async throws -> String {
        try await Rouse.run(
            "/usr/bin/curl",
            ["-sS", "-m", "10", "-w", "%{http_code}", "-o", "/dev/null"]
                + ["http://127.0.0.1:\(port)/healthz"]
        ).out
    }

    @Test("takes fewer connections than it could open files for, unless it is configured otherwise")
    func derived() async throws {
        try await RunningSimulator.with { simulator in
            let (gateway, port) = try await Self.start(simulator, "connections-per-peer: 1000")
            let silent = try await Self.strangers(2 * Self.openFiles, port: port)
            #expect(try await Self.health(port) == "200")
            let open = try FileManager.default.contentsOfDirectory(
                atPath: "/proc/\(gateway.processID)/fd")
            #expect(open.count < Self.openFiles)
            #expect(!gateway.error.contains(Self.waitingText), "\(gateway.error)")
            #expect(try await gateway.end(SIGTERM) == 0)
            #expect(try await silent.end(SIGKILL) == -1)
        }
    }

    /// Without the last files kept back, libdispatch ended the process now and then.
    @Test("leaves the last files to the rest of the program, whoever has the others")
    func exhausted() async throws {
        try await RunningSimulator.with { simulator in
            let (gateway, port) = try await Self.start(simulator, "connections-per-peer: 1000")
            func open() throws -> Int {
                try FileManager.default.contentsOfDirectory(
                    atPath: "/proc/\(gateway.processID)/fd"
                ).count
            }
            // It has counted on its limit since its start: now others have taken their part of it.
            let limit = try open() + 48
            let limited = try await Rouse.run(
                "/usr/bin/prlimit",
                ["--pid", "\(gateway.processID)", "--nofile=\(limit):\(Self.openFiles)"])
            #expect(limited.status == 0, "\(limited.all)")
            let silent = try await Self.strangers(2 * Self.openFiles, port: port)
            for _ in 0..<5 {
                #expect(try await Self.health(port) == "200")
                #expect(try open() < limit - 8)
            }
            #expect(!gateway.error.contains(Self.waitingText), "\(gateway.error)")
            #expect(try await gateway.end(SIGTERM) == 0)
            #expect(try await silent.end(SIGKILL) == -1)
        }
    }

    /// strace stands for the system that has no file left: a gateway that has none cannot be had at
    /// will, because other parts of it need some.
    @Test("rests between two tries while the system refuses every connection")
    func refused() async throws {
        let refusals = 20
        let folder = try TestFolder()
        let trace = folder.path + "/trace"
        let gateway = try RunningRouse(
            ["-D", "-f", "-ttt", "-e", "trace=accept,accept4", "-o", trace]
                + ["-e", "inject=accept,accept4:error=EMFILE:when=1..\(refusals)"]
                + [Rouse.path, "serve", "--dev", "--listen", "127.0.0.1:0"],
            by: "/usr/bin/strace")
        let lines = try await gateway.lines { $0.hasPrefix("Stop it") }
        let found = lines.lazy.compactMap { $0.firstMatch(of: /127\.0\.0\.1:(\d+)/)?.output.1 }
        let port = try #require(found.first.flatMap { Int($0) })
        #expect(try await Self.health(port) == "200")
        let times = try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n")
            .filter { $0.contains("EMFILE") }
            .compactMap { $0.split(separator: " ").dropFirst().first.flatMap { Double($0) } }
        #expect(times.count == refusals)
        let (first, last) = (try #require(times.first), try #require(times.last))
        // Each rest is 20 ms, as there is no stranger to give a place away.
        #expect(last - first > 0.015 * Double(refusals - 1), "\(times)")
        #expect(gateway.error.split(separator: Self.waitingText).count == 2, "\(gateway.error)")
        #expect(try await gateway.end(SIGTERM) == 0)
    }
}
