// SPDX-License-Identifier: Apache-2.0

/// The launches of all apps of a device in the last hour: `rate.device_cap_per_hour`.
struct LaunchHour: Hashable, Sendable {
    /// In milliseconds.
    static let length: Int64 = 3_600_000

    /// The newest launches, as many as the hour may hold; `oldest` is the place of the first.
    private var launches: [Int64] = []
    private var oldest = 0
    private let capacity: Int

    /// An hour without launches.
    init(capacity: Int) { self.capacity = max(1, capacity) }

    /// From when on there is room for another launch.
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
