// SPDX-License-Identifier: Apache-2.0

/// The latest times of an event, in milliseconds since the epoch, the oldest first: as many as a
/// limit requires.
struct RecentTimes: Sendable {
    /// The maximum number of stored times; a higher limit counts as this one.
    static let maximumCount = 10_000

    private var times: [Int64] = []

    /// Adds a time. Returns the number of times within the window that ends with it, at most
    /// `limit` + 1.
    mutating func add(_ time: Int64, window: Int64, limit: Int) -> Int {
        let (start, overflow) = time.subtractingReportingOverflow(window)
        if !overflow, let kept = times.firstIndex(where: { $0 > start }) {
            times.removeSubrange(..<kept)
        } else if !overflow {
            times.removeAll(keepingCapacity: true)
        }
        let capacity = min(max(limit, 0), Self.maximumCount) + 1
        if times.count >= capacity { times.removeFirst(times.count - capacity + 1) }
        times.append(time)
        return times.count
    }
}
