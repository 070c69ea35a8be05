// SPDX-License-Identifier: Apache-2.0

import Glibc
public import WakeModel

/// The gateway's time: wall time, because due times and deadlines outlive the process.
public protocol GatewayClock: Sendable {
    /// The present instant.
    func now() -> WallInstant
    /// Returns at or after the instant. Throws `CancellationError` when the task is cancelled.
    func sleep(until instant: WallInstant) async throws
    /// Milliseconds since some moment before the clock was made, by a clock that cannot be set and
    /// that counts while the machine sleeps; `nil` without one: leaps of the wall clock are then
    /// not detected.
    func millisecondsSinceBoot() -> Int64?
}

extension GatewayClock {
    /// `nil`: there is no such clock.
    public func millisecondsSinceBoot() -> Int64? { nil }
}

/// The machine's clock.
public struct SystemGatewayClock: GatewayClock {
    /// The machine's clock.
    public init() {}

    /// The present instant by `CLOCK_REALTIME`.
    public func now() -> WallInstant {
        var time = timespec()
        // Cannot fail: the clock exists on every system, and the pointer is to a live local.
        clock_gettime(CLOCK_REALTIME, &time)
        return WallInstant(
            millisecondsSinceEpoch: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    /// Milliseconds by `CLOCK_BOOTTIME`.
    public func millisecondsSinceBoot() -> Int64? {
        var time = timespec()
        let clock = CLOCK_BOOTTIME
        guard clock_gettime(clock, &time) == 0 else { return nil }
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// Sleeps for the span from now to the instant, measured on the monotonic clock. When the wall
    /// clock is set meanwhile, the sleep ends early or late by the difference; the dispatcher reads
    /// the clock every second, and shortens waits that a clock that was set back would lengthen.
    public func sleep(until instant: WallInstant) async throws {
        let milliseconds = instant.milliseconds(since: now())
        guard milliseconds > 0 else { return try Task.checkCancellation() }
        try await Task.sleep(for: .milliseconds(milliseconds))
    }
}
