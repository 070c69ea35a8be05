// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import WakeModel

/// The two clocks for decisions about tokens, which a test can replace.
public struct WakeClock: Sendable {
    /// Wall time.
    public let now: @Sendable () -> WallInstant
    /// Monotonic time since an arbitrary start.
    public let uptime: @Sendable () -> Duration

    /// Creates a clock from two functions.
    public init(
        now: @escaping @Sendable () -> WallInstant, uptime: @escaping @Sendable () -> Duration
    ) {
        self.now = now
        self.uptime = uptime
    }

    /// This machine's clocks.
    public static let system = WakeClock(
        now: {
            // CLOCK_REALTIME, to the millisecond.
            var time = timespec()
            clock_gettime(CLOCK_REALTIME, &time)
            return WallInstant(
                millisecondsSinceEpoch: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
        },
        uptime: { start.duration(to: .now) })

    private static let start = ContinuousClock.now
}
