// SPDX-License-Identifier: Apache-2.0

import WakeBudget
import WakeModel

extension WakeRecord {
    /// Why a wake that has expired was not sent, as a sentence: at its deadline, or as soon as it
    /// was known that nothing would be sent before that.
    package var expiryExplanation: String {
        let isEarly = Self.isBefore(endedAt, deadline)
        let obstacles = isEarly ? nil : holds.obstacleWords
        guard let attempt = attempts.last, let failure = attempt.failure else {
            if case .expired = decision { return decision.message(until: deadline) }
            return isEarly
                ? "The budget of its device did not let it be sent before its deadline."
                : holds.expiryExplanation ?? "Its deadline came before APNs accepted it."
        }
        guard !Self.isBefore(attempt.endedAt, endedAt) else {
            return isEarly
                ? "\(failure), and the budget of its device did not let it be sent again before "
                    + "its deadline."
                : "\(failure), and its deadline came "
                    + (obstacles.map { "while \($0)." } ?? "before it was sent again.")
        }
        let next = "another attempt would have come after its deadline."
        guard case .refused(let refusal) = attempt.result,
            case .later(let backoff) = refusal.advice.retry
        else { return "\(failure), and \(next)" }
        let pause = backoff.initialSeconds
        return "\(failure). After that a push is not sent again for "
            + "\(pause % 60 == 0 ? "\(pause / 60) min" : "\(pause) s") at least, and \(next)"
    }

    /// Whether it is more than a second before: budgets are counted in whole seconds.
    private static func isBefore(_ instant: WallInstant?, _ other: WallInstant?) -> Bool {
        guard let instant, let other else { return false }
        return other.milliseconds(since: instant) > 1_000
    }
}

extension AttemptRecord {
    /// How it failed, as a clause; `nil` if APNs accepted it.
    fileprivate var failure: String? {
        switch result {
        case .accepted: nil
        case .refused(let refusal): "APNs answered \(refusal.words)"
        case .unanswered: "The last attempt had no answer"
        case .abandoned: "The last attempt was cut short by the gateway's end"
        }
    }
}

extension DelayReasons {
    /// Why a wake that has expired was not sent, where its whole queue did not send at its
    /// deadline.
    package var expiryExplanation: String? {
        obstacleWords.map { "Its deadline came while \($0)." }
    }

    /// What kept its queue from sending, as clauses; `nil` if nothing did.
    fileprivate var obstacleWords: String? {
        let words = all.compactMap(\.obstacleWords)
        guard let last = words.last else { return nil }
        return words.count == 1
            ? last : words.dropLast().joined(separator: ", ") + " and " + last
    }
}

extension DelayReason {
    /// What kept a whole queue from sending, in retrospect; `nil` for what concerns one wake.
    fileprivate var obstacleWords: String? {
        switch self {
        case .paused: "the app was paused"
        case .held: "its queue was held, because APNs refused what it sent"
        case .unresponsive: "APNs did not answer"
        case .stopping: "the gateway was shutting down"
        case .spacing, .unconfirmed, .foreground, .hourly, .daily, .unused, .lowPowerMode,
            .lowBattery, .forceQuit, .spread, .backOff, .leasedElsewhere, .rate:
            nil
        }
    }
}
