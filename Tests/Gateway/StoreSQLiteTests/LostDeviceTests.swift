// SPDX-License-Identifier: Apache-2.0

import Gateway
import GatewayTestKit
import StoreTestKit
import Testing
import WakeModel

@testable import StoreSQLite

@Suite("Wakes whose device an earlier version removed too early")
struct LostDeviceTests {
    /// Hands over a store with wakes in hand and waiting, whose devices are gone, and audits it.
    private func withLostDevices(
        _ body: (Counter, _ claims: [Claim], _ waiting: [WakeID]) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            let store = try SQLiteWakeStore(path: path, cachedDevices: 0)
            let connection = Counter(store: store)
            var claims: [Claim] = []
            var waiting: [WakeID] = []
            for (place, kind) in WakeKind.allCases.enumerated() {
                for device in 1...6 as ClosedRange<UInt64> {
                    let device = UInt64(place) * 100 + device
                    claims.append(try await connection.claimOne(Samples.wake(kind, device: device)))
                }
            }
            for (place, kind) in WakeKind.allCases.enumerated() {
                for device in 7...9 as ClosedRange<UInt64> {
                    let wake = Samples.wake(kind, device: UInt64(place) * 100 + device)
                    waiting.append(try await connection.admitOne(wake).id)
                }
            }
            try store.writer.sync { try $0.run(script: "DELETE FROM device") }
            try await body(connection, claims, waiting)
            let count = try await store.perform(RecountWakes())
            #expect(count.isConserved && count.unended == 0)
            try store.close()
            #expect(try SQLiteWakeStore.audit(path: path).isSound)
        }
    }

    @Test("Each verb ends them once, and fails for none")
    func verbs() async throws {
        try await withLostDevices { (connection, claims, waiting) async throws in
            let refusal = Refusal(status: 410, reason: .unregistered)
            let effects: [(Settlement.Effect, AttemptResult?)] = [
                (.end(.sent(apnsUniqueID: nil)), .accepted(apnsUniqueID: nil)),
                (.end(.undeliverable(refusal)), .refused(refusal)),
                (.retry(at: connection.now, charged: false), nil),
                (.release, nil),
                (.end(.expired), nil),
            ]
            for (place, claim) in claims.enumerated() where place % 6 < effects.count {
                let (effect, attempt) = effects[place % 6]
                let answer = try await connection.settle(claim, effect, attempt: attempt)
                #expect(answer.verdicts == [.applied])
            }
            let receipt = Receipt(id: claims[0].id, launchedAt: nil, hasSynced: true)
            let confirmed = try await connection.store.confirm(
                [receipt], at: connection.now, under: connection.rules)
            #expect(confirmed.answers == [.recorded])
            // One of each kind is left in hand.
            let lapsed = try await connection.later(61).store.perform(
                ReclaimLeases(
                    at: connection.later(61).now, limit: 100, under: connection.rules))
            #expect(Set(lapsed.ended.map(\.end)) == [.cancelled, .failed(.fateUnknown)])

            for id in [waiting[0], waiting[3]] {
                let outcome = try await connection.store.perform(
                    CancelWake(
                        id, at: connection.now, under: connection.rules))
                #expect(outcome.isCancelled == true)
            }
            let expired = try await connection.store.perform(
                ExpireWakes(
                    at: connection.later(30).now, limit: 1, under: connection.rules))
            #expect(expired.map(\.end) == [.expired])
            // What waits for a device that nobody knows is sent to none.
            let rest = try await connection.later(61).claim()
            #expect(rest.claims.isEmpty && !rest.ended.isEmpty)
            #expect(rest.ended.allSatisfy { $0.end == .cancelled })
        }
    }

    @Test("Lists, webhooks and deliveries pass them over")
    func told() async throws {
        try await withLostDevices { (connection, claims, waiting) async throws in
            for claim in claims { try await connection.settleSent(claim) }
            let known = try await connection.admitOne(Samples.wake(device: 500)).id
            #expect(
                try await connection.store.perform(ListWakes(WakeQuery())).wakes.map(\.id) == [
                    known
                ])
            #expect(try await connection.store.perform(FindWake(claims[0].id)) == nil)
            _ = try await connection.store.perform(
                CancelWake(
                    known, at: connection.now, under: connection.rules))
            let at = connection.later(1).now
            let batch = try await connection.store.perform(
                ClaimWebhooks(
                    of: Samples.endpoint, at: at, until: at, limit: 100))
            #expect(batch.items.count == 1 && batch.backlogCount == 1)
            for id in waiting {
                _ = try await connection.store.perform(
                    CancelWake(
                        id, at: connection.now, under: connection.rules))
            }
        }
    }
}
