// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// Decides on the result of an attempt, by facts §3.3. Pure.
public struct RetryPolicy: Hashable, Sendable {
    /// The meaning of a result for the queue, in addition to the one wake.
    public enum QueueSignal: Hashable, Sendable {
        /// APNs answered, and accepts key and topic.
        case answered
        /// No answer, with the failure as a sentence; nothing is known.
        case unanswered(String)
        /// APNs refuses all pushes of this queue. `pauseSeconds` is the least time to wait, when
        /// the answer implies one.
        case blocked(reason: String, pauseSeconds: Int?)
    }

    /// One decision.
    public struct Decision: Hashable, Sendable {
        /// What is recorded.
        public let settlement: Settlement
        /// The meaning for the queue.
        public let signal: QueueSignal
    }

    /// Delays are lengthened by up to this fraction, so that wakes that failed together are not
    /// retried together. Never shortened: Apple's 15 minutes are a minimum.
    public static let jitterPart = 0.2

    /// The limits that apply.
    public let limits: GatewayLimits

    /// Creates a policy within these limits.
    public init(limits: GatewayLimits) { self.limits = limits }

    /// The settlement of a claimed wake that must not be sent after all; `nil` when it may be.
    /// `sendSeconds` is the timeout of the push.
    public func settlementWithoutSending(
        _ claim: Claim, now: WallInstant, sendSeconds: Int
    ) -> Settlement? {
        if claim.deadline <= now { return ended(claim, .expired, nil, now) }
        if claim.tries >= limits.triesCount {
            return ended(claim, .failed(.triesUsedUp), nil, now)
        }
        // A lease begins with the acceptance, and its transaction may have taken so long that the
        // push could outlast it. Another gateway may have the wake by then, so it is not sent under
        // this lease; the fencing token decides whether it is queued again.
        if claim.leaseUntil <= now.advanced(bySeconds: Int64(sendSeconds)) {
            return Settlement(ticket: claim.ticket, at: now, attempt: nil, effect: .release)
        }
        return nil
    }

    /// Decides on one result. `jitter` is a random number from 0 to 1.
    public func decide(
        _ claim: Claim, _ result: Result<PushOutcome, SendFailure>, now: WallInstant,
        jitter: Double
    ) -> Decision {
        switch result {
        case .success(.accepted(let acceptance)):
            let end = WakeEnd.sent(apnsUniqueID: acceptance.apnsUniqueID)
            let attempt = AttemptResult.accepted(apnsUniqueID: acceptance.apnsUniqueID)
            return Decision(settlement: ended(claim, end, attempt, now), signal: .answered)
        case .success(.rejected(let rejection)):
            return decide(claim, rejection, now: now, jitter: jitter)
        case .failure(let failure):
            let settlement = settle(claim, failure, now: now, jitter: jitter)
            return Decision(settlement: settlement, signal: .unanswered(failure.description))
        }
    }

    // MARK: No answer

    private func settle(
        _ claim: Claim, _ failure: SendFailure, now: WallInstant, jitter: Double
    ) -> Settlement {
        let attempt = AttemptResult.unanswered(failure)
        if failure.certainty == .unknown && !claim.mayRepeat {
            return ended(claim, .failed(.fateUnknown), attempt, now)
        }
        return retried(
            claim, attempt, now, afterMilliseconds: transportPause(claim),
            charged: failure.certainty == .unknown, jitter: jitter)
    }

    // MARK: Refusals

    private func decide(
        _ claim: Claim, _ rejection: PushOutcome.Rejection, now: WallInstant, jitter: Double
    ) -> Decision {
        let advice = rejection.advice
        let refusal = Refusal(rejection)
        let attempt = AttemptResult.refused(refusal)
        let repeatsExpiredToken =
            advice.retry == .onceWithNewProviderToken && claim.previousReason == rejection.reason

        if let pause = minimumPause(advice, repeatsExpiredToken: repeatsExpiredToken) {
            // The wake is not the cause. It stays due; the queue's hold delays it.
            let settlement =
                advice.retry == .never
                ? ended(claim, end(refusal, advice), attempt, now)
                : retried(claim, attempt, now, afterMilliseconds: 0, charged: false, jitter: 0)
            let reason = "APNs refused it with \(rejection.words). \(advice.remedy)"
            return Decision(
                settlement: settlement,
                signal: .blocked(reason: reason, pauseSeconds: pause.seconds))
        }
        let settlement =
            switch advice.retry {
            case .never, .afterFix:
                ended(claim, end(refusal, advice), attempt, now)
            case .nowOnAnotherConnection, .onceWithNewProviderToken:
                retried(
                    claim, attempt, now, afterMilliseconds: transportPause(claim), charged: false,
                    jitter: jitter)
            case .later(let backoff):
                retried(
                    claim, attempt, now,
                    afterMilliseconds: 1000
                        * Int64(backoff.delaySeconds(attempt: claim.tries + 1)),
                    charged: true, jitter: jitter)
            }
        return Decision(settlement: settlement, signal: .answered)
    }

    /// The least pause of a held queue; without seconds it is the usual one.
    private struct MinimumPause {
        let seconds: Int?
    }

    /// The pause for a refusal that concerns all pushes of the queue: a bad key, a topic that is
    /// not allowed, a provider token that APNs does not accept. `nil` for other refusals.
    private func minimumPause(
        _ advice: RejectionReason.Advice, repeatsExpiredToken: Bool
    ) -> MinimumPause? {
        switch (advice.scope, advice.retry) {
        case (.key, _), (.topic, _): MinimumPause(seconds: nil)
        case (.providerToken, .later(let backoff)):
            MinimumPause(seconds: backoff.initialSeconds)
        case (.providerToken, _) where repeatsExpiredToken: MinimumPause(seconds: nil)
        default: nil
        }
    }

    private func end(_ refusal: Refusal, _ advice: RejectionReason.Advice) -> WakeEnd {
        switch advice.deviceToken {
        case .deadUnlessRegisteredSince, .deadForTopic: .undeliverable(refusal)
        case .unaffected, .suspectEnvironment: .rejected(refusal)
        }
    }

    // MARK: Settlements

    private func ended(
        _ claim: Claim, _ end: WakeEnd, _ attempt: AttemptResult?, _ now: WallInstant
    ) -> Settlement {
        Settlement(ticket: claim.ticket, at: now, attempt: attempt, effect: .end(end))
    }

    /// A retry, unless the tries are used up or the deadline would come first: a wake that cannot
    /// be sent in time ends as soon as that is known.
    private func retried(
        _ claim: Claim, _ attempt: AttemptResult, _ now: WallInstant, afterMilliseconds: Int64,
        charged: Bool, jitter: Double
    ) -> Settlement {
        if charged && claim.tries + 1 >= limits.triesCount {
            return ended(claim, .failed(.triesUsedUp), attempt, now)
        }
        let lengthened = Double(afterMilliseconds) * (1 + Self.jitterPart * jitter)
        let due = now.advanced(byMilliseconds: Int64(lengthened))
        if due >= claim.deadline { return ended(claim, .expired, attempt, now) }
        return Settlement(
            ticket: claim.ticket, at: now, attempt: attempt,
            effect: .retry(at: due, charged: charged))
    }

    /// The pause before another connection is tried: short at first, then doubling. The fencing
    /// number counts the claims so far.
    private func transportPause(_ claim: Claim) -> Int64 {
        var pause = Int64(limits.transportPauseMilliseconds)
        let maximum = Int64(
            claim.kind.isImmediate
                ? limits.callPauseMaximumMilliseconds : limits.transportPauseMaximumMilliseconds)
        var claims = claim.ticket.fence
        while claims > 1 && pause < maximum {
            pause *= 2
            claims -= 1
        }
        return min(pause, maximum)
    }
}

extension PushOutcome.Rejection {
    /// Status and reason, as in `403 InvalidProviderToken`.
    var words: String { reason.map { "\(status) \($0)" } ?? "status \(status)" }
}
