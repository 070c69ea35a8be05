// SPDX-License-Identifier: Apache-2.0

/// The launches of all apps of a device in the last hour, for `rate.device_cap_per_hour`.
struct LaunchHour: Hashable, Sendable {
    /// The length of the window, in milliseconds.
    static let length: Int64 = 3_600_000

    /// The latest launches, at most the capacity; a ring buffer whose first element is at `oldest`.
    private var launches: [Int64] = []
    private var oldest = 0
    private let capacity: Int

    /// Creates an hour without launches.
    init(capacity: Int) { self.capacity = max(1, capacity) }

    /// The time from which another launch is allowed.
    var opens: Int64 {
        launches.count < capacity ? .min : launches[oldest] + Self.length
    }

    /// Counts a launch.
    mutating func add(_ instant: Int64) {
        if launches.count < capacity {
            launches.append(instant)
        } else {
            launches[oldest] = instant
            oldest = (oldest + 1) % capacity
        }
    }
}
