// SPDX-License-Identifier: Apache-2.0

import Gateway
import WakeModel

/// When a webhook that was not taken is tried again: a pure function.
enum WebhookSchedule {
    /// The first pause, in seconds; it doubles from there.
    static let firstPauseSeconds: Int64 = 5
    /// The longest pause, in seconds.
    static let longestPauseSeconds: Int64 = 3_600
    /// How long an event is tried, in seconds: three days, so that a weekend loses nothing.
    static let lifeSeconds: Int64 = 259_200

    /// The longest pause of a whole receiver, in seconds: what is new does not wait longer for one
    /// that is back.
    static let longestReceiverPauseSeconds: Int64 = 60

    /// For how long a receiver that takes nothing is let alone after so many earlier failures in a
    /// row, in seconds.
    static func receiverPauseSeconds(failures: Int) -> Int64 {
        min(longestReceiverPauseSeconds, pauseSeconds(tries: failures))
    }

    /// The most that is added to a pause, as a part of it: events that failed together do not all
    /// come together again.
    static let spreadShare = 0.25

    /// What to do with an item whose delivery failed. `spread`, from 0 to 1, says how much is added
    /// to its pause: nothing to a quarter.
    static func effect(
        tries: Int, createdAt: WallInstant, now: WallInstant, spread: Double
    ) -> WebhookSettlement.Effect {
        guard now < createdAt.advanced(bySeconds: lifeSeconds) else { return .done }
        let pause = Double(pauseSeconds(tries: tries) * 1_000) * (1 + spreadShare * spread)
        return .retry(at: now.advanced(byMilliseconds: Int64(pause)))
    }

    /// The pause after so many earlier tries, in seconds, before anything is added.
    static func pauseSeconds(tries: Int) -> Int64 {
        // 2^10 pauses are longer than the longest already.
        min(longestPauseSeconds, firstPauseSeconds << Int64(min(max(0, tries), 10)))
    }
}
