// SPDX-License-Identifier: Apache-2.0

package import Gateway
import GatewayTestKit
import Testing
package import WakeModel

/// A store with the few verbs that most tests need, at a time that the test sets.
package struct Counter {
    package let store: any WakeStore
    package var now = Samples.start
    package var rules = Samples.rules

    /// Creates a counter, at the beginning of the samples' time if nothing else is said.
    package init(
        store: any WakeStore, now: WallInstant = Samples.start, rules: StoreRules = Samples.rules
    ) {
        self.store = store
        self.now = now
        self.rules = rules
    }

    /// Admits wakes without leave to claim them.
    @discardableResult
    package func admit(
        _ wakes: [WakeSubmission], grant: ClaimGrant? = nil
    ) async throws -> AdmitAnswer {
        try await store.perform(
            AdmitWakes(wakes, grant: grant, under: rules))
    }

    /// Admits one wake and gives its receipt.
    package func admitOne(_ wake: WakeSubmission) async throws -> AdmittedWake {
        let answer = try await admit([wake])
        guard case .admitted(let admitted) = try #require(answer.admissions.first) else {
            throw Unexpected()
        }
        return admitted
    }

    /// Claims what is due now.
    package func claim(
        _ queues: [WakeQueueKey] = Samples.queues, limit: Int = 100, leaseSeconds: Int64 = 60
    ) async throws -> ClaimAnswer {
        try await store.perform(
            ClaimWakes(
                ClaimOrder(
                    shares: queues.map { ClaimOrder.Share(queue: $0, limit: limit) }, limit: limit,
                    now: now, leaseUntil: now.advanced(bySeconds: leaseSeconds)), under: rules))
    }

    /// Admits a wake and claims it.
    package func claimOne(_ wake: WakeSubmission) async throws -> Claim {
        let id = try await admitOne(wake).id
        return try #require(try await claim().claims.first { $0.id == id })
    }

    @discardableResult
    package func settle(
        _ claim: Claim, _ effect: Settlement.Effect, attempt: AttemptResult? = nil
    ) async throws -> SettleAnswer {
        try await store.perform(
            SettleWakes(
                [
                    Settlement(
                        ticket: claim.ticket, at: now.advanced(bySeconds: 1), attempt: attempt,
                        effect: effect)
                ], under: rules))
    }

    /// Settles as sent.
    @discardableResult
    package func settleSent(_ claim: Claim) async throws -> SettleAnswer {
        try await settle(
            claim, .end(.sent(apnsUniqueID: nil)), attempt: .accepted(apnsUniqueID: nil))
    }

    package func record(_ id: WakeID) async throws -> WakeRecord {
        try #require(try await store.perform(FindWake(id)))
    }

    /// The ids of all wakes that a query finds, page by page.
    package func pages(_ query: WakeQuery) async throws -> [WakeID] {
        var query = query
        var ids: [WakeID] = []
        repeat {
            let page = try await store.perform(ListWakes(query))
            #expect(page.wakes.count <= query.limit)
            ids += page.wakes.map(\.id)
            query.after = page.next
        } while query.after != nil
        return ids
    }

    /// The same store so many seconds later.
    package func later(_ seconds: Int64) -> Counter {
        var later = self
        later.now = now.advanced(bySeconds: seconds)
        return later
    }

    /// How many of these devices the store knows in the queue of the samples.
    package func knownCount(_ devices: ClosedRange<UInt64>) async throws -> Int {
        let queue = WakeQueueKey(app: Samples.app, kind: .background)
        var count = 0
        for device in devices {
            let command = FindDevices(
                Samples.deviceToken(device), in: [queue], at: now, under: rules)
            count += try await store.perform(command).count
        }
        return count
    }

    private struct Unexpected: Error {}
}
