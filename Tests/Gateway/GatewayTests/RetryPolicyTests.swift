// SPDX-License-Identifier: Apache-2.0

import Gateway
import GatewayTestKit
import Testing
import WakeModel

@Suite("What follows from the result of an attempt")
struct RetryPolicyTests {
    private let now = Samples.start
    private let policy = RetryPolicy(limits: GatewayLimits())

    private func claim(
        _ kind: WakeKind, fence: Int64 = 1, tries: Int = 0, lifeSeconds: Int64 = 86_400,
        previous: RejectionReason? = nil, collapseID: CollapseID? = nil
    ) -> Claim {
        let request = Samples.request(kind)
        return Claim(
            ticket: Claim.Ticket(id: Samples.freshID(), fence: fence), app: Samples.app,
            kind: kind, deviceToken: request.deviceToken, payload: request.payload,
            expiration: .immediately, collapseID: collapseID,
            deadline: now.advanced(bySeconds: lifeSeconds), dueAt: now, tries: tries,
            previousReason: previous,
            claimedAt: now, leaseUntil: now.advanced(bySeconds: 120))
    }

    private func decide(
        _ claim: Claim, _ result: Result<PushOutcome, SendFailure>, jitter: Double = 0
    ) -> RetryPolicy.Decision {
        policy.decide(claim, result, now: now, jitter: jitter)
    }

    @Test("An accepted push is sent")
    func accepted() {
        let decision = decide(claim(.voip), Samples.accepted)
        #expect(decision.settlement.effect == .end(.sent(apnsUniqueID: nil)))
        #expect(decision.signal == .answered)
    }

    @Test("An unknown fate ends a VoIP wake, and a background wake is charged and tried again")
    func unknown() {
        #expect(
            decide(claim(.voip), Samples.unknown).settlement.effect
                == .end(.failed(.fateUnknown)))
        #expect(
            decide(claim(.background), Samples.unknown).settlement.effect
                == .retry(at: now.advanced(byMilliseconds: 100), charged: true))
    }

    @Test("An unknown fate ends what must not come twice; a plain push is otherwise sent again")
    func unknownOfPlain() throws {
        let id = try CollapseID("score")
        for kind in WakeKind.allCases where kind.discipline == .plain {
            for collapseID in [nil, id] {
                let claim = claim(kind, collapseID: collapseID)
                #expect(
                    decide(claim, Samples.unknown).settlement.effect
                        == (kind.mayRepeat(collapseID: collapseID)
                            ? .retry(at: now.advanced(byMilliseconds: 100), charged: true)
                            : .end(.failed(.fateUnknown))))
            }
        }
    }

    @Test(
        "What was not sent goes again, uncharged, after a pause that doubles; a call's is short",
        arguments: zip(
            [1, 2, 5, 10, 11, 1_000_000] as [Int64],
            [100, 200, 1_600, 51_200, 60_000, 60_000] as [Int64]))
    func notSent(fence: Int64, milliseconds: Int64) {
        for kind in WakeKind.allCases {
            let effect = decide(claim(kind, fence: fence), Samples.notSent).settlement.effect
            let pause = kind.isImmediate ? min(milliseconds, 1_000) : milliseconds
            #expect(effect == .retry(at: now.advanced(byMilliseconds: pause), charged: false))
        }
    }

    @Test("A call that cannot be sent is tried again until the last second before its deadline")
    func callNotSent() {
        var (at, fence) = (now, 1 as Int64)
        while case .retry(at: let due, charged: false) = policy.decide(
            claim(.voip, fence: fence, lifeSeconds: 10), Samples.notSent, now: at, jitter: 1
        ).settlement.effect {
            (at, fence) = (due, fence + 1)
        }
        #expect(at >= now.advanced(byMilliseconds: 8_800))
    }

    @Test("A retry that would come at or after the deadline ends the wake as expired at once")
    func tooLate() {
        let effect = decide(
            claim(.voip, lifeSeconds: 10), Samples.refusal(503, .serviceUnavailable)
        ).settlement.effect
        #expect(effect == .end(.expired))
    }

    @Test("Charged tries are limited; the last one ends the wake as failed")
    func triesUsedUp() {
        let last = GatewayLimits().triesCount - 1
        #expect(
            decide(claim(.background, tries: last), Samples.unknown).settlement.effect
                == .end(.failed(.triesUsedUp)))
        #expect(
            policy.settlementWithoutSending(
                claim(.background, tries: last + 1), now: now, sendSeconds: 30)?.effect
                == .end(.failed(.triesUsedUp)))
        #expect(
            policy.settlementWithoutSending(
                claim(.background, tries: last), now: now, sendSeconds: 30) == nil)
    }

    @Test("A claim whose deadline has come is not sent")
    func deadline() {
        #expect(
            policy.settlementWithoutSending(
                claim(.voip, lifeSeconds: 0), now: now, sendSeconds: 30)?.effect
                == .end(.expired))
    }

    @Test("A claim whose lease would end before its push is given back")
    func lapsedLease() {
        for kind in WakeKind.allCases {
            let claim = claim(kind)
            let end = claim.leaseUntil.advanced(bySeconds: -30)
            #expect(
                policy.settlementWithoutSending(claim, now: end, sendSeconds: 30)
                    == Settlement(ticket: claim.ticket, at: end, attempt: nil, effect: .release))
            let before = end.advanced(byMilliseconds: -1)
            #expect(policy.settlementWithoutSending(claim, now: before, sendSeconds: 30) == nil)
        }
    }

    @Test("5xx waits a quarter of an hour, doubling to four hours, and jitter only lengthens it")
    func serviceTrouble() {
        for (tries, seconds) in [(0, 900), (1, 1_800), (9, 14_400)] as [(Int, Int64)] {
            let trouble = Samples.refusal(500, .internalServerError)
            #expect(
                decide(claim(.background, tries: tries), trouble).settlement.effect
                    == .retry(at: now.advanced(bySeconds: seconds), charged: true))
            #expect(
                decide(claim(.background, tries: tries), trouble, jitter: 0.5).settlement.effect
                    == .retry(at: now.advanced(bySeconds: seconds * 11 / 10), charged: true))
        }
    }

    @Test(
        "A dead token makes a wake undeliverable",
        arguments: [
            (410, RejectionReason.unregistered), (410, .expiredToken),
            (400, .deviceTokenNotForTopic), (410, RejectionReason(rawValue: "New")),
        ])
    func undeliverable(status: Int, reason: RejectionReason) {
        let decision = decide(claim(.background), Samples.refusal(status, reason))
        #expect(
            decision.settlement.effect
                == .end(.undeliverable(Refusal(status: status, reason: reason))))
        #expect(decision.signal == .answered)
    }

    @Test(
        "A refusal that only a change mends ends the wake as rejected",
        arguments: [
            (400, RejectionReason.badDeviceToken), (413, .payloadTooLarge),
            (400, .badExpirationDate), (404, .badPath), (418, RejectionReason(rawValue: "New")),
        ])
    func rejected(status: Int, reason: RejectionReason) {
        let decision = decide(claim(.background), Samples.refusal(status, reason))
        #expect(
            decision.settlement.effect
                == .end(.rejected(Refusal(status: status, reason: reason))))
    }

    @Test(
        "A refused key or topic holds the queue, and the wake keeps its place",
        arguments: [
            (403, RejectionReason.invalidProviderToken), (403, .badEnvironmentKeyInToken),
            (403, .missingProviderToken), (400, .topicDisallowed), (400, .badTopic),
        ])
    func blocked(status: Int, reason: RejectionReason) {
        let decision = decide(claim(.background), Samples.refusal(status, reason))
        #expect(decision.settlement.effect == .retry(at: now, charged: false))
        guard case .blocked(let words, nil) = decision.signal else {
            Issue.record("The queue is not held for \(reason).")
            return
        }
        #expect(words.contains(reason.rawValue))
    }

    @Test("Too many token updates hold the queue for twenty minutes at least")
    func tokenUpdates() {
        let decision = decide(
            claim(.background), Samples.refusal(429, .tooManyProviderTokenUpdates))
        guard case .blocked(_, 1_200) = decision.signal else {
            Issue.record("The queue is not held for twenty minutes.")
            return
        }
    }

    @Test("An expired provider token is tried once more at once; the second time holds the queue")
    func expiredProviderToken() {
        let refusal = Samples.refusal(403, .expiredProviderToken)
        let first = decide(claim(.background), refusal)
        #expect(first.signal == .answered)
        #expect(
            first.settlement.effect
                == .retry(at: now.advanced(byMilliseconds: 100), charged: false))
        let second = decide(claim(.background, previous: .expiredProviderToken), refusal)
        guard case .blocked = second.signal else {
            Issue.record("The second refusal does not hold the queue.")
            return
        }
    }

    @Test("Every row of Apple's table ends the wake, retries it later, or holds the queue")
    func wholeTable() {
        for entry in RejectionReason.table {
            let decision = decide(claim(.background), Samples.refusal(entry.status, entry.reason))
            if case .retry(let due, _) = decision.settlement.effect, due == now {
                guard case .blocked = decision.signal else {
                    Issue.record("\(entry.reason) is retried at once with nothing to hold it.")
                    continue
                }
            }
            if entry.advice.retry == .never {
                guard case .end = decision.settlement.effect else {
                    Issue.record("\(entry.reason) must never be sent again.")
                    continue
                }
            }
        }
    }
}
