// SPDX-License-Identifier: Apache-2.0

import Gateway
import GatewayTestKit
import StoreTestKit
import Testing
import WakeModel

@Suite("The store's contract: the feed of outcomes")
struct OutcomeFeedContractTests {
    /// The feed behind a cursor, page by page.
    private func feed(
        _ counter: Counter, after cursor: Int64 = 0, limit: Int = 3
    ) async throws -> [OutcomeEvent] {
        var events: [OutcomeEvent] = []
        var cursor = cursor
        while true {
            let page = try await counter.store.perform(ReadOutcomes(after: cursor, limit: limit))
            #expect(page.events.count <= limit && page.cursor >= cursor)
            #expect(page.isFull || page.events.count < limit)
            events += page.events
            cursor = page.cursor
            guard page.isFull else { return events }
        }
    }

    /// Sends to these devices, and settles all of it in one transaction.
    private func send(_ devices: ClosedRange<UInt64>, _ counter: Counter) async throws -> [WakeID] {
        try await counter.admit(devices.map { Samples.wake(at: counter.now, device: $0) })
        let claims = try await counter.claim().claims
        let answer = try await counter.store.perform(
            SettleWakes(
                claims.map {
                    Settlement(
                        ticket: $0.ticket, at: counter.now, attempt: .accepted(apnsUniqueID: nil),
                        effect: .end(.sent(apnsUniqueID: nil)))
                }, under: counter.rules))
        return answer.ended.map(\.id)
    }

    @Test(
        "Each end stands there once, in the order of the transactions",
        arguments: StoreKind.allCases)
    func order(_ kind: StoreKind) async throws {
        try await kind.withCounter { counter in
            #expect(try await counter.store.perform(FindLastOutcome()) == 0)
            #expect(try await feed(counter).isEmpty)
            let first = try await send(1...7, counter)
            let named = try await counter.claimOne(
                Samples.wake(.voip, device: 8, ref: "the-eighth"))
            try await counter.settle(named, .end(.failed(.fateUnknown)), attempt: .abandoned)
            let waiting = try await counter.admitOne(Samples.wake(dueIn: 600, device: 9))
            _ = try await counter.store.perform(
                CancelWake(waiting.id, at: counter.now, under: counter.rules))
            let events = try await feed(counter)
            #expect(events.map(\.id) == first + [named.id, waiting.id])
            #expect(zip(events, events.dropFirst()).allSatisfy { $0.cursor < $1.cursor })
            #expect(events[7].ref?.value == "the-eighth" && events[7].kind == .voip)
            #expect(events[7].end == .failed(.fateUnknown) && events[8].end == .cancelled)
            #expect(events[7].deviceToken == Samples.deviceToken(8))
            #expect(events[0].app == Samples.app && events[0].at == counter.now)
            // The numbers come from the time, as those of other feeds.
            #expect(events[0].cursor >= WakeID.firstNumber(at: counter.now))
            let last = try await counter.store.perform(FindLastOutcome())
            #expect(last == events.last?.cursor)
            // From the middle of a transaction on, with pages of every size.
            for (place, limit) in [(2, 1), (2, 3), (6, 100), (8, 5)] {
                #expect(
                    try await feed(counter, after: events[place].cursor, limit: limit)
                        == Array(events[(place + 1)...]))
            }
        }
    }

    @Test("A clock that is set back takes no cursor back", arguments: StoreKind.allCases)
    func clockSetBack(_ kind: StoreKind) async throws {
        try await kind.withCounter { counter in
            let later = counter.later(3_600)
            _ = try await send(1...2, later)
            _ = try await send(3...4, counter)
            let events = try await feed(counter)
            #expect(events.count == 4)
            #expect(zip(events, events.dropFirst()).allSatisfy { $0.cursor < $1.cursor })
        }
    }

    @Test("Old ones go, and the cursors behind them go on", arguments: StoreKind.allCases)
    func retention(_ kind: StoreKind) async throws {
        try await kind.withCounter { counter in
            _ = try await send(1...3, counter)
            let held = try await counter.store.perform(FindLastOutcome())
            let later = counter.later(10 * 86_400)
            let order = PruneOrder(
                now: later.now, wakesBefore: later.now.advanced(bySeconds: -86_400),
                devicesBefore: later.now.advanced(bySeconds: -2 * 86_400),
                webhooks: counter.rules.webhooks, limit: 100)
            _ = try await counter.store.prune(order)
            #expect(try await feed(counter).isEmpty)
            #expect(try await counter.store.perform(FindLastOutcome()) >= held)
            let next = try await send(4...5, later)
            #expect(try await feed(counter).map(\.id) == next)
            #expect(try await feed(counter, after: held).map(\.id) == next)
        }
    }

    @Test("Which wakes have ended is found for many at once", arguments: StoreKind.allCases)
    func ended(_ kind: StoreKind) async throws {
        try await kind.withCounter { counter in
            let sent = try await send(1...3, counter)
            let waiting = try await counter.admitOne(Samples.wake(dueIn: 600, device: 4))
            let unknown = Samples.freshID()
            let numbers = Set((sent + [waiting.id, unknown]).map(\.number))
            let ended = try await counter.store.perform(FindEnded(among: numbers))
            #expect(ended == numbers.subtracting([waiting.id.number]))
        }
    }
}
