// SPDX-License-Identifier: Apache-2.0

package import WakeModel

/// A time limit by the gateway's time that is not prolonged when that is set back meanwhile.
package struct TimeLimit: Sendable {
    /// When the time is over by the gateway's time.
    let deadline: WallInstant
    /// When the time is over whatever becomes of the gateway's time.
    let latest: ContinuousClock.Instant

    /// A limit that begins now.
    package init(milliseconds: Int64, from now: WallInstant) {
        deadline = now.advanced(byMilliseconds: milliseconds)
        latest = ContinuousClock.now + .milliseconds(milliseconds)
    }

    /// Whether the time is over.
    package func isOver(at now: WallInstant) -> Bool {
        now >= deadline || ContinuousClock.now >= latest
    }
}
