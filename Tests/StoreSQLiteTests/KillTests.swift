// SPDX-License-Identifier: Apache-2.0

import Foundation
import Gateway
import GatewayTestKit
import StoreSQLite
import Testing
import WakeModel

@Suite("kill -9", .serialized)
struct KillTests {
    /// Runs in a child process: takes wakes through a gateway, notes each accepted id in a file,
    /// and kills itself in the midst of it.
    static func acceptUntilKilled(in folder: String, after count: Int) async throws {
        let store = try SQLiteWakeStore(path: folder + "/store.sqlite")
        // Some claims stay in flight for ever, so that the death leaves leases behind.
        let sender = ScriptedSender {
            $0.deviceToken.hex.utf8.first == 0x61 ? nil : Samples.accepted
        }
        let gateway = sampleGateway(store: store, sender: sender, seed: UInt64(count))
        let ledger = open(folder + "/accepted", O_WRONLY | O_CREAT | O_APPEND, 0o600)
        try await withRunning(gateway) {
            await withTaskGroup(of: Void.self) { group in
                for worker in 0..<8 {
                    group.addTask {
                        for number in 0... {
                            let request = Samples.request(
                                number % 5 == 0 ? .voip : .background,
                                device: UInt64(worker * 1_000 + number))
                            let answer = await gateway.accept(request)
                            guard let id = answer.admittedID else { continue }
                            let line = Array("\(id)\n".utf8)
                            _ = line.withUnsafeBytes { write(ledger, $0.baseAddress, $0.count) }
                        }
                    }
                }
                group.addTask {
                    await sender.waitUntilSent(count)
                    kill(getpid(), SIGKILL)
                }
            }
        }
    }

    /// After the death: every accepted wake is there, and a new gateway brings each to its end.
    private func check(_ folder: String) async throws {
        let text = try String(contentsOfFile: folder + "/accepted", encoding: .utf8)
        let accepted = try text.split(separator: "\n").filter { $0.count == 36 }.map {
            try WakeID($0)
        }
        #expect(accepted.count > 50)

        let store = try SQLiteWakeStore(path: folder + "/store.sqlite")
        for id in accepted { #expect(try await store.record(of: id) != nil, "lost: \(id)") }
        let before = try await store.recount()
        #expect(before.isConserved)
        #expect(before.accepted >= accepted.count)
        #expect(before.unended > 0)

        let sender = ScriptedSender()
        // What may have been sent waits for the spacing, a quarter of an hour.
        let clock = FastClock(factor: 1_000, at: SystemGatewayClock().now())
        try await withRunning(sampleGateway(store: store, sender: sender, clock: clock)) {
            while try await store.count().byState[.pending, default: 0] > 0 {
                try await Task.sleep(for: .milliseconds(20))
            }
        }
        let after = try await store.recount()
        #expect(after.isConserved)
        #expect(after.ended == before.accepted)
        for claim in sender.sent where claim.kind == .voip {
            // What the dead process may have sent is not among what was sent now.
            #expect(claim.tries == 0 && claim.ticket.fence == 1)
        }
        try store.close()
    }

    @Test("What was accepted before a kill is there after it, and is sent", .timeLimit(.minutes(2)))
    func killed() async throws {
        try await withTemporaryFolder { folder in
            await #expect(processExitsWith: .signal(SIGKILL)) { [folder = folder as String] in
                try await KillTests.acceptUntilKilled(in: folder, after: 400)
            }
            try await check(folder)
        }
    }
}
