// SPDX-License-Identifier: Apache-2.0

import Gateway
import GatewayTestKit
import StoreTestKit
import Testing
import WakeBudget
import WakeModel

@Suite("What every store keeps to: admission and budget")
struct AdmissionContractTests {
    private let grant = ClaimGrant(
        queues: Set(Samples.queues), background: 10, calls: 10, leaseSeconds: 60)

    @Test(
        "The first wake of a device may go; the next waits for the spacing",
        arguments: StoreKind.allCases)
    func spacing(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            let first = try await connection.admitOne(Samples.wake())
            #expect(first.decision == .send)
            try await connection.settleSent(try #require(try await connection.claim().claims.first))
            let second = try await connection.admitOne(Samples.wake())
            guard case .deferred(let until, let holds) = second.decision else {
                Issue.record("It does not wait: \(second.decision).")
                return
            }
            #expect(until == connection.now.advanced(bySeconds: 900))
            #expect(holds == DelayReasons(.spacing))
            #expect(try await connection.later(899).claim().claims.isEmpty)
            #expect(try await connection.later(900).claim().claims.map(\.id) == [second.id])
        }
    }

    // It was deferred without a reason.
    @Test(
        "An urgent wake within the second of a send waits for its end, for the spacing",
        arguments: StoreKind.allCases)
    func sameSecond(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            var early = connection
            early.now = connection.now.advanced(byMilliseconds: 200)
            try await early.settleSent(try await early.claimOne(Samples.wake()))
            early.now = connection.now.advanced(byMilliseconds: 500)
            let urgent = try await early.admitOne(Samples.wake(at: early.now, urgency: .urgent))
            let end = connection.now.advanced(bySeconds: 1)
            #expect(urgent.decision == .deferred(until: end, because: DelayReasons(.spacing)))
            #expect(try await early.claim().claims.isEmpty)
            #expect(try await connection.later(1).claim().claims.map(\.id) == [urgent.id])
        }
    }

    @Test(
        "A grant claims in the same transaction, as far as it goes", arguments: StoreKind.allCases)
    func grants(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            let small = ClaimGrant(
                queues: Set(Samples.queues), background: 2, calls: 1, leaseSeconds: 60)
            let wakes =
                (1...4).map { Samples.wake(device: $0) }
                + (1...2).map { Samples.wake(.voip, device: $0) }
            let answer = try await connection.admit(wakes, grant: small)
            #expect(answer.claims.map(\.kind) == [.background, .background, .voip])
            #expect(answer.claims.map(\.payload).allSatisfy { !$0.isEmpty })
            #expect(answer.nextDue == connection.now)
            #expect(try await connection.claim().claims.count == 3)
            for claim in answer.claims {
                #expect(try await connection.settleSent(claim).verdicts == [.applied])
                #expect(try await connection.record(claim.id).state == .sent)
            }
            // What a grant sent is charged like everything else.
            let next = try await connection.admit([Samples.wake(device: 1)], grant: grant)
            #expect(next.claims.isEmpty)
            let foreign = ClaimGrant(
                queues: [WakeQueueKey(app: Samples.otherApp, kind: .background)], background: 9,
                calls: 9,
                leaseSeconds: 60)
            #expect(
                try await connection.admit([Samples.wake(device: 99)], grant: foreign).claims
                    .isEmpty)
        }
    }

    @Test("A wake that meets a waiting one replaces what it carries", arguments: StoreKind.allCases)
    func replacing(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            let first = try await connection.admitOne(Samples.wake())
            let answer = try await connection.admit([
                Samples.wake(payload: #"{"aps":{"content-available":1},"note":"new"}"#)
            ])
            guard case .admitted(let second) = answer.admissions[0],
                case .coalesced(let carrier, .replace, let until, let holds) = second.decision
            else {
                Issue.record("It was not merged: \(answer.admissions).")
                return
            }
            #expect(carrier == first.id && until == connection.now && holds.isEmpty)
            #expect(answer.ended.map(\.end) == [.coalesced(into: first.id)])
            let claim = try #require(try await connection.claim().claims.first)
            #expect(claim.id == first.id)
            #expect(String(decoding: claim.payload, as: UTF8.self).contains("new"))
            try await connection.settleSent(claim)
            let record = try await connection.record(second.id)
            #expect(record.state == .coalesced && record.carriedBy == first.id)
            #expect(record.carrierEnd == .sent(apnsUniqueID: nil))
            #expect(record.decision == second.decision)
        }
    }

    @Test("A union sends the keys of both, and keeps the due time", arguments: StoreKind.allCases)
    func uniting(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            try await connection.settleSent(try await connection.claimOne(Samples.wake()))
            let waiting = try await connection.admitOne(
                Samples.wake(payload: #"{"aps":{"content-available":1},"a":1,"b":1}"#))
            let later = connection.later(600)
            _ = try await later.admitOne(
                Samples.wake(
                    at: later.now, payload: #"{"aps":{"content-available":1},"b":2}"#,
                    coalescing: .union))
            let claim = try #require(try await connection.later(900).claim().claims.first)
            #expect(claim.id == waiting.id)
            #expect(
                String(decoding: claim.payload, as: UTF8.self)
                    == #"{"a":1,"aps":{"content-available":1},"b":2}"#)
        }
    }

    @Test(
        "A union that would be too long for a push replaces, and says so",
        arguments: StoreKind.allCases)
    func longUnion(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            try await connection.settleSent(try await connection.claimOne(Samples.wake()))
            func payload(_ key: String) -> String {
                let text = String(repeating: "x", count: 2_500)
                return #"{"aps":{"content-available":1},"\#(key)":"\#(text)"}"#
            }
            let waiting = try await connection.admitOne(Samples.wake(payload: payload("a")))
            let merged = try await connection.admitOne(
                Samples.wake(payload: payload("b"), coalescing: .union))
            guard case .coalesced(waiting.id, .replace, _, _) = merged.decision else {
                Issue.record("\(merged.decision)")
                return
            }
            let small = try await connection.admitOne(
                Samples.wake(
                    payload: #"{"aps":{"content-available":1},"c":1}"#, coalescing: .union))
            guard case .coalesced(waiting.id, .union, _, _) = small.decision else {
                Issue.record("\(small.decision)")
                return
            }
            let claim = try #require(try await connection.later(900).claim().claims.first)
            let sent = String(decoding: claim.payload, as: UTF8.self)
            #expect(!sent.contains(#""a""#) && sent.contains(#""b""#) && sent.contains(#""c""#))
        }
    }

    @Test("What cannot go before its expiry ends with its admission", arguments: StoreKind.allCases)
    func expiring(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            try await connection.settleSent(try await connection.claimOne(Samples.wake()))
            let answer = try await connection.admit([
                Samples.wake(expiration: .at(connection.now.advanced(bySeconds: 60)))
            ])
            guard case .admitted(let admitted) = answer.admissions[0],
                case .expired(let earliest, let holds) = admitted.decision
            else {
                Issue.record("It did not expire: \(answer.admissions).")
                return
            }
            #expect(
                earliest == connection.now.advanced(bySeconds: 900)
                    && holds == DelayReasons(.spacing))
            #expect(answer.ended.map(\.end) == [.expired])
            #expect(try await connection.record(admitted.id).end == .expired)
        }
    }

    @Test("Calls go by themselves; the same call is the same wake", arguments: StoreKind.allCases)
    func calls(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            let first = try await connection.admitOne(Samples.wake(.voip, call: 1))
            #expect(first.decision == .send)
            #expect(first.deadline == connection.now.advanced(bySeconds: 10))
            let other = try await connection.admitOne(Samples.wake(.voip, call: 2))
            #expect(other.decision == .send)
            let again = try await connection.admitOne(Samples.wake(.voip, call: 1))
            #expect(again.id == first.id && again.decision == .sameCall(first.id))
            #expect(again.isRepeated)
            #expect(try await connection.store.perform(CountWakes()).accepted == 2)
            #expect(try await connection.claim().claims.map(\.id) == [first.id, other.id])
        }
    }

    @Test("More than ten calls an hour to one device are refused", arguments: StoreKind.allCases)
    func misuse(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            for call in 1...10 as ClosedRange<UInt64> {
                let admitted = try await connection.admitOne(Samples.wake(.voip, call: call))
                #expect(admitted.decision == .send)
            }
            let eleventh = try await connection.admitOne(Samples.wake(.voip, call: 11))
            guard case .suppressed(.tooManyCalls) = eleventh.decision else {
                Issue.record("It was let through: \(eleventh.decision).")
                return
            }
            let end = try await connection.record(eleventh.id).end
            guard case .suppressed(.tooManyCalls) = end else {
                Issue.record("Its end is \(String(describing: end)).")
                return
            }
        }
    }

    @Test(
        "A spread wake waits for its place, and a plain one does not wait with it",
        arguments: StoreKind.allCases)
    func spread(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            let spread = try await connection.admitOne(Samples.wake(dueIn: 300))
            #expect(
                spread.decision
                    == .deferred(
                        until: connection.now.advanced(bySeconds: 300),
                        because: DelayReasons(.spread)))
            #expect(try await connection.later(299).claim().claims.isEmpty)
            let plain = try await connection.later(10).admitOne(
                Samples.wake(at: connection.now.advanced(bySeconds: 10)))
            guard case .coalesced(let carrier, _, let until, _) = plain.decision else {
                Issue.record("It was not merged: \(plain.decision).")
                return
            }
            #expect(carrier == spread.id && until == connection.now.advanced(bySeconds: 10))
            #expect(try await connection.later(10).claim().claims.map(\.id) == [spread.id])
        }
    }

    // MARK: Idempotency

    private func mark(_ key: UInt8, _ request: UInt8, seconds: Int64 = 60) -> IdempotencyKey {
        IdempotencyKey(
            key: Array(repeating: key, count: 32), request: Array(repeating: request, count: 32),
            expiresAt: Samples.start.advanced(bySeconds: seconds))
    }

    @Test(
        "The same key and body is the same answer; another body is a conflict",
        arguments: StoreKind.allCases)
    func idempotency(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            let answer = try await connection.store.perform(
                AdmitWakes(
                    [
                        Samples.wake().with(mark(1, 1)),
                        Samples.wake().with(mark(1, 1)),
                        Samples.wake().with(mark(1, 2)),
                    ], grant: nil, under: connection.rules))
            guard case .admitted(let first) = answer.admissions[0],
                case .admitted(let again) = answer.admissions[1]
            else {
                Issue.record("They were not taken: \(answer.admissions).")
                return
            }
            #expect(!first.isRepeated && again.isRepeated)
            #expect(again.id == first.id && again.decision == first.decision)
            #expect(answer.admissions[2] == .idempotencyConflict)
            #expect(try await connection.store.perform(RecountWakes()).accepted == 1)
        }
    }

    @Test(
        "A repetition is answered as the first was, whatever became of the wake since",
        arguments: StoreKind.allCases)
    func idempotentAnswer(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            func ask(
                _ wakes: [WakeSubmission], _ keys: [UInt8]
            ) async throws -> [AdmittedWake] {
                let answer = try await connection.store.perform(
                    AdmitWakes(
                        zip(wakes, keys).map {
                            $0.with(mark($1, $1, seconds: 100_000))
                        }, grant: nil, under: connection.rules))
                return answer.admissions.compactMap {
                    if case .admitted(let wake) = $0 { wake } else { nil }
                }
            }
            // The second wake changes the deadline of the first, which carries it; the last is a
            // call that was asked for before.
            let expiry = connection.now.advanced(bySeconds: 900)
            let wakes = [
                Samples.wake(dueIn: 60, expiration: .at(expiry)), Samples.wake(dueIn: 60),
                Samples.wake(.voip, call: 1), Samples.wake(.voip, call: 1),
            ]
            let first = try await ask(wakes, [1, 2, 3, 4])
            #expect(first.map(\.decision.word) == ["deferred", "coalesced", "send", "same-call"])
            let again = try await ask(wakes, [1, 2, 3, 4])
            for (one, other) in zip(first, again) {
                #expect(other.isRepeated && other.id == one.id && other.decision == one.decision)
                #expect(other.acceptedAt == one.acceptedAt && other.deadline == one.deadline)
            }
            #expect(again.count == first.count)
            #expect(try await connection.record(first[0].id).deadline != first[0].deadline)

            // In one call: a wake that merges between two with the same key.
            let other = connection.now.advanced(bySeconds: 700)
            let mixed = try await ask(
                [
                    Samples.wake(dueIn: 60, device: 9, expiration: .at(expiry)),
                    Samples.wake(dueIn: 60, device: 9, expiration: .at(other)),
                    Samples.wake(dueIn: 60, device: 9, expiration: .at(expiry)),
                ], [6, 7, 6])
            #expect(mixed[2].deadline == mixed[0].deadline && mixed[2].isRepeated)
            #expect(mixed[2].decision == mixed[0].decision)

            // The wake has had its time, the key has not.
            _ = try await connection.store.perform(
                CancelWake(
                    first[0].id, at: connection.now, under: connection.rules))
            let later = connection.now.advanced(bySeconds: 10)
            let order = PruneOrder(
                now: later, wakesBefore: later, devicesBefore: later, webhooks: [], limit: 100)
            _ = try await connection.store.prune(order)
            #expect(try await connection.store.perform(FindWake(first[0].id)) == nil)
            #expect(try await ask([wakes[0]], [1]) == [again[0]])
        }
    }

    @Test("A key is free again when its time is over", arguments: StoreKind.allCases)
    func idempotencyExpires(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            _ = try await connection.store.perform(
                AdmitWakes(
                    [Samples.wake(device: 1).with(mark(1, 1))],
                    grant: nil, under: connection.rules))
            let later = connection.later(60)
            let answer = try await later.store.perform(
                AdmitWakes(
                    [
                        Samples.wake(at: later.now, device: 2).with(mark(1, 2, seconds: 120))
                    ], grant: nil, under: connection.rules))
            guard case .admitted(let admitted) = answer.admissions[0] else {
                Issue.record("The key is not free: \(answer.admissions).")
                return
            }
            #expect(!admitted.isRepeated)
            let order = PruneOrder(
                now: connection.now.advanced(bySeconds: 120), wakesBefore: connection.now,
                devicesBefore: connection.now, webhooks: [], limit: 10)
            #expect(try await connection.store.prune(order).marks == 1)
        }
    }
}
