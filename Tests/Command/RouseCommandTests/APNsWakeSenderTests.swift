// SPDX-License-Identifier: Apache-2.0

import APNsClient
import APNsSimulator
import APNsWire
import Foundation
import Gateway
import GatewayTestKit
import PushTransport
import Synchronization
import Testing
import WakeModel

@testable import RouseCommand

@Suite("Claims on their way to APNs", .timeLimit(.minutes(1)))
struct APNsWakeSenderTests {
    private static let app = Samples.app

    /// A call that was claimed an hour ago, because the disk took so long.
    private static func call(deadline: WallInstant) -> Claim {
        let request = Samples.request(.voip)
        return Claim(
            ticket: Claim.Ticket(id: Samples.freshID(), fence: 1), app: app, kind: .voip,
            deviceToken: request.deviceToken, payload: request.payload, expiration: .immediately,
            collapseID: nil, deadline: deadline, dueAt: deadline, tries: 0, previousReason: nil,
            claimedAt: deadline.advanced(bySeconds: -3600),
            leaseUntil: deadline.advanced(bySeconds: 3600))
    }

    private static func withSender(
        _ body: (RunningSimulator, APNsWakeSender) async throws -> Void
    ) async throws {
        try await RunningSimulator.with { simulator in
            var transport = TransportConfiguration(host: "127.0.0.1")
            transport.port = simulator.simulator.port
            transport.trust = .file(path: simulator.authorityPath)
            transport.proxy = .none
            let source = ProviderTokenSource(
                key: simulator.key, keyID: try DeveloperID(RunningSimulator.keyID, field: "key id"),
                teamID: try DeveloperID(RunningSimulator.teamID, field: "team id"))
            let client = try APNsClient(
                .init(transport: transport, authentication: .providerToken(source)))
            try await body(simulator, APNsWakeSender(clients: [app: client]))
            await client.shutDown(gracePeriod: .zero)
        }
    }

    private static func send(_ claim: Claim, by sender: APNsWakeSender) async throws -> SendReport {
        let reports = Mutex<[SendReport]>([])
        await sender.send([claim]) { report in reports.withLock { $0.append(report) } }
        let all = reports.withLock { $0 }
        #expect(all.count == 1)
        return try #require(all.first)
    }

    @Test("a call whose deadline came while the disk was slow does not leave")
    func late() async throws {
        try await Self.withSender { simulator, sender in
            let late = Self.call(deadline: WakeClock.system.now().advanced(bySeconds: -1))
            let report = try await Self.send(late, by: sender)
            guard case .failure(let failure) = report.result else {
                Issue.record("It was sent: \(report.result)")
                return
            }
            #expect(failure.certainty == .notSent)
            #expect(simulator.simulator.receivedPushes.isEmpty)

            let inTime = Self.call(deadline: WakeClock.system.now().advanced(bySeconds: 3600))
            _ = try await Self.send(inTime, by: sender).result.get()
            #expect(simulator.simulator.receivedPushes.count == 1)
        }
    }
}
