// SPDX-License-Identifier: Apache-2.0

/// How many requests a server takes on one connection before it ends that in order, learned by
/// watching.
///
/// libcurl does not say which streams a GOAWAY leaves out, so that what was written behind its last
/// one is of unknown fate. Where connections end after the same number again and again, no more are
/// started on one. Two ends tell a habit from a shutdown, and a habit is believed for a while only.
/// Pure: time is an argument, in monotonic milliseconds.
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
