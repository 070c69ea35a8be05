// SPDX-License-Identifier: Apache-2.0

import Gateway
import GatewayTestKit
import PostgreSQLTestKit
import StorePostgreSQL
import StoreTestKit
import Testing
import WakeModel

@Suite("The audit of a shared store", .timeLimit(.minutes(10)))
struct SharedAuditTests {
    /// Hands a store with a sent, a claimed, a waiting and a refused wake to `body`.
    private func withStore(
        _ body: (_ url: String, _ execute: (String) throws -> Void) async throws -> Void
    ) async throws {
        try await StoreKind.withDatabase { url in
            let store = try await PostgreSQLWakeStore.open(url: url)
            let connection = Counter(store: store)
            let refusal = Refusal(status: 410, reason: .unregistered)
            try await connection.settleSent(
                try await connection.claimOne(Samples.wake(device: 1)))
            try await connection.settle(
                try await connection.claimOne(Samples.wake(device: 2)),
                .end(.undeliverable(refusal)), attempt: .refused(refusal))
            try await connection.admit(
                [Samples.wake(device: 3)],
                grant: ClaimGrant(
                    queues: Set(Samples.queues), background: 10, calls: 10, leaseSeconds: 60))
            try await connection.admit([Samples.wake(dueIn: 60, device: 4)])
            let database = String(url.split(separator: "/").last ?? "")
            let server = try PostgreSQLServer.running()
            // Beside the gateway, which is closed last.
            let audit = try await PostgreSQLWakeStore.audit(url: url)
            #expect(audit.isSound && audit.damaged.isEmpty, "\(audit)")
            #expect(audit.count == (try await store.perform(RecountWakes())))
            #expect(
                audit.count.byState == [.sent: 1, .undeliverable: 1, .claimed: 1, .pending: 1])
            try await body(url) { try server.execute($0, in: database) }
            await store.close()
        }
    }

    @Test("Each row that cannot be read is named")
    func damaged() async throws {
        try await withStore { url, execute in
            try execute(
                """
                UPDATE rouse.wake SET rest = '\\x00' WHERE state = 2;
                UPDATE rouse.device SET ledger = '\\x0107'
                    WHERE number = (SELECT min(number) FROM rouse.device);
                UPDATE rouse.attempt SET result = 'nothing';
                UPDATE rouse.feedback SET kind = 'nothing';
                UPDATE rouse.webhook SET kind = 'nothing'
                    WHERE number = (SELECT min(number) FROM rouse.webhook);
                """)
            let audit = try await PostgreSQLWakeStore.audit(url: url)
            #expect(!audit.isSound && audit.count.isConserved && audit.faults.isEmpty)
            #expect(
                Set(audit.damaged.map(\.table))
                    == [.wake, .device, .attempt, .feedback, .webhook])
            #expect(audit.damagedCount == 5, "\(audit.damaged)")
        }
    }

    @Test("A lost row is noticed")
    func lost() async throws {
        try await withStore { url, execute in
            try execute("DELETE FROM rouse.wake WHERE state = 0")
            let audit = try await PostgreSQLWakeStore.audit(url: url)
            #expect(!audit.isSound && !audit.count.isConserved && audit.count.accepted == 4)
        }
    }

    @Test("A counter of webhooks that is not what is kept is noticed, and so is a bad index")
    func faults() async throws {
        try await withStore { url, execute in
            try execute("DELETE FROM rouse.webhook")
            try execute(
                """
                UPDATE pg_index SET indisvalid = false
                WHERE indexrelid = 'rouse.webhook_due'::regclass
                """)
            let audit = try await PostgreSQLWakeStore.audit(url: url)
            #expect(!audit.isSound && audit.count.isConserved)
            #expect(audit.faults.contains { $0.contains(#"The counter "webhooks 7" is"#) })
            #expect(audit.faults.contains { $0.contains("webhook_due is not valid") })
        }
    }

    @Test("An entry of the feed of outcomes that hides another, or wakes, is named")
    func outcomes() async throws {
        try await withStore { url, execute in
            try execute(
                """
                UPDATE rouse.feed SET last = 500 WHERE name = 'outcomes';
                UPDATE rouse.outcome SET number = 100
                    WHERE number = (SELECT min(number) FROM rouse.outcome);
                UPDATE rouse.outcome SET number = 102, wakes = '{1,2,3}' WHERE number > 100;
                INSERT INTO rouse.outcome VALUES (200, '{}'), (300, '{1,NULL}'), (501, '{1}');
                """)
            let audit = try await PostgreSQLWakeStore.audit(url: url)
            #expect(!audit.isSound && audit.damaged.allSatisfy { $0.table == .outcome })
            #expect(audit.damaged.map(\.key) == ["102", "200", "300", "501"], "\(audit.damaged)")
        }
    }

    @Test("A wake that waits, or is leased, where nobody looks is noticed")
    func unplaced() async throws {
        try await withStore { url, execute in
            try execute("UPDATE rouse.wake SET place = NULL WHERE state = 0")
            try execute("UPDATE rouse.writer SET floor = last_number + 1")
            let audit = try await PostgreSQLWakeStore.audit(url: url)
            #expect(
                audit.faults == [
                    "1 pending wakes are in no queue.",
                    "1 claimed wakes are leased by no writer and are in no queue.",
                ])
        }
    }

    @Test("A database without tables is refused")
    func empty() async throws {
        let server = try PostgreSQLServer.running()
        let url = server.uri(try server.makeDatabase())
        await #expect(throws: StoreFailure.self) { try await PostgreSQLWakeStore.audit(url: url) }
    }
}
