// SPDX-License-Identifier: Apache-2.0

/// An estimate of the number of requests that a server accepts on one connection before it closes
/// it in order.
///
/// Where connections repeatedly end after the same number of requests, no more are started on one:
/// those above the limit would be written for nothing, and libcurl does not report which streams a
/// GOAWAY excludes, so that their outcome would be unknown. Two such ends distinguish a limit from
/// a shutdown, and a limit is assumed for a while only. Pure: time is an argument, in monotonic
/// milliseconds.
package struct RequestLimit: Hashable {
    /// The time for which a limit is assumed: 10 min.
    package static let beliefMilliseconds: Int64 = 600_000

    private var last: Int?
    private var learned = Int.max
    private var believedUntil: Int64 = .min

    /// Creates an estimate without a known limit.
    package init() {}

    /// Records that the server closed a connection in order after it accepted this many requests.
    package mutating func didEnd(after count: Int, now: Int64) {
        guard count > 0 else { return }
        defer { last = count }
        // Two similar numbers indicate a limit too, because a server may count in batches.
        guard let last, abs(count - last) <= max(1, last / 8) else { return }
        learned = min(count, last)
        believedUntil = now + Self.beliefMilliseconds
    }

    /// The number of requests to start on a connection that is opened now.
    package func value(now: Int64) -> Int {
        now < believedUntil ? learned : .max
    }
}
