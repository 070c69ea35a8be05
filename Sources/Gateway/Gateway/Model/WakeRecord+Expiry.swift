// SPDX-License-Identifier: Apache-2.0

import WakeBudget
import WakeModel

extension WakeRecord {
    /// Why a wake that has expired was not sent, as a sentence: at its deadline, or as soon as it
    /// was known that nothing would be sent before that.
    package var expiryExplanation: String {
        let isEarly = Self.isBefore(endedAt, deadline)
        let obstacles = isEarly ? [] : holds.all.compactMap(\.obstacleWords)
        guard let attempt = attempts.last, let failure = attempt.failure else {
            if case .expired = decision { return decision.message(until: deadline) }
            return isEarly
                ? "The budget of its device did not let it be sent before its deadline."
                : obstacles.isEmpty
                    ? "Its deadline came before APNs accepted it."
                    : "Its deadline came while \(Self.list(obstacles))."
        }
        guard !Self.isBefore(attempt.endedAt, endedAt) else {
            return isEarly
                ? "\(failure), and the budget of its device did not let it be sent again before "
                    + "its deadline."
                : "\(failure), and its deadline came "
                    + (obstacles.isEmpty
                        ? "before it was sent again." : "while \(Self.list(obstacles)).")
        }
        let next = "another attempt would have come after its deadline."
        guard case .refused(let refusal) = attempt.result,
            case .later(let backoff) = refusal.advice.retry
        else { return "\(failure), and \(next)" }
        let pause = backoff.initialSeconds
        return "\(failure). After that a push is not sent again for "
            + "\(pause % 60 == 0 ? "\(pause / 60) min" : "\(pause) s") at least, and \(next)"
    }

    private static func list(_ words: [String]) -> String {
        words.count < 2
            ? words.joined()
            : words.dropLast().joined(separator: ", ") + " and " + (words.last ?? "")
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
