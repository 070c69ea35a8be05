// SPDX-License-Identifier: Apache-2.0

import APNsClient
import APNsSimulator
import Foundation
import PushTransport
import Testing
import WakeModel

@testable import RouseCommand

@Suite("rouse push")
struct PushTests {
    @Test("sends a background push as Apple wants it, and says that it was accepted")
    func background() async throws {
        try await RunningSimulator.with { simulator in
            let result = try await Rouse.run(["push"] + simulator.all)
            #expect(result.status == 0, "\(result.all)")
            #expect(result.out.contains("200: accepted"))
            #expect(result.out.contains("Accepted by APNs; delivery is not confirmed."))
            #expect(!result.out.contains("Remark"))
            let push = try #require(simulator.simulator.receivedPushes.first)
            #expect(push["apns-push-type"] == "background")
            #expect(push["apns-priority"] == "5")
            #expect(push["apns-topic"] == RunningSimulator.bundleID)
            #expect(push.deviceTokenHex == RunningSimulator.device)
            let expiration = try #require(push["apns-expiration"].flatMap { Int64($0) })
            let day = WakeClock.system.now().secondsSinceEpoch + 86_400
            #expect(abs(expiration - day) < 60)
            #expect(result.out.contains(try #require(push["apns-id"])))
        }
    }

    @Test("sends a VoIP push with its topic, priority 10 and one attempt")
    func voip() async throws {
        try await RunningSimulator.with { simulator in
            let result = try await Rouse.run(["push", "--voip"] + simulator.all)
            #expect(result.status == 0, "\(result.all)")
            #expect(!result.out.contains("Remark"))
            let push = try #require(simulator.simulator.receivedPushes.first)
            #expect(push["apns-push-type"] == "voip")
            #expect(push["apns-priority"] == "10")
            #expect(push["apns-topic"] == RunningSimulator.bundleID + ".voip")
            #expect(push["apns-expiration"] == "0")
        }
    }

    @Test("takes the payload from a file or from standard input, byte for byte")
    func payload() async throws {
        let payload = #"{ "aps" : {"content-available":1}, "version": 7 }"#
        try await RunningSimulator.with { simulator in
            let file = try simulator.folder.write(payload, to: "payload.json")
            let options = ["--ttl", "60", "--collapse-id", "news"] + simulator.all
            let first = try await Rouse.run(["push", "--payload", file] + options)
            let second = try await Rouse.run(["push", "--payload", "-"] + options, stdin: payload)
            #expect(first.status == 0, "\(first.all)")
            #expect(second.status == 0, "\(second.all)")
            let pushes = simulator.simulator.receivedPushes
            #expect(pushes.map(\.body) == [Array(payload.utf8), Array(payload.utf8)])
            #expect(pushes.map { $0["apns-collapse-id"] } == ["news", "news"])
        }
    }

    @Test("refuses a payload with errors before it is sent, unless forced")
    func faultyPayload() async throws {
        let payload = #"{"aps":{"content-available":1,"badge":0}}"#
        try await RunningSimulator.with { simulator in
            let arguments = ["push", "--payload", "-"] + simulator.all
            let refused = try await Rouse.run(arguments, stdin: payload)
            #expect(refused.status == 65)
            #expect(refused.out.contains("BG004"))
            #expect(refused.error.contains("--force"))
            #expect(simulator.simulator.receivedPushes.isEmpty)

            let asJSON = try await Rouse.run(arguments + ["--json"], stdin: payload)
            #expect(asJSON.status == 65)
            let remarks = try #require(try asJSON.json()["diagnostics"] as? [[String: Any]])
            #expect(remarks.contains { $0["rule"] as? String == "BG004" })

            let forced = try await Rouse.run(arguments + ["--force"], stdin: payload)
            #expect(forced.status == 0, "\(forced.all)")
            #expect(forced.out.contains("BG004"))
            #expect(simulator.simulator.receivedPushes.map(\.body) == [Array(payload.utf8)])
        }
    }

    @Test(
        "explains each reason of the table with its words and ends with 1",
        arguments: RejectionReason.table.map(\.reason))
    func refusal(reason: RejectionReason) async throws {
        let entry = try #require(reason.entry)
        try await RunningSimulator.with { simulator in
            simulator.simulator.inject(Fault(.reject(reason)))
            let text = try await Rouse.run(["push"] + simulator.all)
            #expect(text.status == 1, "\(text.all)")
            #expect(text.out.contains("\(entry.status) \(reason)"))
            let words = text.out.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            #expect(words.contains(entry.meaning))
            #expect(words.contains(entry.advice.remedy))
        }
    }

    @Test("a payload where the name of a file belongs is refused and not repeated")
    func textForFile() async throws {
        try await RunningSimulator.with { simulator in
            let payload = #"{"aps":{"alert":"hidden"}}"#
            let result = try await Rouse.run(["push", "--payload", payload] + simulator.all)
            #expect(result.status == 66, "\(result.all)")
            #expect(result.error.contains("payload is a text where the name of a file belongs"))
            #expect(!result.all.contains("hidden"))
        }
    }

    @Test("what to do next fits the type of the push")
    func doubts() {
        #expect(PushText.doubts(of: .background).contains("Background App Refresh"))
        #expect(PushText.doubts(of: .voip).contains("CallKit"))
        for type in [PushType.voip, .alert] {
            #expect(!PushText.doubts(of: type).contains("silent"))
            #expect(!PushText.doubts(of: type).contains("force-quit"))
        }
        let lost = TransportFailure(.connectionLost, certainty: .unknown)
        #expect(lost.remedy.hasPrefix("Send it again only if"))
    }

    @Test("tells the same as JSON, with stable keys")
    func json() async throws {
        try await RunningSimulator.with { simulator in
            simulator.simulator.register(
                RegisteredDevice(
                    token: try RunningSimulator.deviceToken,
                    state: .unregistered(since: WallInstant(secondsSinceEpoch: 1_750_000_000))))
            let result = try await Rouse.run(["push", "--json", "--sandbox"] + simulator.all)
            #expect(result.status == 1, "\(result.all)")
            let document = try result.json()
            #expect(document["outcome"] as? String == "rejected")
            #expect(document["status"] as? Int == 410)
            #expect(document["reason"] as? String == "Unregistered")
            #expect(document["token_dead_since"] as? String == "2025-06-15T15:06:40.000Z")
            #expect(document["environment"] as? String == "sandbox")
            #expect(document["push_type"] as? String == "background")
            #expect(document["device"] as? String == (try RunningSimulator.deviceToken.description))
            let keys: Set<String> = [
                "outcome", "apns_id", "device", "push_type", "topic", "priority", "expiration",
                "payload_bytes", "host", "port", "environment", "milliseconds", "status", "reason",
                "token_dead_since", "meaning", "next", "diagnostics",
            ]
            #expect(Set(document.keys) == keys)
        }
    }

    @Test("a wrong key id, team id or key is a refusal, and says so")
    func wrongKey() async throws {
        try await RunningSimulator.with { simulator in
            let other = try simulator.folder.write(
                SigningKey.generate().privateKeyPEM, to: "other.p8")
            let result = try await Rouse.run(
                [
                    "push", "--key", other, "--key-id", RunningSimulator.keyID, "--team-id",
                    RunningSimulator.teamID,
                ]
                    + ["--bundle-id", RunningSimulator.bundleID] + simulator.server + [
                        RunningSimulator.device
                    ])
            #expect(result.status == 1)
            #expect(result.out.contains("403 InvalidProviderToken"))
            #expect(result.out.contains("rouse token --verify"))
        }
    }

    @Test("no server, an untrusted one, and a silent one end with 69 and say what to do")
    func unreachable() async throws {
        try await RunningSimulator.with { simulator in
            let nobody = try await Rouse.run(
                ["push", "--host", "127.0.0.1", "--port", "1"] + simulator.credential
                    + [RunningSimulator.device])
            #expect(nobody.status == 69, "\(nobody.all)")
            #expect(nobody.out.contains("certainly not sent"))

            let untrusted = try await Rouse.run(
                ["push", "--host", "127.0.0.1", "--port", "\(simulator.simulator.port)", "--json"]
                    + simulator.credential + [RunningSimulator.device])
            #expect(untrusted.status == 69, "\(untrusted.all)")
            #expect(try untrusted.json()["failure"] as? String == "tls")
            #expect(try untrusted.json()["certainty"] as? String == "not-sent")

            simulator.simulator.inject(Fault(.neverAnswer))
            let silent = try await Rouse.run(["push", "--timeout", "1"] + simulator.all)
            #expect(silent.status == 69, "\(silent.all)")
            #expect(silent.out.contains("may have reached APNs"))
        }
    }

    @Test("a server of plain HTTP is not said to have an untrusted certificate")
    func plainHTTP() {
        for detail in ["error:0A00010B:SSL routines::wrong version number", "http request"] {
            let plain = TransportFailure(.tls, certainty: .notSent, detail: detail)
            #expect(plain.meaning.hasPrefix("The server does not speak TLS on this port."))
            #expect(!plain.remedy.contains("--ca"))
        }
        let untrusted = TransportFailure(
            .tls, certainty: .notSent, detail: "certificate verify failed")
        #expect(untrusted.remedy.contains("--ca"))
    }

    @Test("a server that refuses the client's certificate is not to be tried again")
    func refusedCertificate() {
        for detail in ["tlsv1 alert unknown ca", "sslv3 alert certificate expired"] {
            let refused = TransportFailure(
                .connectionLost, certainty: .notSent,
                detail: "the server sent no SETTINGS: \(detail)")
            #expect(
                refused.meaning
                    == "The server requires a client's certificate, or did not accept the one it "
                    + "got. It was certainly not sent.")
            #expect(refused.remedy.hasPrefix("Use the push certificate"))
        }
    }

    @Test("takes key, ids and app from the environment, and the key's text too")
    func environment() async throws {
        try await RunningSimulator.with { simulator in
            let ids = [
                "ROUSE_TEAM_ID": RunningSimulator.teamID,
                "ROUSE_BUNDLE_ID": RunningSimulator.bundleID,
            ]
            let file = try await Rouse.run(
                ["push"] + simulator.server + [RunningSimulator.device],
                environment: ids.merging(["ROUSE_KEY_FILE": simulator.keyPath]) { $1 })
            #expect(file.status == 0, "\(file.all)")
            let text = try await Rouse.run(
                ["push"] + simulator.server + [RunningSimulator.device],
                environment: ids.merging([
                    "ROUSE_KEY": simulator.key.privateKeyPEM,
                    "ROUSE_KEY_ID": RunningSimulator.keyID,
                ]) { $1 })
            #expect(text.status == 0, "\(text.all)")
        }
    }

    @Test("takes app, key and server from a configuration, and asks which where several fit")
    func configuration() async throws {
        try await RunningSimulator.with { simulator in
            let app = """
                  - bundle-id: BUNDLE
                    environment: sandbox
                    team-id: \(RunningSimulator.teamID)
                    key-file: AuthKey_\(RunningSimulator.keyID).p8
                    server:
                      host: 127.0.0.1
                      port: \(simulator.simulator.port)
                      ca-file: ca.pem

                """
            let first = app.replacing("BUNDLE", with: RunningSimulator.bundleID)
            let second = app.replacing("BUNDLE", with: "com.example.other")
            let one = try simulator.folder.write("apps:\n" + first, to: "one.yaml")
            let single = try await Rouse.run(["push", "--config", one, RunningSimulator.device])
            #expect(single.status == 0, "\(single.all)")

            let two = try simulator.folder.write("apps:\n" + first + second, to: "two.yaml")
            let open = try await Rouse.run(["push", "--config", two, RunningSimulator.device])
            #expect(open.status == 64, "\(open.all)")
            #expect(open.error.contains("com.example.app, com.example.other"))
            let chosen = try await Rouse.run(
                [
                    "push", "--config", two, "--bundle-id", "com.example.other",
                    RunningSimulator.device,
                ])
            #expect(chosen.status == 0, "\(chosen.all)")
            let topics = simulator.simulator.receivedPushes.map { $0["apns-topic"] }
            #expect(topics == [RunningSimulator.bundleID, "com.example.other"])
        }
    }

    @Test("bad input ends with the code that fits, and says which file or field")
    func badInput() async throws {
        let folder = try TestFolder()
        let key = try folder.write("nonsense", to: "AuthKey_ABCDE12345.p8")
        let server = ["--host", "127.0.0.1", "--port", "1", "--bundle-id", "com.example.app"]
        let base = ["push", "--team-id", "TEAM123456"] + server
        let cases: [(arguments: [String], status: Int32, words: String)] = [
            (["--key", "/nonexistent/AuthKey_ABCDE12345.p8", "ab"], 66, "key file"),
            (["--key", key, "ab"], 78, "holds no PEM text"),
            (["--key", key, "abc"], 65, "odd number of digits"),
            (["--key", key, "<740g>"], 65, "position 5"),
            (["--key", key, "--payload", "/nonexistent", "ab"], 66, "payload"),
            (["--key", key, "--ca", "/nonexistent", "ab"], 66, "CA file"),
            (["--key", key, "--key-id", "SHORT", "ab"], 64, "key id"),
            (["--key", key, "--proxy", "socks5://x", "ab"], 64, "--proxy"),
            (["--config", "/nonexistent", "ab"], 66, "configuration"),
        ]
        for (arguments, status, words) in cases {
            let result = try await Rouse.run(base + arguments)
            #expect(result.status == status, "\(arguments): \(result.all)")
            #expect(result.error.contains(words), "\(arguments): \(result.all)")
        }
    }
}
