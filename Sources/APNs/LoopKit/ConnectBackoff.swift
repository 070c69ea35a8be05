// SPDX-License-Identifier: Apache-2.0

/// How long to wait before the next attempt to connect.
///
/// After attempts that led to no valid answer:
///
///     attempts failed            1        2        3     4     5     6 and more
///     wait, at most              250 ms   500 ms   1 s   2 s   4 s   5 s
///     while urgent pushes wait   250 ms   500 ms   1 s   2 s   2 s   2 s
///
/// The longest wait is a small part of what a push has in all, so that one that waits for a
/// connection is there when the server comes back. Urgent ones, which are calls, often have less
/// time.
///
/// A connection that gave valid answers and broke soon after counts too, but never leads to more
/// than the third wait: the server is there, and the queue must make progress. One that gave valid
/// answers and was then ended in order by the server is no failure. What decides is progress, not
/// time: the next connection may be opened immediately. Only if it gave fewer than
/// ``answersForNoWait`` answers, openings keep ``leastSpacingMilliseconds`` between them, because
/// Apple may take rapid reconnecting for an attack (facts §1.5).
///
/// The actual wait is drawn between half of that and all of it, so that many clients do not come
/// back at the same moment.
package struct ConnectBackoff {
    /// The longest first wait.
    package static let initialMilliseconds: Int64 = 250
    /// The longest wait of all.
    package static let maximumMilliseconds: Int64 = 5000
    /// The longest wait while an urgent push needs a connection.
    package static let maximumUrgentMilliseconds: Int64 = 2000
    /// How far connections that had given valid answers can raise the wait.
    package static let maximumFailuresAfterAnswers = 3
    /// From so many answers on, the end of a connection calls for no wait at all.
    package static let answersForNoWait = 100
    /// The least time between two openings after a connection that gave fewer.
    package static let leastSpacingMilliseconds: Int64 = 10

    private var failures = 0
    private var lastOpening: Int64 = 0
    private var lastFailure: Int64 = 0
    private var ordinaryWait: Int64 = 0
    private var urgentWait: Int64 = 0
    private var notBefore: Int64 = .min

    /// No attempt has failed.
    package init() {}

    /// When the next attempt may be made, in monotonic milliseconds. `isUrgent` says whether an
    /// urgent push needs it.
    package func notBefore(isUrgent: Bool) -> Int64 {
        guard failures > 0 else { return notBefore }
        return lastFailure + (isUrgent ? urgentWait : ordinaryWait)
    }

    /// An attempt begins.
    package mutating func didOpen(now: Int64) { lastOpening = now }

    /// A connection failed: before it gave a valid answer, or soon after. `jitter` is a number
    /// drawn from 0 ..< 1.
    package mutating func didFail(now: Int64, jitter: Double, hadAnswers: Bool = false) {
        failures = min(failures + 1, hadAnswers ? Self.maximumFailuresAfterAnswers : 16)
        let longest = min(Self.maximumMilliseconds, Self.initialMilliseconds << (failures - 1))
        lastFailure = now
        ordinaryWait = Self.wait(longest, jitter)
        urgentWait = Self.wait(min(longest, Self.maximumUrgentMilliseconds), jitter)
    }

    private static func wait(_ longest: Int64, _ jitter: Double) -> Int64 {
        longest / 2 + Int64(Double(longest / 2) * jitter)
    }

    /// A connection that had lived for a while gave a valid answer.
    package mutating func didSucceed() {
        failures = 0
        notBefore = .min
    }

    /// A connection that gave valid answers, so many in all, was ended in order by the server.
    package mutating func didEndInOrder(answers: Int) {
        didSucceed()
        if answers >= Self.answersForNoWait { return }
        notBefore = lastOpening + Self.leastSpacingMilliseconds
    }
}
