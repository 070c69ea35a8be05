// SPDX-License-Identifier: Apache-2.0

import APNsSimulator
import Foundation
import Testing
import WakeModel

@Suite("Broadcast channels of a running gateway", .timeLimit(.minutes(10)))
struct ServeChannelsTests {
    private static let app = RunningSimulator.bundleID
    private static let json = ["-H", "Content-Type: application/json"]

    @Test("Channels are APNs' own, and a broadcast gets APNs' answer")
    func life() async throws {
        try await RunningSimulator.with { simulator in
            let path = try await ServeTests.keyedConfiguration(simulator)
            let (gateway, base) = try await ServeTests.start(["--config", path])
            let made = try await ServeTests.curl(
                Self.json + ["-d", #"{"app":"\#(Self.app)"}"#, "\(base)/v1/channels"])
            let channel = try #require(made["channel"] as? String, "\(made)")
            let app = try BundleID(Self.app)
            #expect(simulator.simulator.channels(of: app).map(\.id.value) == [channel])
            let encoded = channel.replacing("/", with: "%2F").replacing("+", with: "%2B")
                .replacing("=", with: "%3D")
            let payload =
                #"{"aps":{"timestamp":1795253640,"event":"end","content-state":{"score":1}}}"#
            let body = #"{"app":"\#(Self.app)","payload":\#(payload)}"#
            let place = "\(base)/v1/channels/\(encoded)"
            let sent = try await ServeTests.curl(
                Self.json + ["-d", body, place + "/broadcasts"])
            #expect(sent["apns_unique_id"] is String, "\(sent)")
            let push = try #require(simulator.simulator.receivedPushes.last)
            #expect(push.body == Array(payload.utf8) && push["apns-expiration"] == "0")
            #expect(push["apns-request-id"] == sent["request_id"] as? String)

            let late = try await ServeTests.curl(
                Self.json
                    + ["-d", body.dropLast() + #","ttl_seconds":60}"#, place + "/broadcasts"])
            #expect(late["code"] as? String == "channel-stores-nothing", "\(late)")
            #expect(late["field"] as? String == "ttl_seconds")

            let list = try await ServeTests.curl(["\(base)/v1/channels?app=\(Self.app)"])
            #expect(list["channels"] as? [String] == [channel])
            let gone = try await ServeTests.curl([
                "-X", "DELETE", "\(place)?app=\(Self.app)",
            ])
            #expect(gone["channel"] as? String == channel, "\(gone)")
            #expect(simulator.simulator.channels(of: app).isEmpty)
            #expect(try await gateway.end(SIGTERM) == 0)
        }
    }

    @Test("All 10 000 channels of an app come in one answer")
    func manyChannels() async throws {
        try await RunningSimulator.with { simulator in
            let app = try BundleID(Self.app)
            for _ in 0..<10_000 { simulator.simulator.createChannel(of: app) }
            let path = try await ServeTests.keyedConfiguration(simulator)
            let (gateway, base) = try await ServeTests.start(["--config", path])
            let list = try await ServeTests.curl(["\(base)/v1/channels?app=\(Self.app)"])
            #expect((list["channels"] as? [String])?.count == 10_000)
            let refused = try await ServeTests.curl(
                Self.json + ["-d", #"{"app":"\#(Self.app)"}"#, "\(base)/v1/channels"])
            #expect(refused["code"] as? String == "channel-limit", "\(refused)")
            #expect(try await gateway.end(SIGTERM) == 0)
        }
    }
}
