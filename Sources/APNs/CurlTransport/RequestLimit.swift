// SPDX-License-Identifier: Apache-2.0

/// How many requests a server takes on one connection before it ends that in order, learned by
/// watching.
///
/// libcurl does not report which streams a GOAWAY excludes, so the outcome of requests written
/// after its last stream is unknown. Where connections repeatedly end after the same number of
/// requests, no more are started on one. Two such ends distinguish a limit from a shutdown, and a
/// limit is assumed for a while only. Pure: time is an argument, in monotonic milliseconds.
struct RequestLimit: Hashable {
    /// How long a habit is believed: 10 min.
    static let beliefMilliseconds: Int64 = 600_000

    private var last: Int?
    private var learned = Int.max
    private var believedUntil: Int64 = .min

    /// A connection was ended in order, and this many of its requests were taken.
    mutating func didEnd(after count: Int, now: Int64) {
        guard count > 0 else { return }
        defer { last = count }
        // Two that are not quite the same are still a habit: a server may count in batches.
        guard let last, abs(count - last) <= max(1, last / 8) else { return }
        learned = min(count, last)
        believedUntil = now + Self.beliefMilliseconds
    }

    /// How many requests to start on a connection that is opened now.
    func value(now: Int64) -> Int {
        now < believedUntil ? learned : .max
    }
}
