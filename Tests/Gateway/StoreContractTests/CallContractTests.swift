// SPDX-License-Identifier: Apache-2.0

import Gateway
import GatewayTestKit
import StoreTestKit
import Testing
import WakeBudget
import WakeModel

/// One call is one ring: whatever lies between two requests for the same call, the second sends
/// nothing.
@Suite("What every store keeps to: the same call")
struct CallContractTests {
    private func call(_ call: UInt64, at now: WallInstant, device: UInt64 = 7) -> WakeSubmission {
        Samples.wake(.voip, at: now, device: device, call: call)
    }

    private func expectSame(
        _ again: AdmittedWake, as first: WakeID, _ location: SourceLocation = #_sourceLocation
    ) {
        #expect(
            again.decision == .sameCall(first) && again.id == first && again.isRepeated,
            sourceLocation: location)
    }

    @Test(
        "However many other calls lie between, in one batch or in several",
        arguments: StoreKind.allCases, [1, 80])
    func manyBetween(_ kind: StoreKind, perBatch: Int) async throws {
        try await kind.withCounter { (connection) async throws in
            let first = try await connection.claimOne(call(1, at: connection.now))
            try await connection.settleSent(first)
            let later = connection.later(2)
            var numbers = (2...81 as ClosedRange<UInt64>)[...]
            while !numbers.isEmpty {
                let batch = numbers.prefix(perBatch)
                numbers = numbers.dropFirst(perBatch)
                try await later.admit(batch.map { call($0, at: later.now) })
            }
            let accepted = try await connection.store.perform(CountWakes()).accepted
            #expect(accepted == 81)
            expectSame(try await later.admitOne(call(1, at: later.now)), as: first.id)
            #expect(try await connection.store.perform(CountWakes()).accepted == accepted)
            #expect(try await later.claim().claims.allSatisfy { $0.id != first.id })
        }
    }

    @Test(
        "The same call in the batch of the first, behind many others", arguments: StoreKind.allCases
    )
    func inOneBatch(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            let numbers = [1] + Array(2...100 as ClosedRange<UInt64>) + [1]
            let answer = try await connection.admit(numbers.map { call($0, at: connection.now) })
            guard case .admitted(let first) = answer.admissions.first,
                case .admitted(let last) = answer.admissions.last
            else {
                Issue.record("They were not taken.")
                return
            }
            expectSame(last, as: first.id)
            #expect(try await connection.claim().claims.count == 10)
        }
    }

    @Test(
        "When the first ended as refused by APNs after a try, it stays one call",
        arguments: StoreKind.allCases)
    func refusedAfterTry(_ kind: StoreKind) async throws {
        let busy = Refusal(status: 503, reason: nil)
        try await kind.withCounter { (connection) async throws in
            let first = try await connection.claimOne(call(1, at: connection.now))
            try await connection.settle(
                first, .retry(at: connection.now, charged: true), attempt: .refused(busy))
            expectSame(try await connection.admitOne(call(1, at: connection.now)), as: first.id)
            #expect(try await connection.claim().claims.map(\.id) == [first.id])
        }
    }

    @Test(
        "When the first certainly was not sent and has ended, the call may be asked for again",
        arguments: StoreKind.allCases)
    func notSent(_ kind: StoreKind) async throws {
        let failure = SendFailure(certainty: .notSent, description: "refused")
        try await kind.withCounter { (connection) async throws in
            let first = try await connection.claimOne(call(1, at: connection.now))
            try await connection.settle(
                first, .retry(at: connection.now, charged: false), attempt: .unanswered(failure))
            expectSame(try await connection.admitOne(call(1, at: connection.now)), as: first.id)
            _ = try await connection.store.perform(
                CancelWake(
                    first.id, at: connection.now, under: connection.rules))
            let again = try await connection.claimOne(call(1, at: connection.now))
            #expect(again.id != first.id)
            expectSame(try await connection.admitOne(call(1, at: connection.now)), as: again.id)
        }
    }

    @Test(
        "One that ends unsent takes back its own count, and not that of the same call's next ring",
        arguments: StoreKind.allCases)
    func lateEnd(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            // The first is over, but not yet recorded as ended, when the call is requested again.
            let first = try await connection.admitOne(call(1, at: connection.now))
            let later = connection.later(11)
            let second = try await later.admitOne(call(1, at: later.now))
            #expect(second.id != first.id && second.decision == .send)
            let claim = try #require(try await later.claim().claims.first)
            #expect(claim.id == second.id)
            try await later.settleSent(claim)
            _ = try await later.store.perform(
                ExpireWakes(at: later.now, limit: 9, under: later.rules))
            #expect(try await later.record(first.id).end == .expired)
            let last = later.later(3)
            expectSame(try await last.admitOne(call(1, at: last.now)), as: second.id)
        }
    }

    @Test(
        "When another call's result, kept from the store or of a clock ahead, is written between",
        arguments: StoreKind.allCases, [0, 400 * 86_400])
    func lateResult(_ kind: StoreKind, ahead: Int64) async throws {
        try await kind.withCounter { (connection) async throws in
            let other = try await connection.claimOne(call(1, at: connection.now))
            let later = connection.later(300)
            let first = try await later.claimOne(call(2, at: later.now))
            try await later.settleSent(first)
            // Its time is that at which it was known, and says nothing of the clock.
            try await connection.later(ahead).settle(other, .end(.expired))
            let last = later.later(2)
            expectSame(try await last.admitOne(call(2, at: last.now)), as: first.id)
            #expect(try await last.claim().claims.isEmpty)
        }
    }

    @Test(
        "When its wake was pruned meanwhile, the phone does not ring again",
        arguments: StoreKind.allCases)
    func pruned(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            let first = try await connection.claimOne(call(1, at: connection.now))
            try await connection.settleSent(first)
            // A clock that leaps ahead has retention remove what is a moment old.
            let order = PruneOrder(
                now: connection.now, wakesBefore: connection.now.advanced(bySeconds: 86_400),
                devicesBefore: WallInstant(millisecondsSinceEpoch: 0), webhooks: [], limit: 100)
            #expect(try await connection.store.prune(order).wakes == 1)
            let later = connection.later(2)
            let again = try await later.admitOne(call(1, at: later.now))
            expectSame(again, as: first.id)
            #expect(again.deadline == connection.now.advanced(bySeconds: 10))
            #expect(try await later.claim().claims.isEmpty)
        }
    }

    @Test(
        "When the device was forgotten meanwhile, the phone does not ring again",
        arguments: StoreKind.allCases)
    func forgotten(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            let first = try await connection.claimOne(call(1, at: connection.now))
            try await connection.settleSent(first)
            _ = try await connection.store.perform(
                ReportDevice(
                    .forget, of: Samples.deviceToken(), in: Samples.queues, makes: false,
                    at: connection.now,
                    under: connection.rules))
            let later = connection.later(2)
            expectSame(try await later.admitOne(call(1, at: later.now)), as: first.id)
        }
    }

    @Test(
        "Forgetting a device ends all calls that wait for it, however many came after",
        arguments: StoreKind.allCases)
    func forgetsAll(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            let waiting = try await connection.admitOne(call(1, at: connection.now)).id
            try await connection.admit(
                (2...100 as ClosedRange<UInt64>).map { call($0, at: connection.now) })
            let outcome = try await connection.store.perform(
                ReportDevice(
                    .forget, of: Samples.deviceToken(), in: Samples.queues, makes: false,
                    at: connection.now,
                    under: connection.rules))
            #expect(outcome.ended.count == 10)
            #expect(outcome.ended.allSatisfy { $0.end == .cancelled })
            #expect(try await connection.record(waiting).end == .cancelled)
            #expect(try await connection.claim().claims.isEmpty)
            // They were not sent, so they do not count.
            #expect(try await connection.admitOne(call(1, at: connection.now)).decision == .send)
        }
    }
}
