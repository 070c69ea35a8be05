// SPDX-License-Identifier: Apache-2.0

import APNsSimulator
import Foundation
import Testing
import WakeModel

@Suite("rouse channel", .timeLimit(.minutes(10)))
struct ChannelCommandTests {
    private static let update =
        #"{"aps":{"timestamp":\#(Int(Date().timeIntervalSince1970)),"event":"update","#
        + #""content-state":{"score":1}}}"#

    private static var app: BundleID {
        get throws { try BundleID(RunningSimulator.bundleID) }
    }

    private static func channel(
        _ words: [String], _ simulator: RunningSimulator, stdin: String = ""
    ) async throws -> Rouse.Finished {
        try await Rouse.run(
            ["channel"] + words + simulator.credential + simulator.server, stdin: stdin)
    }

    @Test("makes, reads, lists, sends to and deletes a channel")
    func life() async throws {
        try await RunningSimulator.with { simulator in
            let made = try await Self.channel(["create", "--storage", "latest"], simulator)
            #expect(made.status == 0, "\(made.all)")
            let id = made.out.trimmingCharacters(in: .newlines)
            #expect(simulator.simulator.channels(of: try Self.app).map(\.id.value) == [id])
            let read = try await Self.channel(["read", id], simulator)
            #expect(read.out.contains(id) && read.out.contains("latest: the most recent"))
            let second = try await Self.channel(["create"], simulator)
            let list = try await Self.channel(["list"], simulator)
            #expect(list.out == made.out + second.out)
            let sent = try await Self.channel(
                ["send", id, "--payload", "-", "--ttl", "600", "--priority", "5"], simulator,
                stdin: Self.update)
            #expect(sent.status == 0, "\(sent.all)")
            #expect(sent.out.contains("200: accepted"))
            #expect(sent.out.contains("Accepted by APNs; delivery is not confirmed."))
            let push = try #require(simulator.simulator.receivedPushes.last)
            #expect(push["apns-priority"] == "5" && push.body == Array(Self.update.utf8))
            #expect(sent.out.contains(try #require(push["apns-request-id"])))
            let deleted = try await Self.channel(["delete", id], simulator)
            #expect(deleted.out.contains("204: deleted"))
            let gone = try await Self.channel(["read", id], simulator)
            #expect(gone.status == 1)
            #expect(gone.out.contains("400 ChannelNotRegistered"), "\(gone.all)")
            #expect(gone.out.contains("Next"))
        }
    }

    @Test("tells the same as JSON, with stable keys")
    func json() async throws {
        try await RunningSimulator.with { simulator in
            let made = try await Self.channel(["create", "--json", "--sandbox"], simulator).json()
            let id = try #require(made["channel"] as? String)
            #expect(
                Set(made.keys) == [
                    "outcome", "app", "environment", "channel", "storage", "request_id", "status",
                ])
            #expect(made["outcome"] as? String == "done" && made["status"] as? Int == 201)
            #expect(made["environment"] as? String == "sandbox")
            let list = try await Self.channel(["list", "--json"], simulator).json()
            #expect(list["channels"] as? [String] == [id])
            let sent = try await Self.channel(
                ["send", id, "--payload", "-", "--json"], simulator, stdin: Self.update)
            let document = try sent.json()
            #expect(document["apns_unique_id"] is String, "\(sent.all)")
            #expect(document["expiration"] as? String == "0")
            #expect((document["diagnostics"] as? [Any])?.isEmpty == true, "\(sent.all)")
            let gone = try await Self.channel(["delete", "YQ==", "--json"], simulator)
            #expect(gone.status == 1)
            let refusal = try gone.json()
            #expect(refusal["outcome"] as? String == "rejected")
            #expect(refusal["reason"] as? String == "ChannelNotRegistered")
            #expect(refusal["meaning"] is String && refusal["next"] is String)
        }
    }

    @Test("10 000 channels are listed, and one more is refused with what to do")
    func limit() async throws {
        try await RunningSimulator.with { simulator in
            for _ in 0..<10_000 { simulator.simulator.createChannel(of: try Self.app) }
            let list = try await Self.channel(["list"], simulator)
            #expect(list.status == 0, "\(list.error)")
            #expect(list.out.split(separator: "\n").count == 10_000)
            let refused = try await Self.channel(["create"], simulator)
            #expect(refused.status == 1)
            #expect(refused.out.contains("CannotCreateChannelConfig"))
            #expect(refused.out.contains("Delete the channels"))
        }
    }

    @Test("refuses a payload with errors before it is sent, unless forced")
    func faultyPayload() async throws {
        let start = Self.update.replacing("\"update\"", with: "\"start\"")
        try await RunningSimulator.with { simulator in
            let id = try #require(simulator.simulator.createChannel(of: try Self.app)).value
            let words = ["send", id, "--payload", "-"]
            let refused = try await Self.channel(words, simulator, stdin: start)
            #expect(refused.status == 65)
            #expect(refused.out.contains("LA007"), "\(refused.all)")
            #expect(simulator.simulator.receivedPushes.isEmpty)
            let forced = try await Self.channel(words + ["--force"], simulator, stdin: start)
            #expect(forced.status == 0, "\(forced.all)")
        }
    }

    @Test("without an answer it ends with 69, and says whether it may have been done")
    func unanswered() async throws {
        try await RunningSimulator.with { simulator in
            simulator.simulator.inject(Fault(.resetStream(.internalError), count: 1))
            let result = try await Self.channel(["create", "--json"], simulator)
            #expect(result.status == 69, "\(result.all)")
            let document = try result.json()
            #expect(document["outcome"] as? String == "unanswered")
            #expect(document["certainty"] as? String == "unknown")
        }
    }

    @Test(
        "wrong usage ends with 64, and what is no channel with 65",
        arguments: [
            (["create", "--storage", "all"], 64), (["send", "YQ=="], 64),
            (["send", "YQ==", "--payload", "-", "--ttl", "28801"], 64),
            (["send", "YQ==", "--payload", "-", "--priority", "1"], 64),
            (["read"], 64), (["read", "a b"], 65),
        ])
    func usage(words: [String], status: Int) async throws {
        try await RunningSimulator.with { simulator in
            let result = try await Self.channel(words, simulator)
            #expect(Int(result.status) == status, "\(result.all)")
        }
    }

    @Test(
        "each command's help has an example",
        arguments: ["create", "list", "read", "delete", "send"])
    func help(command: String) async throws {
        let result = try await Rouse.run(["channel", command, "--help"])
        #expect(result.status == 0 && result.out.contains("Example"))
        #expect(result.out.contains("rouse channel \(command)"))
    }
}
