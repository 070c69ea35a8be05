// SPDX-License-Identifier: Apache-2.0

import APNsClient
import APNsSimulator
import Foundation
import Testing
import WakeModel

@testable import RouseCommand

@Suite("rouse probe")
struct ProbeTests {
    /// A case of the matrix: what each environment knows of the token, and what follows.
    struct Case: CustomTestStringConvertible, Sendable {
        let name: String
        var production: @Sendable (DeviceToken) -> RegisteredDevice? = { _ in nil }
        var sandbox: @Sendable (DeviceToken) -> RegisteredDevice? = { _ in nil }
        let verdict: String
        let status: Int32
        var environment: String?
        var words: [String] = []

        var testDescription: String { name }
    }

    private static let death = WallInstant(secondsSinceEpoch: 1_750_000_000)

    private static let cases: [Case] = [
        Case(
            name: "a production token", production: { RegisteredDevice(token: $0) },
            verdict: "alive", status: 0, environment: "production",
            words: ["most often it is a token of production"]),
        Case(
            name: "a sandbox token", sandbox: { RegisteredDevice(token: $0) },
            verdict: "alive", status: 0, environment: "sandbox",
            words: ["most often it is a token of sandbox"]),
        Case(
            name: "a dead token",
            production: { RegisteredDevice(token: $0, state: .unregistered(since: death)) },
            verdict: "dead", status: 1, environment: "production",
            words: ["2025-06-15T15:06:40.000Z", "unless the app registered it again"]),
        Case(
            name: "an expired token",
            sandbox: { RegisteredDevice(token: $0, state: .expired(since: death)) },
            verdict: "dead", status: 1, environment: "sandbox", words: ["ExpiredToken"]),
        Case(
            name: "a VoIP token",
            sandbox: { RegisteredDevice(token: $0, topic: "com.example.app.voip") },
            verdict: "other-topic", status: 1, environment: "sandbox",
            words: ["DeviceTokenNotForTopic", "VoIP"]),
        Case(
            name: "a token nobody knows", verdict: "unknown-everywhere", status: 1,
            words: ["Neither environment"]),
        Case(
            name: "a token that both know", production: { RegisteredDevice(token: $0) },
            sandbox: { RegisteredDevice(token: $0) }, verdict: "alive", status: 0,
            words: ["simulators"]),
    ]

    @Test("tells environment, topic and death from the two answers", arguments: cases)
    func verdict(probe: Case) async throws {
        try await Self.withBoth(probe) { options in
            let json = try await Rouse.run(["probe", "--json"] + options)
            #expect(json.status == probe.status, "\(json.all)")
            let document = try json.json()
            #expect(document["verdict"] as? String == probe.verdict)
            #expect(document["environment"] as? String == probe.environment)
            if probe.name == "a dead token" {
                #expect(document["dead_since"] as? String == Self.death.description)
            }
            #expect((document["answers"] as? [Any])?.count == 2)
            #expect(json.error.contains("A probe is a real background push"))

            let text = try await Rouse.run(["probe"] + options)
            #expect(text.status == probe.status)
            let words = text.out.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            for phrase in probe.words { #expect(words.contains(phrase), "\(text.out)") }
            let notice = try #require(words.range(of: "A probe is a real background push"))
            let answer = try #require(words.range(of: "Asked"))
            #expect(notice.lowerBound < answer.lowerBound)
        }
    }

    @Test("a key of the other environment is the credential's fault, not the token's")
    func keyOfOtherEnvironment() async throws {
        try await RunningSimulator.with { configuration in
            configuration.environment = .production
            configuration.providerKeys[0].environment = .sandbox
        } _: { simulator in
            let result = try await Rouse.run(
                ["probe", "--production", "--json"] + simulator.credential + [
                    "--production-server", "127.0.0.1:\(simulator.simulator.port)", "--ca",
                    simulator.authorityPath, RunningSimulator.device,
                ])
            #expect(result.status == 77, "\(result.all)")
            let document = try result.json()
            #expect(document["verdict"] as? String == "credential-refused")
            let answers = try #require(document["answers"] as? [[String: Any]])
            #expect(answers[0]["reason"] as? String == "BadEnvironmentKeyInToken")
        }
    }

    @Test("an app with a server of its own is asked about there, and nowhere else")
    func configuredServer() async throws {
        try await RunningSimulator.with { simulator in
            let file = try simulator.folder.write(
                """
                apps:
                  - bundle-id: \(RunningSimulator.bundleID)
                    environment: sandbox
                    team-id: \(RunningSimulator.teamID)
                    key-file: AuthKey_\(RunningSimulator.keyID).p8
                    server: { host: 127.0.0.1, port: \(simulator.simulator.port), ca-file: ca.pem }
                """, to: "rouse.yaml")
            let server = ["--sandbox-server", "127.0.0.1:\(simulator.simulator.port)"]
            for (options, environment) in [
                ([], nil), (["--sandbox"], "sandbox"), (server, "sandbox"),
            ] {
                let result = try await Rouse.run(
                    ["probe", "--json", "--config", file] + options + [RunningSimulator.device])
                #expect(result.status == 0, "\(result.all)")
                let answers = try #require(try result.json()["answers"] as? [[String: Any]])
                #expect(answers.map { $0["environment"] as? String } == [environment])
            }
        }
    }

    @Test("a server that cannot be reached leaves the question open and ends with 69")
    func unreachable() async throws {
        try await RunningSimulator.with {
            $0.unknownDeviceTokens = .refused
        } _: { simulator in
            let result = try await Rouse.run(
                ["probe"] + simulator.credential + [
                    "--production-server", "127.0.0.1:1", "--sandbox-server",
                    "127.0.0.1:\(simulator.simulator.port)", "--ca", simulator.authorityPath,
                    RunningSimulator.device,
                ])
            #expect(result.status == 69, "\(result.all)")
        }
    }

    @Test("--why leads from the server over Apple and the phone to the app, with how sure it is")
    func why() async throws {
        try await RunningSimulator.with { simulator in
            let text = try await Rouse.run(["probe", "--why"] + simulator.all)
            #expect(text.status == 0, "\(text.all)")
            let words = text.out.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            var last = words.startIndex
            for phrase in [
                "Server The gateway keeps the wake back", "rouse validate --push-type background",
                "Apple APNs keeps the push", "Phone The app was force-quit", "process:dasd",
                "App It lacks the background mode", "rouse audit --sends background",
            ] {
                let place = try #require(words.range(of: phrase), "\(phrase): \(text.out)")
                #expect(last < place.lowerBound, "\(phrase)")
                last = place.lowerBound
            }
            #expect(words.contains("(documented)") && words.contains("(said by an Apple engineer)"))
            // The push that was just sent, as Apple's console finds it.
            #expect(words.firstMatch(of: /look for [0-9a-f]{8}-[0-9a-f-]{27}\./) != nil)

            let json = try await Rouse.run(["probe", "--why", "--json"] + simulator.all).json()
            let causes = try #require(json["causes"] as? [[String: String]])
            #expect(causes.allSatisfy { Set($0.keys) == ["place", "cause", "look", "confidence"] })
            #expect(Set(causes.compactMap { $0["place"] }) == ["server", "apple", "phone", "app"])
            let plain = try await Rouse.run(["probe", "--json"] + simulator.all).json()
            #expect(plain["causes"] == nil)
        }
        // What never came to the token has nothing to do with the phone.
        try await RunningSimulator.with {
            $0.unknownDeviceTokens = .refused
        } _: { simulator in
            let json = try await Rouse.run(["probe", "--why", "--json"] + simulator.all).json()
            let causes = try #require(json["causes"] as? [[String: String]])
            #expect(causes.allSatisfy { $0["place"] == "server" })
            #expect(causes.contains { $0["cause"]?.contains("other environment") == true })
        }
    }

    @Test("probes are background pushes with one attempt, never VoIP")
    func whatIsSent() async throws {
        try await RunningSimulator.with { simulator in
            let result = try await Rouse.run(["probe"] + simulator.all)
            #expect(result.status == 0, "\(result.all)")
            let pushes = simulator.simulator.receivedPushes
            #expect(pushes.count == 1)
            #expect(pushes.first?["apns-push-type"] == "background")
            #expect(pushes.first?["apns-expiration"] == "0")
        }
    }

    /// Runs `body` against two simulators that stand for both environments.
    private static func withBoth(
        _ probe: Case, _ body: ([String]) async throws -> Void
    ) async throws {
        let token = try RunningSimulator.deviceToken
        try await RunningSimulator.with {
            $0.environment = .production
            $0.unknownDeviceTokens = .refused
        } _: { production in
            if let device = probe.production(token) { production.simulator.register(device) }
            try await RunningSimulator.with {
                $0.unknownDeviceTokens = .refused
                $0.providerKeys[0].pem = production.key.publicKeyPEM
            } _: { sandbox in
                if let device = probe.sandbox(token) { sandbox.simulator.register(device) }
                let authorities = try production.folder.write(
                    production.simulator.certificateAuthorityPEM + "\n"
                        + sandbox.simulator.certificateAuthorityPEM, to: "both.pem")
                try await body(
                    production.credential + [
                        "--production-server", "127.0.0.1:\(production.simulator.port)",
                        "--sandbox-server", "127.0.0.1:\(sandbox.simulator.port)", "--ca",
                        authorities, RunningSimulator.device,
                    ])
            }
        }
    }

    @Test("an answer that APNs would not give says nothing of the credential or the token")
    func unexplained() {
        for (status, reason, verdict, code) in [
            (400, nil, "unexplained", 69), (404, nil, "unexplained", 69),
            (403, nil, "unexplained", 69), (400, "PayloadEmpty", "unexplained", 69),
            (405, "MethodNotAllowed", "unexplained", 69), (418, "Teapot", "unexplained", 69),
            (403, "InvalidProviderToken", "credential-refused", 77),
            (403, "SomethingNew", "credential-refused", 77),
            (400, "TopicDisallowed", "credential-refused", 77), (503, nil, "postponed", 69),
        ] as [(Int, String?, String, Int32)] {
            let rejection = PushOutcome.Rejection(
                status: status, reason: reason.map { RejectionReason(rawValue: $0) })
            let found = ProbeFindings(answers: [
                ProbeFindings.Answer(
                    name: "127.0.0.1", environment: nil, result: .success(.rejected(rejection)),
                    milliseconds: 1)
            ]).verdict
            #expect(found.word == verdict, "\(status) \(reason ?? "-")")
            #expect(found.status.rawValue == code)
            if reason == nil {
                #expect(!rejection.advice.remedy.contains("Look the reason up"))
            }
        }
        let hostile = PushOutcome.Rejection(
            status: 400, reason: RejectionReason(rawValue: "a\u{1b}[2J\u{7}"))
        #expect(hostile.words == "400 a\u{fffd}[2J\u{fffd}")
    }
}
