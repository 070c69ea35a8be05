// SPDX-License-Identifier: Apache-2.0

import APNsSimulator
import Foundation
import ProcessKit
import Synchronization
import Testing
import WaitKit

/// SIGTERM at its worst: TLS on the listener, wakes coming in, and callers of every kind connected.
@Suite("A shutdown of rouse serve under load", .timeLimit(.minutes(10)))
struct ServeShutdownTests {
    /// After so many seconds a service manager kills; see `rouse.service`.
    private static let promisedSeconds = 60.0
    /// How long the simulator keeps the awaited push, in milliseconds.
    private static let answerDelay = 3_000
    /// How many wakes were answered before the signal.
    private static let loadCount = 500
    /// Every so manieth wake is a call.
    private static let callInterval = 5

    /// What callers know: which wakes were answered 202, and whether they are calls.
    private final class Ledger: Sendable {
        private let answered = Mutex<[String: Bool]>([:])
        private let next = Atomic(1)

        func devices(_ count: Int) -> Range<Int> {
            let end = next.add(count, ordering: .relaxed).newValue
            return end - count..<end
        }

        func enter(_ id: String, isCall: Bool) { answered.withLock { $0[id] = isCall } }
        var ids: [String: Bool] { answered.withLock { $0 } }
    }

    /// A program with a connection, whose input stays open until the object is gone.
    private final class OpenCaller {
        private let process: SpawnedProcess
        private let input = Pipe()
        private let folder: TestFolder
        private let outPath: String

        /// Connects with TLS, whatever the certificate, and sends these bytes.
        init(_ address: String, _ text: String) throws {
            folder = try TestFolder()
            outPath = try folder.write("", to: "out")
            let out = try FileHandle(forWritingTo: URL(filePath: outPath))
            process = try SpawnedProcess(
                ["openssl", "s_client", "-quiet", "-connect", address],
                environment: Rouse.environment, input: input.fileHandleForReading.fileDescriptor,
                output: out.fileDescriptor, errors: out.fileDescriptor)
            try out.close()
            try input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
        }

        deinit {
            process.signal(SIGKILL)
            process.waitForEnd()
        }

        var out: String { (try? String(contentsOfFile: outPath, encoding: .utf8)) ?? "" }
        var isConnected: Bool { process.isRunning }
    }

    @Test("ends in time with 0, keeps what it answered, and sends nothing twice")
    func underLoad() async throws {
        try await RunningSimulator.with {
            $0.log = .last(1_000_000)
        } _: { simulator in
            let path = try await ServeTests.keyedConfiguration(simulator)
            let tls = try await Self.certificate(in: simulator.folder)
            let (gateway, plain) = try await ServeTests.start(["--config", path] + tls.options)
            let address = String(plain.dropFirst("http://".count))
            let base = "https://\(address)"
            let ledger = Ledger()

            let stream = try Self.caller(tls, ["-N", "\(base)/v1/events"])
            _ = try await stream.lines { $0.hasPrefix("retry:") }
            // With a key: a caller without one is sent away after five seconds of silence.
            let idle = try OpenCaller(address, Self.request("GET /v1/apps"))
            let awaited = try await Self.awaitOutcome(base, tls, simulator)
            let senders = Task {
                await withTaskGroup { group in
                    for _ in 0..<2 { group.addTask { await Self.send(base, tls, ledger) } }
                }
            }
            for _ in 0..<1_200 where ledger.ids.count < Self.loadCount {
                try await Task.sleep(for: .milliseconds(50))
            }
            try #require(ledger.ids.count >= Self.loadCount, "Nothing is under load yet.")
            let slow = try Self.caller(
                tls, ["--limit-rate", "1k", "-o", "/dev/null", "\(base)/v1/wakes?limit=1000"])
            for _ in 0..<600 where !idle.out.contains("200 OK") {
                try await Task.sleep(for: .milliseconds(50))
            }
            // Last, because half a request has ten seconds for its other half.
            let half = try OpenCaller(
                address,
                Self.request("POST /v1/wakes/batch", "Content-Length: 100000\r\n") + "[")
            let areKept = try await holds(for: .milliseconds(500)) {
                idle.isConnected && half.isConnected
            }
            #expect(areKept)

            let start = ContinuousClock.now
            gateway.signal(SIGTERM)
            // Whoever is impatient changes nothing.
            for signal in [SIGTERM, SIGINT] {
                try await elapse(.milliseconds(300))
                gateway.signal(signal)
            }
            #expect(try await stream.end(0) == 0, "The stream was cut off.")
            #expect(try await awaited.end(0) == 0)
            #expect(try await gateway.end(0) == 0, "\(gateway.error.suffix(2_000))")
            let seconds = start.duration(to: .now) / .seconds(1)
            #expect(seconds < Self.promisedSeconds)
            await senders.value
            _ = try await slow.end(SIGKILL)
            // They notice the end of their connections a moment later.
            for _ in 0..<600 where idle.isConnected || half.isConnected {
                try await Task.sleep(for: .milliseconds(50))
            }
            #expect(!idle.isConnected && !half.isConnected)

            // The wait ended with the shutdown: it was kept, and nobody knew more; unless the
            // machine is so slow that the simulator was the first.
            let answer = try await awaited.lines { $0.hasPrefix("status ") }
            #expect(["status 202", "status 200"].contains(answer.last), "\(answer)")
            let id = try #require(answer.joined().firstMatch(of: /"id":"([^"]+)"/)?.output.1)
            ledger.enter(String(id), isCall: false)
            try await Self.compare(path, simulator, ledger)
        }
    }

    // MARK: Callers

    /// A self-signed certificate, as options of the gateway and of curl.
    private struct Certificate {
        let path: String
        let options: [String]
    }

    private static func certificate(in folder: TestFolder) async throws -> Certificate {
        let (path, key) = (folder.path + "/listener.pem", folder.path + "/listener.key")
        let made = try await Rouse.run(
            "/usr/bin/openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                "-days", "2", "-subj", "/CN=rouse", "-addext", "subjectAltName=IP:127.0.0.1",
                "-out", path, "-keyout", key,
            ])
        try #require(made.status == 0, "\(made.all)")
        return Certificate(path: path, options: ["--tls-certificate", path, "--tls-key", key])
    }

    private static func request(_ line: String, _ fields: String = "") -> String {
        "\(line) HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(ServeTests.secret)\r\n"
            + "Content-Type: application/json\r\n\(fields)\r\n"
    }

    /// A curl that keeps running.
    private static func caller(
        _ tls: Certificate, _ arguments: [String]
    ) throws -> RunningRouse {
        try RunningRouse(
            ["-sS", "--cacert", tls.path, "-H", "Authorization: Bearer \(ServeTests.secret)"]
                + arguments, by: "/usr/bin/curl")
    }

    /// Waits at the gateway for the outcome of a wake that is with the simulator.
    private static func awaitOutcome(
        _ base: String, _ tls: Certificate, _ simulator: RunningSimulator
    ) async throws -> RunningRouse {
        simulator.simulator.inject(Fault(.delay(milliseconds: answerDelay), count: 1))
        let caller = try caller(
            tls,
            [
                "-H", "Content-Type: application/json", "-d", wake(0), "-w",
                "\nstatus %{http_code}\n", "\(base)/v1/wakes?wait=outcome&timeout=60",
            ])
        await simulator.simulator.waitForPushes(1)
        return caller
    }

    /// Sends batches until the gateway takes no more.
    private static func send(_ base: String, _ tls: Certificate, _ ledger: Ledger) async {
        while true {
            let devices = ledger.devices(100)
            guard
                let answer = try? await ServeTests.curl(
                    [
                        "--cacert", tls.path, "-m", "20", "-H",
                        "Content-Type: application/x-ndjson", "--data-binary", "@-",
                        "\(base)/v1/wakes/batch",
                    ], stdin: devices.map(wake).joined(separator: "\n")),
                let items = answer["items"] as? [[String: Any]]
            else { return }
            for (item, number) in zip(items, devices) {
                guard let wake = item["wake"] as? [String: Any], let id = wake["id"] as? String
                else { continue }
                ledger.enter(id, isCall: isCall(number))
            }
        }
    }

    private static func isCall(_ number: Int) -> Bool {
        number > 0 && number.isMultiple(of: callInterval)
    }

    /// A wake for the device with this number.
    private static func wake(_ number: Int) -> String {
        let token = String(number, radix: 16)
        let payload =
            isCall(number)
            ? #"{"callUUID":"\#(UUID())"}"# : #"{"aps":{"content-available":1}}"#
        return #"{"kind":"\#(isCall(number) ? "voip" : "background")","app":""#
            + RunningSimulator.bundleID + #"","device_token":""#
            + String(repeating: "0", count: 64 - token.count) + token
            + #"","payload":\#(payload)}"#
    }

    // MARK: What must be so

    /// Starts the gateway again, and compares what was answered, what is kept, and what was pushed.
    private static func compare(
        _ path: String, _ simulator: RunningSimulator, _ ledger: Ledger
    ) async throws {
        let (gateway, base) = try await ServeTests.start(["--config", path])
        for _ in 0..<600 {
            let page = try await ServeTests.curl([
                "\(base)/v1/wakes?state=pending,claimed&limit=1"
            ])
            if (page["wakes"] as? [Any])?.isEmpty == true { break }
            try await Task.sleep(for: .milliseconds(100))
        }
        let kept = try await CrashTests.records(base)
        #expect(try await gateway.end(SIGTERM) == 0)
        let lost = ledger.ids.keys.filter { kept[$0] == nil }
        #expect(lost.isEmpty, "answered 202, and not in the store: \(lost.prefix(5))")
        let unended = kept.filter { $0.value == "pending" || $0.value == "claimed" }
        #expect(unended.isEmpty, "\(unended.count) of \(kept.count) have not ended")
        let pushes = Dictionary(grouping: simulator.simulator.receivedPushes) {
            $0["apns-id"] ?? ""
        }
        #expect(pushes.keys.allSatisfy { kept[$0] != nil })
        let twice = pushes.filter { $0.value.count > 1 }
        #expect(twice.isEmpty, "\(twice.count) were sent again after a shutdown in peace")
        let unsent = kept.filter { $0.value == "sent" && pushes[$0.key] == nil }
        #expect(unsent.isEmpty, "said to be sent, and never received: \(unsent.prefix(5))")
        let audit = try await Rouse.run([
            "audit-store", simulator.folder.path + "/wakes.sqlite", "--json",
        ])
        #expect(try audit.json()["sound"] as? Bool == true, "\(audit.all)")
    }
}
