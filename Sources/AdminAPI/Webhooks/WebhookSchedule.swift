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

    /// What to do with an item whose delivery failed.
    static func effect(
        tries: Int, createdAt: WallInstant, now: WallInstant
    ) -> WebhookSettlement.Effect {
        guard now < createdAt.advanced(bySeconds: lifeSeconds) else { return .done }
        return .retry(at: now.advanced(bySeconds: pauseSeconds(tries: tries)))
    }

    /// The pause after so many earlier tries, in seconds.
    static func pauseSeconds(tries: Int) -> Int64 {
        // 2^10 pauses are longer than the longest already.
        min(longestPauseSeconds, firstPauseSeconds << Int64(min(max(0, tries), 10)))
    }
}
