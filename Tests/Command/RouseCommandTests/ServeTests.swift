// SPDX-License-Identifier: Apache-2.0

import APNsSimulator
import Foundation
import Gateway
import StoreSQLite
import Testing
import WakeModel

@Suite("rouse serve", .timeLimit(.minutes(10)))
struct ServeTests {
    static let secret = "a-key-for-tests"
    private static let readyPrefix = "Ready"

    /// A configuration that pushes to a simulator, with one API key.
    private static func configuration(_ simulator: RunningSimulator) throws -> String {
        try simulator.folder.write(
            """
            listen: 127.0.0.1:0
            store: wakes.sqlite
            log-level: debug
            api-keys:
              - name: test
                sha256: none-yet
            apps:
              - bundle-id: \(RunningSimulator.bundleID)
                environment: sandbox
                team-id: \(RunningSimulator.teamID)
                key-file: AuthKey_\(RunningSimulator.keyID).p8
                server:
                  host: 127.0.0.1
                  port: \(simulator.simulator.port)
                  ca-file: ca.pem
            transport:
              proxy: none
            """, to: "rouse.yaml")
    }

    /// Writes the digest of the test's key into a configuration, as its users are told to make it.
    static func setKey(_ path: String) async throws {
        let digest = try await Rouse.run(
            "/bin/sh", ["-c", #"printf %s "$KEY" | sha256sum | cut -d' ' -f1"#],
            environment: ["KEY": secret])
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try text.replacing(/sha256: .*/, with: "sha256: \(digest.out)")
            .write(toFile: path, atomically: true, encoding: .utf8)
    }

    /// Starts a gateway and waits until it listens; its base URL comes with it.
    static func start(_ arguments: [String]) async throws -> (RunningRouse, String) {
        let gateway = try RunningRouse(["serve"] + arguments)
        let lines = try await gateway.lines { $0.hasPrefix(readyPrefix) }
        let address = try #require(lines.last?.firstMatch(of: /127\.0\.0\.1:\d+/)?.output)
        return (gateway, "http://\(address)")
    }

    static func curl(_ arguments: [String], stdin: String = "") async throws -> [String: Any] {
        try await Rouse.run(
            "/usr/bin/curl", ["-sS", "-H", "Authorization: Bearer \(secret)"] + arguments,
            stdin: stdin
        ).json()
    }

    /// A configuration that pushes to a simulator, with the tests' key in it.
    static func keyedConfiguration(_ simulator: RunningSimulator) async throws -> String {
        let path = try configuration(simulator)
        try await setKey(path)
        return path
    }

    /// Asks for one silent wake, of the usual device or of another one; returns its id.
    static func wake(_ base: String, device number: Int? = nil) async throws -> String {
        let answer = try await askForWake(base, device: number)
        return try #require(answer["id"] as? String, "\(answer)")
    }

    /// The answer to that, whatever it is.
    static func askForWake(
        _ base: String, device number: Int? = nil
    ) async throws -> [String: Any] {
        let device =
            number.map { "\(RunningSimulator.device.dropLast(2))0\($0)" } ?? RunningSimulator.device
        let body = """
            {"kind":"background","app":"\(RunningSimulator.bundleID)","device_token":"\(device)",\
            "ttl_seconds":600,"payload":{"aps":{"content-available":1},"version":1}}
            """
        return try await curl(
            ["-H", "Content-Type: application/json", "-d", body, "\(base)/v1/wakes"])
    }

    /// Asks for a wake's state until it is an end or the tries are used up: the outcome is on disk
    /// a moment after the simulator has answered, which no event outside the gateway tells.
    private static func outcome(_ id: String, _ base: String) async throws -> String {
        var state = ""
        for _ in 0..<600 {
            let record = try await curl(["\(base)/v1/wakes/\(id)"])
            state = record["state"] as? String ?? "\(record)"
            if state != "pending", state != "claimed" { break }
            try await Task.sleep(for: .milliseconds(50))
        }
        return state
    }

    @Test("takes a wake over HTTP, sends it, tells its outcome, and drains on SIGTERM")
    func wholeWay() async throws {
        try await RunningSimulator.with { simulator in
            let path = try Self.configuration(simulator)
            try await Self.setKey(path)
            let (gateway, base) = try await Self.start(["--config", path])
            let id = try await Self.wake(base)
            await simulator.simulator.waitForPushes(1)
            #expect(try await Self.outcome(id, base) == "sent")
            let push = try #require(simulator.simulator.receivedPushes.first)
            #expect(push["apns-id"] == id)
            #expect(push["apns-push-type"] == "background")
            #expect(push.deviceTokenHex == RunningSimulator.device)

            let stranger = try await Rouse.run(
                "/usr/bin/curl",
                ["-sS", "-o", "/dev/null", "-w", "%{http_code}", "\(base)/v1/wakes/\(id)"])
            #expect(stranger.out == "401")

            #expect(try await gateway.end(SIGTERM) == 0)
            #expect(!gateway.error.contains(RunningSimulator.device))
            #expect(!gateway.error.contains("eyJ"))
            #expect(gateway.error.contains(id), "debug logs name the wake")
            #expect(gateway.error.contains("caller=test code=none"))
            #expect(gateway.error.contains("caller=none code=unauthorized"))
        }
    }

    @Test("with log-format json, each line of its log is an object of the same keys")
    func jsonLog() async throws {
        try await RunningSimulator.with { simulator in
            let path = try await Self.keyedConfiguration(simulator)
            let text = try String(contentsOfFile: path, encoding: .utf8)
            try text.replacing("log-level: debug", with: "log-level: debug\nlog-format: json")
                .write(toFile: path, atomically: true, encoding: .utf8)
            let (gateway, base) = try await Self.start(["--config", path])
            let id = try await Self.wake(base)
            await simulator.simulator.waitForPushes(1)
            #expect(try await Self.outcome(id, base) == "sent")
            #expect(try await gateway.end(SIGTERM) == 0)
            let lines = try gateway.error.split(separator: "\n").map { line in
                try #require(
                    try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
                    "\(line)")
            }
            for line in lines {
                #expect(Set(line.keys) == ["time", "level", "logger", "message", "metadata"])
                #expect(WallInstant(rfc3339: try #require(line["time"] as? String)) != nil)
                #expect(line["metadata"] is [String: Any])
            }
            let request = try #require(
                lines.first {
                    $0["message"] as? String == "request"
                        && ($0["metadata"] as? [String: Any])?["status"] as? String == "202"
                })
            #expect(request["level"] as? String == "debug")
            #expect(request["logger"] as? String == "rouse")
            let metadata = try #require(request["metadata"] as? [String: Any])
            #expect(metadata["route"] as? String == "/v1/wakes")
            #expect(metadata["caller"] as? String == "test")
            #expect(gateway.error.contains(id), "debug logs name the wake")
            #expect(!gateway.error.contains(RunningSimulator.device))
        }
    }

    @Test("a form of the log that is none is refused, wherever it stands")
    func logFormat() async throws {
        let option = try await Rouse.run(["serve", "--dev", "--log-format", "xml"])
        #expect(option.status == 64, "\(option.all)")
        let variable = try await Rouse.run(
            ["serve", "--dev"], environment: ["ROUSE_LOG_FORMAT": "xml"])
        #expect(variable.status == 78, "\(variable.all)")
        #expect(
            variable.error.contains("ROUSE_LOG_FORMAT is no form of the log. Use text or json."))
    }

    @Test("a command whose key is not taken says which key that was")
    func unauthorized() async throws {
        try await RunningSimulator.with { simulator in
            let path = try await Self.keyedConfiguration(simulator)
            let (gateway, base) = try await Self.start(["--config", path])
            let file = try simulator.folder.write("another-key", to: "backend.key")
            for (arguments, environment, words) in [
                ([], [:], "None was sent: give --key-file, ROUSE_API_KEY_FILE or ROUSE_API_KEY."),
                (["--key-file", file], [:], "It came from --key-file (\(file))."),
                ([], ["ROUSE_API_KEY_FILE": file], "It came from ROUSE_API_KEY_FILE (\(file))."),
                ([], ["ROUSE_API_KEY": "another-key"], "It came from ROUSE_API_KEY."),
            ] as [([String], [String: String], String)] {
                for command in [["device", RunningSimulator.device], ["status", "--once"]] {
                    let result = try await Rouse.run(
                        command + ["--gateway", base] + arguments, environment: environment)
                    #expect(result.status == 77, "\(result.all)")
                    #expect(result.error.contains(words), "\(result.all)")
                    #expect(!result.error.contains("another-key"))
                }
            }
            let missing = try await Rouse.run(
                ["status", "--gateway", base, "--key-file", file + "x"])
            #expect(missing.status == 66)
            #expect(missing.error.contains("--key-file (\(file)x) cannot be read: No such file"))
            #expect(try await gateway.end(SIGTERM) == 0)
        }
    }

    @Test("--paused holds everything from the start, and over restarts")
    func paused() async throws {
        try await RunningSimulator.with { simulator in
            let path = try await Self.keyedConfiguration(simulator)
            let (first, base) = try await Self.start(["--config", path, "--paused"])
            let id = try await Self.wake(base)
            #expect(try await first.end(SIGTERM) == 0)
            let (second, base2) = try await Self.start(["--config", path])
            let record = try await Self.curl(["\(base2)/v1/wakes/\(id)"])
            #expect(record["state"] as? String == "pending")
            let status = try await Rouse.run(
                ["status", "--gateway", base2], environment: ["ROUSE_API_KEY": Self.secret])
            #expect(status.out.contains("paused since"), "\(status.all)")
            #expect(status.out.contains("rouse serve --paused"), "\(status.all)")
            #expect(try await second.end(SIGTERM) == 0)
            #expect(simulator.simulator.receivedPushes.isEmpty)
        }
    }

    @Test("--paused comes before what is due already, and leaves an operator's own pause alone")
    func pausedInTime() async throws {
        try await RunningSimulator.with { simulator in
            let path = try await Self.keyedConfiguration(simulator)
            let (first, base) = try await Self.start(["--config", path, "--paused"])
            let id = try await Self.wake(base)
            #expect(try await first.end(SIGTERM) == 0)
            // Nothing is paused any more, and the wake is due when the gateway starts.
            try await Self.setPause(nil, in: simulator)
            let (second, base2) = try await Self.start(["--config", path, "--paused"])
            let record = try await Self.curl(["\(base2)/v1/wakes/\(id)"])
            #expect(record["state"] as? String == "pending", "\(record)")
            #expect(try await second.end(SIGTERM) == 0)
            #expect(simulator.simulator.receivedPushes.isEmpty)

            // Resumed first: a pause of what is paused keeps the first one's time.
            let at = WallInstant(secondsSinceEpoch: 1_795_000_000)
            try await Self.setPause(nil, in: simulator)
            let pause = QueuePause(at: at, reason: "a new certificate")
            try await Self.setPause(pause, in: simulator)
            let (third, base3) = try await Self.start(["--config", path, "--paused"])
            let status = try await Rouse.run(
                ["status", "--gateway", base3], environment: ["ROUSE_API_KEY": Self.secret])
            #expect(status.out.contains("a new certificate"), "\(status.all)")
            #expect(status.out.contains("paused since \(at)"), "\(status.all)")
            #expect(try await third.end(SIGTERM) == 0)
            // Let go, it leaves.
            try await Self.setPause(nil, in: simulator)
            let (last, _) = try await Self.start(["--config", path])
            await simulator.simulator.waitForPushes(1)
            #expect(try await last.end(SIGTERM) == 0)
        }
    }

    /// Pauses all queues in the store's file, which no gateway has open, or lets them go on.
    private static func setPause(_ pause: QueuePause?, in simulator: RunningSimulator) async throws
    {
        let store = try SQLiteWakeStore(path: simulator.folder.path + "/wakes.sqlite")
        try await store.perform(
            SetPause(pause, of: try await store.perform(ListQueues()).map(\.queue)))
        try store.close()
    }

    @Test("SIGTERM waits for the answer to a push in flight")
    func drains() async throws {
        try await RunningSimulator.with { simulator in
            let path = try Self.configuration(simulator)
            try await Self.setKey(path)
            simulator.simulator.inject(Fault(.delay(milliseconds: 1500), count: 1))
            let (gateway, base) = try await Self.start(["--config", path])
            let id = try await Self.wake(base)
            await simulator.simulator.waitForPushes(1)
            #expect(try await gateway.end(SIGTERM) == 0)

            let (second, base2) = try await Self.start(["--config", path])
            #expect(try await Self.outcome(id, base2) == "sent")
            #expect(simulator.simulator.receivedPushes.count == 1)
            #expect(try await second.end(SIGTERM) == 0)
        }
    }

    @Test("what was accepted before kill -9 is sent after a restart")
    func survivesKill() async throws {
        try await RunningSimulator.with { simulator in
            let path = try Self.configuration(simulator)
            try await Self.setKey(path)
            // The simulator refuses connections, so that the wake cannot be sent before the kill.
            simulator.simulator.inject(Fault(.refuseTLS))
            let (first, base) = try await Self.start(["--config", path])
            let id = try await Self.wake(base)
            #expect(try await first.end(SIGKILL) == -1)
            #expect(simulator.simulator.receivedPushes.isEmpty)

            simulator.simulator.clearFaults()
            let (second, base2) = try await Self.start(["--config", path])
            await simulator.simulator.waitForPushes(1)
            #expect(try await Self.outcome(id, base2) == "sent")
            #expect(simulator.simulator.receivedPushes.map { $0["apns-id"] } == [id])
            #expect(try await second.end(SIGTERM) == 0)
        }
    }

    @Test("one store has one gateway; an address in use, and a store that cannot be made: codes")
    func refusals() async throws {
        try await RunningSimulator.with { simulator in
            let path = try Self.configuration(simulator)
            try await Self.setKey(path)
            let (gateway, base) = try await Self.start(["--config", path])
            let second = try await Rouse.run(["serve", "--config", path])
            #expect(second.status == 69, "\(second.all)")
            #expect(second.error.contains("in use by another gateway"))

            let address = String(base.dropFirst("http://".count))
            let store = simulator.folder.path + "/other.sqlite"
            let taken = try await Rouse.run(
                ["serve", "--config", path, "--listen", address, "--store", store])
            #expect(taken.status == 69, "\(taken.all)")
            #expect(taken.error.contains("cannot listen on \(address): another program listens"))
            #expect(taken.error.contains("--listen"))

            let nowhere = try await Rouse.run(
                ["serve", "--config", path, "--store", "/nonexistent/x.sqlite"])
            #expect(nowhere.status == 77, "\(nowhere.all)")
            #expect(nowhere.error.contains("has no folder. Make it"), "\(nowhere.all)")
            let exposed = try await Rouse.run(
                ["serve", "--config", path, "--listen", "0.0.0.0:0", "--store", store])
            #expect(exposed.status == 78, "\(exposed.all)")
            let unknown = try await Rouse.run(
                [
                    "serve", "--config", path, "--listen", "host.invalid:0", "--store", store,
                    "--insecure",
                ])
            #expect(unknown.status == 69, "\(unknown.all)")
            #expect(unknown.error.contains("host.invalid:0: this machine has no such address"))
            #expect(try await gateway.end(SIGTERM) == 0)
        }
    }

    @Test("--dev prints three commands that work when pasted")
    func dev() async throws {
        let gateway = try RunningRouse(["serve", "--dev", "--listen", "127.0.0.1:0"])
        let lines = try await gateway.lines { $0.hasPrefix("Stop it") }
        let commands = lines.filter { $0.hasPrefix("curl ") }
        #expect(commands.count == 3)
        let words = "The dashboard: "
        let page = try #require(lines.first { $0.hasPrefix(words) }).dropFirst(words.count)
        #expect(page.hasPrefix("http://127.0.0.1:"))
        let document = try await Rouse.run("/bin/sh", ["-c", "curl -sS '\(page)'"])
        #expect(document.out.hasPrefix("<!doctype html>"), "\(document.all)")

        let silent = try await Rouse.run("/bin/sh", ["-c", commands[0]])
        #expect(silent.status == 0)
        #expect(try silent.json()["id"] is String, "\(silent.all)")
        #expect(try silent.json()["diagnostics"] == nil, "\(silent.all)")
        let call = try await Rouse.run("/bin/sh", ["-c", commands[1]])
        #expect(try call.json()["id"] is String, "\(call.all)")
        #expect(try call.json()["diagnostics"] == nil, "\(call.all)")

        var record: [String: Any] = [:]
        for _ in 0..<600 {
            let read = try await Rouse.run("/bin/sh", ["-c", commands[2]])
            record = try read.json()
            if record["state"] as? String == "sent" { break }
            try await Task.sleep(for: .milliseconds(50))
        }
        #expect(record["state"] as? String == "sent", "\(record)")
        #expect(record["id"] as? String == (try silent.json()["id"] as? String))
        #expect(try await gateway.end(SIGTERM) == 0)

        let folder = try #require(lines.first { $0.hasPrefix("Store, key and CA: ") })
        let path = String(folder.dropFirst("Store, key and CA: ".count))
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("--dev with a folder keeps its store, and refuses to be reached from elsewhere")
    func devFolder() async throws {
        let folder = try TestFolder()
        for _ in 0..<2 {
            let gateway = try RunningRouse(
                ["serve", "--dev", "--listen", "127.0.0.1:0", "--folder", folder.path])
            _ = try await gateway.lines { $0.hasPrefix("Stop it") }
            #expect(try await gateway.end(SIGINT) == 0)
            #expect(FileManager.default.fileExists(atPath: folder.path + "/rouse.sqlite"))
        }
        let exposed = try await Rouse.run(["serve", "--dev", "--listen", "0.0.0.0:0"])
        #expect(exposed.status == 64)
    }

    @Test(
        "--dev leaves nothing behind when it refuses its options",
        arguments: [
            ["--listen", "0.0.0.0:0"], ["--listen", "foo"], ["--log-level", "foo"],
            ["--listen", "unix:/nonexistent/socket"],
            ["--tls-certificate", "/nonexistent", "--tls-key", "/nonexistent"],
        ])
    func devRefusal(options: [String]) async throws {
        let folder = try TestFolder()
        let refused = try await Rouse.run(
            ["serve", "--dev"] + options, environment: ["TMPDIR": folder.path + "/"])
        #expect(refused.status > 0, "\(refused.all)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }
}
