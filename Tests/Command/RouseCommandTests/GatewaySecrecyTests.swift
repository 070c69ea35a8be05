// SPDX-License-Identifier: Apache-2.0

import APNsClient
import APNsSimulator
import Foundation
import HTTPTestKit
import Testing
import WakeModel

/// A whole gateway with everything that is secret, at the log level that tells the most; then a
/// search for the secrets in all that others can see of it.
@Suite("Secrets of a running gateway", .timeLimit(.minutes(10)))
struct GatewaySecrecyTests {
    private static let webhookSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    private static let payloadSecret = "topsecretvalue"
    /// Looks like a key of the gateway's, and is none.
    private static let strangersKey = "rouse_0123456789abcdef0123456789abcdef"
    private static let otherDevice = String(repeating: "c0ffee11", count: 8)

    /// A request, and what its answer has to be.
    private struct Try {
        let method: String
        let path: String
        var body: String?
        var key: String?
        let status: Int

        init(
            _ method: String, _ path: String, _ body: String? = nil, key: String? = nil,
            status: Int
        ) {
            self.method = method
            self.path = path
            self.body = body
            self.key = key
            self.status = status
        }
    }

    private static func wake(
        device: String = RunningSimulator.device, app: String = RunningSimulator.bundleID,
        kind: String = "background", more: String = ""
    ) -> String {
        """
        {"kind":"\(kind)","app":"\(app)","device_token":"\(device)",\
        "payload":{"aps":{"content-available":1},"note":"\(payloadSecret)"}\(more)}
        """
    }

    /// The same for these `device_tokens`.
    private static func multicast(_ tokens: String) -> String {
        wake().replacing(
            "device_token\":\"\(RunningSimulator.device)\"", with: "device_tokens\":\(tokens)")
    }

    /// Requests of every kind: good, malformed and refused.
    private static var tries: [Try] {
        let device = "/v1/devices/\(RunningSimulator.device)"
        let long = String(repeating: payloadSecret, count: 400)
        return [
            Try("POST", "/v1/wakes", wake(), status: 202),
            Try("POST", "/v1/wakes?wait=outcome&timeout=5", wake(device: otherDevice), status: 200),
            Try("POST", "/v1/wakes", String(wake().dropLast(3)), status: 400),
            Try("POST", "/v1/wakes", wake() + wake(), status: 400),
            Try("POST", "/v1/wakes", wake(device: RunningSimulator.device + "x"), status: 400),
            Try("POST", "/v1/wakes", wake(app: RunningSimulator.device), status: 404),
            Try("POST", "/v1/wakes", wake(kind: payloadSecret), status: 400),
            Try("POST", "/v1/wakes", wake(more: #","surplus":"\#(payloadSecret)""#), status: 400),
            Try("POST", "/v1/wakes", wake(more: #","payload":"\#(payloadSecret)""#), status: 400),
            Try(
                "POST", "/v1/wakes", wake().replacing(payloadSecret, with: long), status: 400),
            Try("POST", "/v1/wakes", "[\(wake())]", status: 400),
            Try("POST", "/v1/wakes?spread=\(RunningSimulator.device)", wake(), status: 400),
            Try("POST", "/v1/wakes?\(RunningSimulator.device)=1", wake(), status: 400),
            Try("POST", "/v1/wakes", wake(), key: strangersKey, status: 401),
            Try("POST", "/v1/wakes/batch", "[\(wake()),{\"a\":\"\(payloadSecret)\"}]", status: 200),
            Try("POST", "/v1/wakes/batch", wake(), status: 400),
            Try("POST", "/v1/wakes/multicast", multicast(#"["\#(otherDevice)"]"#), status: 200),
            Try(
                "POST", "/v1/wakes/multicast",
                multicast(#"["\#(otherDevice)x","\#(payloadSecret)"]"#), status: 200),
            Try("POST", "/v1/wakes/multicast", multicast(#""\#(otherDevice)""#), status: 400),
            Try("POST", "/v1/validate", #"{"payload":{"x":"\#(payloadSecret)"}}"#, status: 200),
            Try("POST", "/v1/validate", #"{"payload":"\#(payloadSecret)"#, status: 400),
            Try("GET", device, status: 200),
            Try("GET", device + "0", status: 400),
            Try("GET", "/v1/nothing/\(RunningSimulator.device)", status: 404),
            Try("GET", "/v1/wakes?device=\(RunningSimulator.device)", status: 200),
            Try("GET", "/v1/wakes?device=\(RunningSimulator.device)0", status: 400),
            Try("GET", "/v1/wakes?cursor=\(RunningSimulator.device)", status: 400),
            Try("PATCH", device, status: 405),
            Try(
                "PUT", "\(device)/signals", #"{"low_power_mode":"\#(payloadSecret)"}"#,
                status: 400),
            Try(
                "POST", device + "/registered",
                #"{"app":"\#(RunningSimulator.bundleID)","kind":"background","#
                    + #""x":"\#(payloadSecret)"}"#,
                status: 400),
            Try("POST", "/v1/receipts", #"{"ref":"\#(payloadSecret)"}"#, status: 400),
            Try("POST", "/v1/apps/\(payloadSecret)/pause", status: 403),
            Try(
                "POST", "/v1/devices/lookup",
                #"{"device_token":"\#(RunningSimulator.device)"}"#, status: 200),
            Try(
                "POST", "/v1/devices/lookup",
                #"{"device_token":"\#(RunningSimulator.device)x"}"#, status: 400),
            Try("DELETE", "/v1/devices/\(otherDevice)", status: 200),
        ]
    }

    /// Sends a request; its secrets go through standard input, as `curl` takes them from there.
    private static func send(_ attempt: Try, _ base: String) async throws -> (Int, String) {
        var options = ["--url", base + attempt.path, "-X", attempt.method]
        options += ["-H", "Authorization: Bearer \(attempt.key ?? ServeTests.secret)"]
        if let body = attempt.body {
            options += ["-H", "Content-Type: application/json", "--data-binary", body]
        }
        let result = try await Rouse.run(
            "/usr/bin/curl", ["-sS", "-g", "-m", "20", "-w", "\n%{http_code}"] + options)
        let lines = result.out.split(separator: "\n", omittingEmptySubsequences: false)
        return (lines.last.flatMap { Int($0) } ?? 0, lines.dropLast().joined(separator: "\n"))
    }

    @Test("are in no log line, problem, metric, process list or file name")
    func everywhere() async throws {
        let receiver = try OneShotServer(
            "HTTP/1.1 204 No Content\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        defer { receiver.stop() }
        try await RunningSimulator.with { simulator in
            let path = try await ServeTests.keyedConfiguration(simulator)
            try simulator.folder.write(Self.webhookSecret, to: "hook")
            let text = try String(contentsOfFile: path, encoding: .utf8)
                .replacing("log-level: debug", with: "log-level: trace")
            #expect(text.contains("log-level: trace"))
            let webhooks =
                "webhooks: [{ url: \"http://127.0.0.1:\(receiver.port)/\", secret-file: hook }]"
            try [webhooks, text].joined(separator: "\n")
                .write(toFile: path, atomically: true, encoding: .utf8)
            let made = try await Rouse.run(
                ["keys", "create", "--config", path, "--name", "made", "--scope", "admin"])
            let madeKey = made.out.trimmingCharacters(in: .whitespacesAndNewlines)
            #expect(madeKey.count > 20, "\(made.all)")

            let (gateway, base) = try await ServeTests.start(["--config", path])
            var answers: [String] = []
            for attempt in Self.tries {
                let (status, text) = try await Self.send(attempt, base)
                #expect(
                    status == attempt.status, "\(attempt.method) \(attempt.path): \(text)")
                if status >= 400 { answers.append(text) }
            }
            for (method, path, expected) in [
                ("GET", "/v1/stats", 200),
                ("POST", "/v1/apps/\(RunningSimulator.bundleID)/pause", 200),
                ("POST", "/v1/apps/\(RunningSimulator.bundleID)/resume", 200),
                ("POST", "/v1/apps/\(Self.payloadSecret)/pause", 404),
            ] {
                let (status, text) = try await Self.send(
                    Try(method, path, key: madeKey, status: expected), base)
                #expect(status == expected, "\(path): \(text)")
                if status >= 400 { answers.append(text) }
            }
            // An answer that APNs refuses, and a connection that ends in the middle.
            for fault in [Fault.Kind.reject(.badDeviceToken), .closeConnection] {
                simulator.simulator.inject(Fault(fault))
                let device = String(repeating: "deadbeef", count: 8)
                _ = try await Self.send(
                    Try(
                        "POST", "/v1/wakes?wait=outcome&timeout=2", Self.wake(device: device),
                        status: 200),
                    base)
                simulator.simulator.clearFaults()
            }
            gateway.signal(SIGHUP)
            let metrics = try await Self.send(Try("GET", "/metrics", status: 200), base).1
            #expect(metrics.contains("rouse_ready"))
            for _ in 0..<600 where receiver.received.isEmpty {
                try await Task.sleep(for: .milliseconds(50))
            }
            let process = try Self.process(gateway.processID)
            let names = try FileManager.default.subpathsOfDirectory(atPath: simulator.folder.path)
            let stoppedWell = try await gateway.end(SIGTERM) == 0
            #expect(stoppedWell)

            var secrets = try Self.secrets(simulator)
            secrets["the API key from rouse keys"] = madeKey
            // The search can fail: these are what was sent, and the log is that of everything.
            #expect(receiver.received.joined().contains("webhook-signature"))
            #expect(gateway.error.contains(" trace "), "no trace lines")
            #expect(names.contains("wakes.sqlite"))
            #expect(process.contains("serve"))
            let places = [
                "the log": gateway.error, "the metrics": metrics, "the process": process,
                "a file's name": names.joined(separator: "\n"),
                "a problem": answers.joined(separator: "\n"), "the webhook": "",
            ]
            for (place, text) in places {
                for (name, secret) in secrets {
                    let found = text.range(of: secret, options: .caseInsensitive)
                    #expect(found == nil, "\(name) is in \(place): \(Self.line(text, found))")
                }
            }
            // A webhook's receiver is told the device, and nothing that it could misuse.
            let posted = receiver.received.joined()
            for (name, secret) in secrets where !name.contains("device") {
                #expect(!posted.contains(secret), "\(name) was posted")
            }
        }
    }

    private static func line(_ text: String, _ range: Range<String.Index>?) -> Substring {
        range.map { text[text.lineRange(for: $0)] } ?? ""
    }

    /// What the process list and the environment of a process show.
    private static func process(_ id: Int32) throws -> String {
        try ["cmdline", "environ"].map { name in
            let data = try Data(contentsOf: URL(filePath: "/proc/\(id)/\(name)"))
            return String(decoding: data, as: UTF8.self).replacing("\0", with: " ")
        }.joined(separator: "\n")
    }

    /// Every secret by its name.
    private static func secrets(_ simulator: RunningSimulator) throws -> [String: String] {
        let pem = simulator.key.privateKeyPEM.split(separator: "\n")
        let authorization = try #require(
            simulator.simulator.receivedPushes.first?["authorization"])
        let token = authorization.dropFirst("bearer ".count).split(separator: ".")
        try #require(token.count == 3)
        return [
            "the API key": ServeTests.secret, "a stranger's key": strangersKey,
            "the signing key": String(pem[1]), "the signing key's frame": "PRIVATE KEY",
            "the provider token's header": String(token[0]),
            "the provider token's claims": String(token[1]),
            "the provider token's signature": String(token[2]),
            "the webhook's secret": webhookSecret, "a payload": payloadSecret,
            "a device token": RunningSimulator.device, "another device token": otherDevice,
            "a dead device token": String(repeating: "deadbeef", count: 8),
        ]
    }
}
