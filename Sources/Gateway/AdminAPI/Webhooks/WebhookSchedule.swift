// SPDX-License-Identifier: Apache-2.0

import Gateway
import WakeModel

/// The times of the retries of a webhook. Pure.
enum WebhookSchedule {
    /// The first pause, in seconds; it doubles from there.
    static let firstPauseSeconds: Int64 = 5
    /// The maximum pause, in seconds.
    static let longestPauseSeconds: Int64 = 3_600
    /// The time for which an event is tried, in seconds: three days, so that a weekend loses
    /// nothing.
    static let lifeSeconds: Int64 = 259_200

    /// The maximum pause of a receiver, in seconds: new events wait no longer for one that works
    /// again.
    static let longestReceiverPauseSeconds: Int64 = 60

    /// The pause of a receiver that accepts nothing, after this number of consecutive failures, in
    /// seconds.
    static func receiverPauseSeconds(failures: Int) -> Int64 {
        min(longestReceiverPauseSeconds, pauseSeconds(tries: failures))
    }

    /// The maximum addition to a pause, as a fraction of it, so that events that failed together
    /// are not all retried together.
    static let spreadShare = 0.25

    /// The settlement of an item whose delivery failed. `spread`, from 0 to 1, determines the
    /// addition to its pause: nothing to a quarter.
    static func effect(
        tries: Int, createdAt: WallInstant, now: WallInstant, spread: Double
    ) -> WebhookSettlement.Effect {
        guard now < createdAt.advanced(bySeconds: lifeSeconds) else { return .done }
        let pause = Double(pauseSeconds(tries: tries) * 1_000) * (1 + spreadShare * spread)
        return .retry(at: now.advanced(byMilliseconds: Int64(pause)))
    }

    /// The pause after this number of earlier attempts, in seconds, without the addition.
    static func pauseSeconds(tries: Int) -> Int64 {
        // 2^10 pauses are longer than the longest already.
        min(longestPauseSeconds, firstPauseSeconds << Int64(min(max(0, tries), 10)))
    }
}
