// SPDX-License-Identifier: Apache-2.0

/// An estimate of the number of requests that a server accepts on one connection before it closes
/// it in order.
///
/// Where connections repeatedly end after the same number of requests, no more are started on one:
/// those above the limit would be written for nothing, and where the GOAWAY is lost with the
/// connection, their outcome would be unknown. Two such ends distinguish a limit from a shutdown,
/// and a limit is assumed for a while only. Pure: time is an argument, in monotonic milliseconds.
package struct RequestLimit {
    /// The time for which a limit is assumed: 10 min.
    package static let beliefMilliseconds: Int64 = 600_000

    private var last: (count: Int, at: Int64)?
    private var learned = Int.max
    private var believedUntil: Int64 = .min

    /// Creates an estimate without a known limit.
    package init() {}

    /// The number of requests that the server accepted on the connection that it ended last; `nil`
    /// without one in the last 10 min. A connection that is opened now is compared with it.
    package func lastEnd(now: Int64) -> Int? {
        guard let last, now - last.at < Self.beliefMilliseconds else { return nil }
        return last.count
    }

    /// Records that the server closed a connection in order after it accepted this many requests.
    /// `former` is what ``lastEnd(now:)`` was when that connection was opened: connections with
    /// equal loads that end together indicate a shutdown, and no limit.
    package mutating func didEnd(after count: Int, former: Int?, now: Int64) {
        guard count > 0 else { return }
        last = (count, now)
        // Two similar numbers indicate a limit too, because a server may count in batches.
        guard let former, abs(count - former) <= max(1, former / 8) else { return }
        learned = min(count, former)
        believedUntil = now + Self.beliefMilliseconds
    }

    /// The number of requests to start on a connection that is opened now.
    package func value(now: Int64) -> Int {
        now < believedUntil ? learned : .max
    }
}
