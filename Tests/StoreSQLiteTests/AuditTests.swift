// SPDX-License-Identifier: Apache-2.0

import Foundation
import Gateway
import GatewayTestKit
import StoreSQLite
import Testing

@Suite("The audit of a file")
struct AuditTests {
    @Test("It reads beside a gateway, and counts what is there")
    func beside() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            let store = try SQLiteWakeStore(path: path)
            let desk = Counter(store: store)
            try await desk.admit((1...5 as ClosedRange<UInt64>).map { Samples.wake(device: $0) })
            try await desk.settleSent(try #require(try await desk.claim().claims.first))
            let audit = try SQLiteWakeStore.audit(path: path)
            #expect(audit.isSound && audit.faults.isEmpty)
            #expect(audit.count == (try await store.recount()))
            #expect(audit.count.byState == [.sent: 1, .claimed: 4])
            try store.close()
        }
    }

    @Test("A lost row is noticed")
    func lost() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            try await {
                let store = try SQLiteWakeStore(path: path)
                let wakes = (1...5 as ClosedRange<UInt64>).map { Samples.wake(device: $0) }
                try await Counter(store: store).admit(wakes)
                try store.close()
            }()
            try execute(
                "DELETE FROM wake WHERE number IN (SELECT min(number) FROM wake)", on: path)
            let audit = try SQLiteWakeStore.audit(path: path)
            #expect(!audit.isSound && audit.count.accepted == 5 && audit.count.unended == 4)
            #expect(throws: StoreFailure.self) {
                try SQLiteWakeStore.audit(path: folder + "/none.sqlite")
            }
        }
    }

    @Test("A webhook that the counter does not know of is noticed")
    func miscountedWebhook() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            try await {
                let store = try SQLiteWakeStore(path: path)
                let desk = Counter(store: store)
                try await desk.settleSent(try await desk.claimOne(Samples.wake(device: 1)))
                try await desk.settleSent(try await desk.claimOne(Samples.wake(device: 2)))
                try store.close()
            }()
            #expect(try SQLiteWakeStore.audit(path: path).isSound)
            try execute("DELETE FROM webhook WHERE number = 1", on: path)
            let audit = try SQLiteWakeStore.audit(path: path)
            #expect(!audit.isSound && audit.count.isConserved)
            #expect(audit.faults == [#"The counter "webhooks 7" is 2, and 1 are kept."#])
        }
    }

    /// Changes a file behind the back of its store.
    private func execute(_ statement: String, on path: String) throws {
        let shell = Process()
        shell.executableURL = URL(filePath: "/usr/bin/env")
        shell.arguments = ["sqlite3", path, statement]
        try shell.run()
        shell.waitUntilExit()
        try #require(shell.terminationStatus == 0, "Debian's sqlite3 is needed.")
    }
}
