// SPDX-License-Identifier: Apache-2.0

/// The newest few times of something, as milliseconds since the epoch, oldest first: as many as it
/// takes to see whether a limit is passed.
struct RecentTimes: Sendable {
    /// The most times that are kept, whatever the limit: a limit above counts as this one.
    static let maximumCount = 10_000

    private var times: [Int64] = []

    /// Adds a time and says how many there were within the window that ends with it, at most one
    /// more than `limit`.
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
