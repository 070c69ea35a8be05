// SPDX-License-Identifier: Apache-2.0

import APNsClient
import APNsSender
import APNsSimulator
import APNsWire
import Foundation
import Gateway
import GatewayTestKit
import Logging
import PushTransport
import StoreTestKit
import Synchronization
import Testing
import WakeModel

@Suite("Claims on their way to APNs", .timeLimit(.minutes(10)))
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
        _ body: (APNsSimulator, APNsWakeSender) async throws -> Void
    ) async throws {
        try await withSimulator { simulator, client in
            try await body(simulator, APNsWakeSender(clients: [app: client]))
        }
    }

    /// A client that sends to a simulator in this process.
    private static func withSimulator(
        _ body: (APNsSimulator, APNsClient) async throws -> Void
    ) async throws {
        let key = SigningKey.generate()
        let keyID = try DeveloperID("ABCDE12345", field: "key id")
        let teamID = try DeveloperID("TEAM123456", field: "team id")
        var configuration = APNsSimulator.Configuration()
        configuration.providerKeys = [
            ProviderKey(teamID: "\(teamID)", keyID: "\(keyID)", pem: key.publicKeyPEM)
        ]
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let simulator = try await APNsSimulator.start(configuration, logger: logger)
        try await withTemporaryFolder { folder in
            let authority = folder + "/ca.pem"
            try simulator.certificateAuthorityPEM.write(
                toFile: authority, atomically: true, encoding: .utf8)
            var transport = TransportConfiguration(host: "127.0.0.1")
            transport.port = simulator.port
            transport.trust = .file(path: authority)
            transport.proxy = .none
            let tokens = ProviderTokenSource(key: key, keyID: keyID, teamID: teamID)
            let client = try APNsClient(
                .init(transport: transport, authentication: .providerToken(tokens)))
            try await body(simulator, client)
            await client.shutDown(gracePeriod: .zero)
        }
        try await simulator.shutdown()
    }

    private static func send(
        _ claim: Claim, at now: WallInstant = WakeClock.system.now(), by sender: APNsWakeSender
    ) async throws -> SendReport {
        let reports = Mutex<[SendReport]>([])
        await sender.send([claim], at: now) { report in reports.withLock { $0.append(report) } }
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
            #expect(simulator.receivedPushes.isEmpty)

            let inTime = Self.call(deadline: WakeClock.system.now().advanced(bySeconds: 3600))
            _ = try await Self.send(inTime, by: sender).result.get()
            #expect(simulator.receivedPushes.count == 1)
        }
    }

    @Test("a call's time is the gateway's, also where this machine's clock is an hour ahead")
    func wrongClock() async throws {
        try await Self.withSender { simulator, sender in
            let now = WakeClock.system.now().advanced(bySeconds: -3600)
            let call = Self.call(deadline: now.advanced(bySeconds: 10))
            _ = try await Self.send(call, at: now, by: sender).result.get()
            #expect(simulator.receivedPushes.count == 1)
        }
    }

    @Test("the README shows the file that these tests compile and run")
    func documented() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let example = try String(
            contentsOf: root.appending(path: "Tests/Gateway/APNsSenderTests/Example.swift"),
            encoding: .utf8
        ).trimmingPrefix("// SPDX-License-Identifier: Apache-2.0\n\n")
        try #require(example.hasPrefix("import APNsClient\n"))
        let readme = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
        #expect(readme.contains("```swift\n\(example)```\n"))
    }

    @Test("a program in which the gateway runs wakes a device, and has the outcome on record")
    func inProcess() async throws {
        try await Self.withSimulator { simulator, client in
            try await withTemporaryFolder { folder in
                let gateway = try makeGateway(
                    of: Self.app, with: client, storePath: folder + "/wakes.sqlite")
                try await withRunning(gateway) { () async throws in
                    #expect(try await wake(Samples.request(), by: gateway) == "sent")
                    var invalid = Samples.request()
                    invalid.payload = Array("{}".utf8)
                    #expect(try await wake(invalid, by: gateway).hasPrefix("refused: invalid("))
                }
                #expect(simulator.receivedPushes.count == 1)
            }
        }
    }
}
