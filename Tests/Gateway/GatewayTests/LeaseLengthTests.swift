// SPDX-License-Identifier: Apache-2.0

import Gateway
import GatewayTestKit
import Logging
import Testing
import WakeModel

@Suite("How long leases last", .timeLimit(.minutes(10)))
struct LeaseLengthTests {
    @Test(
        "Longer than the longest push, claimed with its admission or later",
        arguments: [30, 3_600])
    func outliving(sendSeconds: Int) async throws {
        let clock = ManualClock()
        let sender = ScriptedSender()
        var configuration = GatewayConfiguration(apps: [Samples.app])
        configuration.sendSeconds = sendSeconds
        let gateway = Gateway(
            configuration: configuration, store: InMemoryWakeStore(), sender: sender,
            clock: clock, logger: .silent)
        try await withRunning(gateway) {
            _ = await gateway.accept(Samples.request(device: 1))
            _ = await gateway.accept(
                [2, 3].map { Inquiry(Samples.request(device: $0), environment: nil) },
                spreadSeconds: 5)
            await sender.waitUntilSent(2)
            clock.advance(bySeconds: 6)
            await sender.waitUntilSent(3)
            let atLeast = max(
                GatewayLimits().leaseSeconds, sendSeconds + GatewayLimits().leaseMarginSeconds)
            for claim in sender.sent {
                let lease = claim.leaseUntil.milliseconds(since: claim.claimedAt)
                #expect(lease == 1_000 * Int64(atLeast) && atLeast > sendSeconds)
            }
        }
    }

    @Test("A reload that lets pushes take longer makes the leases longer")
    func reload() async throws {
        let clock = ManualClock()
        let sender = ScriptedSender()
        let gateway = Gateway(
            configuration: GatewayConfiguration(apps: [Samples.app]), store: InMemoryWakeStore(),
            sender: sender, clock: clock, logger: .silent)
        try await withRunning(gateway) {
            var configuration = GatewayConfiguration(apps: [Samples.app])
            configuration.sendSeconds = 600
            gateway.reload(configuration, sender: sender)
            _ = await gateway.accept(Samples.request())
            await sender.waitUntilSent(1)
            let claim = try #require(sender.sent.first)
            #expect(claim.leaseUntil.milliseconds(since: claim.claimedAt) > 600_000)
        }
    }
}
