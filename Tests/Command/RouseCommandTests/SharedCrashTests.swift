// SPDX-License-Identifier: Apache-2.0

import APNsSimulator
import Foundation
import PostgreSQLTestKit
import Testing
import WaitKit

/// Three gateways on one database of a real PostgreSQL server, of which one after the other is
/// killed or asked to end, and another one started in its place, while others send wakes to all of
/// them; at the end the books of ``CrashTests`` are compared, and are the same whichever gateway is
/// asked.
///
/// `ROUSE_KILLS=200 swift test --filter SharedCrashTests` is the long version, in which some are
/// stopped for longer than the others wait for a sign of life, or than their leases last, and go
/// on.
@Suite("kill -9 of gateways on one database", .timeLimit(.minutes(120)))
struct SharedCrashTests {
    private static let gatewayCount = 3
    /// The longest that a lease of a gateway that was killed lasts.
    private static let leaseSeconds = 120

    /// How many wakes the devices that all senders wake may have in an hour. Their spacing is
    /// shorter than a wake lives, so that wakes wait and are merged.
    private static let hourlySends = 6
    private static let budget = """
        budget:
          spacing-seconds: 10
          foreground-spacing-seconds: 10
          hourly-sends: \(hourlySends)

        """

    /// A gateway, and those who send wakes to it until it is gone.
    private struct Member {
        let gateway: RunningRouse
        let base: String
        let senders: Task<Void, Never>

        init(_ path: String, _ ledger: CrashTests.Ledger) async throws {
            let (gateway, base) = try await ServeTests.start(["--config", path])
            self.gateway = gateway
            self.base = base
            senders = Task { await CrashTests.send(base, ledger) }
        }
    }

    /// What is between the gateways and the database.
    enum Way: String, CaseIterable, CustomTestStringConvertible {
        case direct = "nothing"
        case pooled = "PgBouncer, which is killed too"

        var testDescription: String { rawValue }
    }

    @Test(
        "three books agree: nothing answered is lost, no call is sent twice",
        arguments: Way.allCases)
    func threeGateways(_ way: Way) async throws {
        let server = try PostgreSQLServer.running()
        let bouncer = way == .pooled ? try PgBouncer(to: server, poolSize: 4) : nil
        let store = server.uri(try server.makeDatabase(), port: bouncer?.port)
            .replacing(/:[^:@]*@/, with: "@")
        try await RunningSimulator.with {
            $0.log = .last(1_000_000)
        } _: { simulator in
            let path = try await ServeTests.keyedConfiguration(simulator)
            _ = try simulator.folder.write(PostgreSQLServer.password, to: "database-password")
            let text = try String(contentsOfFile: path, encoding: .utf8)
            // The last section of it is the transport's.
            try
                (text.replacing(/store: .*/, with: "store: \(store)")
                + "\n  push-timeout-seconds: 5\n")
                .replacing(
                    "listen:",
                    with: Self.budget + "store-password-file: database-password\nlisten:"
                )
                .write(toFile: path, atomically: true, encoding: .utf8)
            let migrated = try await Rouse.run(["store", "migrate", "--config", path])
            #expect(migrated.status == 0, "\(migrated.all)")
            for fault in CrashTests.faults {
                simulator.simulator.inject(Fault(fault, for: .share(0.01)))
            }
            let ledger = CrashTests.Ledger()
            var members: [Member] = []
            for _ in 0..<Self.gatewayCount { members.append(try await Member(path, ledger)) }
            for _ in 0..<600 where ledger.ids.isEmpty {
                try await Task.sleep(for: .milliseconds(50))
            }
            for life in 0..<CrashTests.kills {
                let place = life % Self.gatewayCount
                try await elapse(.milliseconds(50 + life * 197 % 650))
                if let bouncer, life % 2 == 0 {
                    bouncer.kill()
                    try await elapse(.milliseconds(life * 131 % 500))
                    try bouncer.start()
                    // Until they have found it again.
                    try await elapse(.seconds(2))
                }
                if CrashTests.kills >= 20, life % 10 == 9 {
                    members[place].gateway.signal(SIGSTOP)
                    try await elapse(.seconds(life % 50 == 49 ? Self.leaseSeconds + 10 : 40))
                    members[place].gateway.signal(SIGCONT)
                    continue
                }
                // Behind a pooler that is killed too one that is asked to end may end in vain.
                let isAsked = way == .direct && life % 4 == 1
                #expect(
                    try await members[place].gateway.end(isAsked ? SIGTERM : SIGKILL)
                        == (isAsked ? 0 : -1))
                await members[place].senders.value
                members[place] = try await Member(path, ledger)
            }
            for member in members { member.senders.cancel() }
            for member in members { await member.senders.value }
            simulator.simulator.clearFaults()
            try await CrashTests.waitUntilSettled(
                members[0].base, leaseSeconds: Self.leaseSeconds)
            let kept = try await CrashTests.records(members[0].base)
            for member in members.dropFirst() {
                #expect(try await CrashTests.records(member.base) == kept)
            }
            for member in members { #expect(try await member.gateway.end(SIGTERM) == 0) }
            let audit = try await Rouse.run(["audit-store", "--config", path, "--json"])
            #expect(try audit.json()["sound"] as? Bool == true, "\(audit.all)")
            CrashTests.compare(
                ledger.ids, kept, simulator.simulator.receivedPushes,
                // What was sent first may arrive last, so not all of the hour.
                budget: (Self.hourlySends, 50 * 60_000))
        }
    }
}
