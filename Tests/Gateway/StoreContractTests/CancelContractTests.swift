// SPDX-License-Identifier: Apache-2.0

import Foundation
import Gateway
import GatewayTestKit
import SeedKit
import StoreTestKit
import Testing
import WakeBudget
import WakeModel

@Suite("What every store keeps to: cancelling wakes that have merged")
struct CancelContractTests {
    /// A request whose payload has a key of its own.
    private static func wake(
        _ number: Int, _ coalescing: Coalescing, device: UInt64 = 7, at now: WallInstant,
        urgency: Urgency = .normal
    ) -> WakeSubmission {
        Samples.wake(
            at: now, dueIn: 60, device: device,
            payload: #"{"aps":{"content-available":1},"k\#(number)":\#(number)}"#,
            urgency: urgency, coalescing: coalescing)
    }

    /// The numbers whose keys a payload has.
    private static func numbers(_ claim: Claim) throws -> Set<Int> {
        let json = try JSONSerialization.jsonObject(with: Data(claim.payload)) as? [String: Any]
        return Set((json ?? [:]).keys.compactMap { Int($0.dropFirst()) })
    }

    /// What is left of requests in their order.
    private static func left(_ requests: [(number: Int, coalescing: Coalescing)]) -> Set<Int> {
        requests.reduce(into: []) { numbers, request in
            if request.coalescing == .replace { numbers = [] }
            numbers.insert(request.number)
        }
    }

    private static func cancel(_ id: WakeID, _ counter: Counter) async throws -> CancelOutcome {
        try await counter.store.perform(
            CancelWake(id, at: counter.now, under: counter.rules))
    }

    private static func expectConserved(_ counter: Counter) async throws {
        let count = try await counter.store.perform(CountWakes())
        let recount = try await counter.store.perform(RecountWakes())
        #expect(count.isConserved && recount.isConserved)
        #expect(count.unended == recount.unended && count.ended == recount.ended)
    }

    @Test(
        "In any order and way, each takes out itself, and what is left is sent",
        arguments: StoreKind.allCases)
    func anyOrder(_ kind: StoreKind) async throws {
        try await kind.withCounter { (counter) async throws in
            var random = SeededGenerator(seed: 11)
            for device in 1...40 as ClosedRange<UInt64> {
                let count = 2 + random.below(4)
                var requests: [(number: Int, coalescing: Coalescing)] = []
                var ids: [WakeID] = []
                for number in 0..<count {
                    let coalescing: Coalescing = random.chance(oneIn: 3) ? .replace : .union
                    let wake = Self.wake(number, coalescing, device: device, at: counter.now)
                    ids.append(try await counter.admitOne(wake).id)
                    requests.append((number, coalescing))
                }
                var gone: Set<Int> = []
                for _ in 0..<random.below(count + 1) {
                    let number = random.below(count)
                    let outcome = try await Self.cancel(ids[number], counter)
                    #expect(outcome.isCancelled == !gone.contains(number))
                    #expect(outcome.ended.map(\.id) == (gone.contains(number) ? [] : [ids[number]]))
                    gone.insert(number)
                }
                let rest = requests.filter { !gone.contains($0.number) }
                let later = counter.later(60)
                let claims = try await later.claim().claims
                #expect(claims.count == (rest.isEmpty ? 0 : 1), "device \(device)")
                for number in gone {
                    let record = try await later.record(ids[number])
                    #expect(record.end == .cancelled && record.carriedBy == nil)
                }
                guard let claim = claims.first else { continue }
                #expect(try Self.numbers(claim) == Self.left(rest), "device \(device) \(requests)")
                #expect(rest.contains { ids[$0.number] == claim.id })
                try await later.settleSent(claim)
                for request in rest {
                    let record = try await later.record(ids[request.number])
                    if record.id == claim.id {
                        #expect(record.state == .sent)
                    } else {
                        #expect(record.state == .coalesced && record.carriedBy == claim.id)
                        #expect(record.carrierEnd == .sent(apnsUniqueID: nil))
                    }
                    #expect(try await Self.cancel(record.id, later).isCancelled == false)
                }
            }
            try await Self.expectConserved(counter)
        }
    }

    @Test("Urgency and due time fall back as the payload does", arguments: StoreKind.allCases)
    func urgency(_ kind: StoreKind) async throws {
        try await kind.withCounter { (counter) async throws in
            try await counter.settleSent(try await counter.claimOne(Samples.wake()))
            let later = counter.later(10)
            let carrier = try await later.admitOne(Samples.wake(at: later.now)).id
            let due = try await later.record(carrier).dueAt
            #expect(due > later.now)
            let urgent = try await later.admitOne(Samples.wake(at: later.now, urgency: .urgent)).id
            #expect(try await later.record(carrier).dueAt <= later.now)
            #expect(try await Self.cancel(urgent, later).isCancelled == true)
            let record = try await later.record(carrier)
            #expect(record.dueAt == due && record.urgency == .normal)
            #expect(try await later.claim().claims.isEmpty)
        }
    }

    @Test("Of hundreds that have merged each is cancelled by itself", arguments: StoreKind.allCases)
    func many(_ kind: StoreKind) async throws {
        try await kind.withCounter { (counter) async throws in
            var ids: [WakeID] = []
            for number in 0..<200 {
                ids.append(
                    try await counter.admitOne(Self.wake(number, .union, at: counter.now)).id)
            }
            for number in [0, 5, 199] {
                #expect(try await Self.cancel(ids[number], counter).isCancelled == true)
            }
            let later = counter.later(60)
            let claim = try #require(try await later.claim().claims.first)
            #expect(claim.id == ids[198])
            let numbers = try Self.numbers(claim)
            // What came last is distinguishable, and nothing is lost that was not cancelled.
            #expect(!numbers.contains(199))
            #expect(numbers.isSuperset(of: Set(1..<199).subtracting([5])))
            #expect(try await later.record(ids[100]).carriedBy == ids[198])
            try await Self.expectConserved(counter)
        }
    }

    @Test("What comes back and merges can be cancelled too", arguments: StoreKind.allCases)
    func comingBack(_ kind: StoreKind) async throws {
        try await kind.withCounter { (counter) async throws in
            let first = try await counter.admitOne(Self.wake(1, .union, at: counter.now)).id
            let later = counter.later(60)
            let claim = try #require(try await later.claim().claims.first)
            #expect(claim.id == first)
            let second = try await later.admitOne(Self.wake(2, .union, at: later.now)).id
            try await later.settle(claim, .release)
            #expect(try await later.record(first).carriedBy == second)
            #expect(try await Self.cancel(second, later).isCancelled == true)
            let end = later.later(4_000)
            let again = try #require(try await end.claim().claims.first)
            #expect(again.id == first)
            #expect(try Self.numbers(again) == [1])
            try await Self.expectConserved(counter)
        }
    }

    @Test(
        "A carrier whose latest requests are all cancelled leaves the older ones to be sent",
        arguments: StoreKind.allCases)
    func unnamed(_ kind: StoreKind) async throws {
        try await kind.withCounter { (counter) async throws in
            var ids: [WakeID] = []
            for number in 0..<80 {
                ids.append(
                    try await counter.admitOne(Self.wake(number, .union, at: counter.now)).id)
            }
            // More than the carrier's parts name.
            for id in ids.suffix(MergedPart.maximumWakeCount) {
                #expect(try await Self.cancel(id, counter).isCancelled == true)
            }
            #expect(try await Self.cancel(ids[0], counter).isCancelled == true)
            let heir = ids[80 - MergedPart.maximumWakeCount - 1]
            let later = counter.later(60)
            let claim = try #require(try await later.claim().claims.first)
            #expect(claim.id == heir)
            #expect(try Self.numbers(claim).isSuperset(of: 1...15))
            #expect(try await later.record(ids[1]).carriedBy == heir)
            try await Self.expectConserved(counter)
        }
    }

    @Test(
        "A wake that ends twice is told of once, with its later end", arguments: StoreKind.allCases)
    func twice(_ kind: StoreKind) async throws {
        try await kind.withCounter { (counter) async throws in
            let first = try await counter.admitOne(Self.wake(1, .union, at: counter.now)).id
            let second = try await counter.admitOne(Self.wake(2, .union, at: counter.now)).id
            #expect(try await Self.cancel(first, counter).isCancelled == true)
            let later = counter.later(60)
            try await later.settleSent(try #require(try await later.claim().claims.first))
            let page = try await later.store.perform(ReadOutcomes(after: 0, limit: 10))
            #expect(page.events.map(\.id) == [first, second])
            #expect(page.events.map(\.end) == [.cancelled, .sent(apnsUniqueID: nil)])
            #expect(page.cursor == (try await later.store.perform(FindLastOutcome())))
            let batch = try await later.store.perform(
                ClaimWebhooks(
                    of: Samples.endpoint, at: later.now.advanced(bySeconds: 10),
                    until: later.now.advanced(bySeconds: 60), limit: 10))
            let told = batch.items.compactMap { item -> WakeID? in
                if case .outcome(let record) = item.event { record.id } else { nil }
            }
            #expect(told == [first, second] && batch.backlogCount == 2)
            #expect(batch.droppedCount == 0)
        }
    }

    @Test("A wake that waits for itself again has no outcome yet", arguments: StoreKind.allCases)
    func webhooks(_ kind: StoreKind) async throws {
        func events(_ counter: Counter) async throws -> [WakeID: [WakeEnd?]] {
            let batch = try await counter.store.perform(
                ClaimWebhooks(
                    of: Samples.endpoint, at: counter.now,
                    until: counter.now.advanced(bySeconds: 60), limit: 100))
            try await counter.store.perform(
                SettleWebhooks(
                    batch.items.map { WebhookSettlement(ticket: $0.ticket, effect: .done) }))
            #expect(batch.droppedCount == 0)
            return Dictionary(
                batch.items.compactMap { item in
                    guard case .outcome(let record) = item.event else { return nil }
                    return (record.id, [record.end])
                }, uniquingKeysWith: +)
        }
        try await kind.withCounter { (counter) async throws in
            let first = try await counter.admitOne(Self.wake(1, .union, at: counter.now)).id
            let second = try await counter.admitOne(Self.wake(2, .union, at: counter.now)).id
            #expect(try await Self.cancel(first, counter).isCancelled == true)
            let later = counter.later(60)
            #expect(try await events(later) == [first: [.cancelled]])
            try await later.settleSent(try #require(try await later.claim().claims.first))
            #expect(try await events(later.later(10)) == [second: [.sent(apnsUniqueID: nil)]])
        }
    }
}
