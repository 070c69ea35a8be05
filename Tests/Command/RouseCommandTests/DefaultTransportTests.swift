// SPDX-License-Identifier: Apache-2.0

import APNsSimulator
import CurlTransport
import Foundation
import PushTransport
import Testing

/// What carries a push unless somebody chooses, told by what the server sees of it: libcurl
/// announces the length of a body, which the native transport leaves to HTTP/2's framing.
@Suite("Transports by default", .timeLimit(.minutes(10)))
struct DefaultTransportTests {
    private static func carrier(_ push: ReceivedPush) -> TransportKind {
        push["content-length"] == nil ? .native : .curl
    }

    /// What a command for few pushes uses: libcurl where it reports every refused stream.
    private static var usual: TransportKind {
        (try? CurlLibrary.loaded())?.reportsRefusedStreams == true ? .curl : .native
    }

    @Test(
        "one push goes by the one that knows most, unless another is asked for",
        arguments: ["push", "probe"],
        [nil, .curl, .native] as [TransportKind?])
    func command(name: String, choice: TransportKind?) async throws {
        try await RunningSimulator.with { simulator in
            let option = choice.map { ["--transport", $0.rawValue] } ?? []
            let result = try await Rouse.run([name] + option + simulator.all)
            let push = try #require(simulator.simulator.receivedPushes.first, "\(result.all)")
            #expect(Self.carrier(push) == choice ?? Self.usual)
        }
    }

    @Test(
        "one push goes by the same also where a gateway's configuration says curl",
        arguments: ["push", "probe"])
    func configured(name: String) async throws {
        try await RunningSimulator.with { simulator in
            let path = try await ServeTests.keyedConfiguration(simulator)
            let text = try String(contentsOfFile: path, encoding: .utf8)
            try text.replacing("transport:\n", with: "transport:\n  kind: curl\n")
                .write(toFile: path, atomically: true, encoding: .utf8)
            let result = try await Rouse.run(
                [name, "--config", path] + simulator.server + [RunningSimulator.device])
            let push = try #require(simulator.simulator.receivedPushes.first, "\(result.all)")
            #expect(Self.carrier(push) == Self.usual)
        }
    }

    @Test(
        "a gateway's go by the native one, unless another is asked for",
        arguments: [nil, .curl, .native] as [TransportKind?])
    func gateway(choice: TransportKind?) async throws {
        try await RunningSimulator.with { simulator in
            let path = try await ServeTests.keyedConfiguration(simulator)
            let option = choice.map { ["--transport", $0.rawValue] } ?? []
            let (gateway, base) = try await ServeTests.start(["--config", path] + option)
            _ = try await ServeTests.wake(base)
            await simulator.simulator.waitForPushes(1)
            let push = try #require(simulator.simulator.receivedPushes.first)
            #expect(Self.carrier(push) == choice ?? .native)
            #expect(try await gateway.end(SIGTERM) == 0)
        }
    }
}
