// SPDX-License-Identifier: Apache-2.0

import APNsSimulator
import CurlTransport
import Foundation
import PushTransport
import Testing
import TransportTestKit
import WakeModel

extension ServerTests {
    /// libcurl sends a POST again by itself when a reused connection is reset before an answer.
    @Suite("No push is sent twice", .timeLimit(.minutes(10)))
    struct ResendTests {
        @Test("a reset after the whole request on a reused connection: one push, unknown")
        func resetAfterBody() async throws {
            let simulator = try await APNsSimulator.start()
            let relay = Relay(.plain(port: simulator.port))
            var reach = TransportConfiguration(host: "127.0.0.1")
            reach.port = relay.port
            reach.trust = .pem(simulator.certificateAuthorityPEM)
            reach.proxy = .none
            let inbox = Inbox()
            let transport = try CurlTransport(reach, sink: inbox.sink)
            transport.submit([TestPush.submission(1)])
            #expect(await inbox.outcome(of: 1).label == "200")
            for round in UInt64(0)..<5 {
                simulator.inject(Fault(.neverAnswer, count: 1))
                let seen = simulator.counters.completeRequests
                transport.submit([TestPush.submission(10 + round)])
                await simulator.waitForPushes(seen + 1)
                relay.resetClients()
                #expect(await inbox.outcome(of: 10 + round).label == "connection-lost (unknown)")
                transport.submit([TestPush.submission(20 + round)])
                #expect(await inbox.outcome(of: 20 + round).label == "200")
                let arrivals = simulator.receivedPushes.count {
                    $0.deviceTokenHex == TestPush.token(10 + round)
                }
                #expect(arrivals == 1)
            }
            await transport.shutDown(gracePeriod: .zero)
            relay.close()
            try await simulator.shutdown()
        }

        @Test(
            "the fault exists: curl itself delivers such a push twice",
            .enabled(if: ChildProcess.path(of: "curl") != nil))
        func plainCurl() async throws {
            let directory = try TemporaryDirectory()
            let simulator = try await APNsSimulator.start()
            let relay = Relay(.plain(port: simulator.port))
            let authority = try directory.write(simulator.certificateAuthorityPEM, to: "ca.pem")
            simulator.inject(
                Fault(
                    .neverAnswer, for: .deviceToken(try DeviceToken(hex: TestPush.token(2))),
                    count: 1))
            let common = [
                "--silent", "--http2", "--noproxy", "*", "--cacert", authority, "--max-time", "10",
                "--header", "authorization: " + TestPush.authorization, "--header",
                "apns-topic: com.example.app", "--data", "{}",
            ]
            let url = "https://127.0.0.1:\(relay.port)/3/device/"
            async let run = ChildProcess.run(
                "curl",
                common + [url + TestPush.token(1), "--next"] + common + [url + TestPush.token(2)],
                in: directory)
            await simulator.waitForPushes(2)
            relay.resetClients()
            _ = try await run
            let arrivals = simulator.receivedPushes.count {
                $0.deviceTokenHex == TestPush.token(2)
            }
            #expect(arrivals == 2)
            relay.close()
            try await simulator.shutdown()
        }
    }
}
