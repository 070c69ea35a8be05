// SPDX-License-Identifier: Apache-2.0

import WakeModel

/// The state of the walk through all devices.
///
/// An index of the devices by their age would be written with every wake. Instead there are many
/// walks through all devices in one retention period, so that each is kept only a little longer
/// than required, and the number of kept devices is bounded: those that were active in that time
/// and a few more.
package struct DeviceSweep {
    /// The number of walks in one retention period.
    static let walksPerRetention: Int64 = 8
    /// The longest time from the beginning of a walk to that of the next, in seconds: a day.
    static let longestIntervalSeconds: Int64 = 86_400

    /// The start of the last walk; `nil` before the first.
    private var beganAt: WallInstant?
    /// The number of the device that was read last; `nil` when no walk is running.
    package var reached: Int64?

    /// No walk yet.
    package init() {}

    /// The number after which to continue; `nil` when the next walk is not due yet.
    package mutating func place(under order: PruneOrder) -> Int64? {
        if let reached { return reached }
        let kept = order.now.milliseconds(since: order.devicesBefore)
        let interval = min(kept / Self.walksPerRetention, Self.longestIntervalSeconds * 1000)
        if let beganAt {
            let elapsed = order.now.milliseconds(since: beganAt)
            // After the clock was set back the elapsed time is not known.
            guard elapsed < 0 || elapsed >= interval else { return nil }
        }
        beganAt = order.now
        return 0
    }
}
