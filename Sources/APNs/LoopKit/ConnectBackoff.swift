// SPDX-License-Identifier: Apache-2.0

/// The wait before the next attempt to connect.
///
/// After attempts that led to no valid answer:
///
///     attempts failed            1        2        3     4     5     6 and more
///     wait, at most              250 ms   500 ms   1 s   2 s   4 s   5 s
///     while urgent pushes wait   250 ms   500 ms   1 s   2 s   2 s   2 s
///
/// The longest wait is a small part of a push's timeout, so that waiting pushes are still valid
/// when the server is back. Urgent ones, which are calls, have shorter timeouts.
///
/// A connection that had valid answers and broke soon after counts too, but never leads to more
/// than the third wait: the server is reachable, and the queue must make progress. One that had
/// valid answers and was then closed in order by the server is not a failure, and the next may be
/// opened immediately. Only if it had fewer than ``answersForNoWait`` answers, openings keep
/// ``leastSpacingMilliseconds`` between them, because Apple may take rapid reconnecting for an
/// attack (facts §1.5).
///
/// The actual wait is random between half of that and all of it, so that many clients do not
/// reconnect at the same moment.
package struct ConnectBackoff {
    /// The longest first wait.
    package static let initialMilliseconds: Int64 = 250
    /// The longest wait of all.
    package static let maximumMilliseconds: Int64 = 5000
    /// The longest wait while an urgent push needs a connection.
    package static let maximumUrgentMilliseconds: Int64 = 2000
    /// The most failures that count for connections that had valid answers.
    package static let maximumFailuresAfterAnswers = 3
    /// The number of answers from which on the end of a connection requires no wait.
    package static let answersForNoWait = 100
    /// The least time between two openings after a connection that had fewer.
    package static let leastSpacingMilliseconds: Int64 = 10

    private var failures = 0
    private var lastOpening: Int64 = 0
    private var lastFailure: Int64 = 0
    private var ordinaryWait: Int64 = 0
    private var urgentWait: Int64 = 0
    private var notBefore: Int64 = .min

    /// Creates a back-off without a failed attempt.
    package init() {}

    /// When the next attempt may be made, in monotonic milliseconds. `isUrgent` says whether an
    /// urgent push needs it.
    package func notBefore(isUrgent: Bool) -> Int64 {
        guard failures > 0 else { return notBefore }
        return lastFailure + (isUrgent ? urgentWait : ordinaryWait)
    }

    /// Records the start of an attempt.
    package mutating func didOpen(now: Int64) { lastOpening = now }

    /// Records a connection that failed before its first valid answer, or soon after. `jitter` is a
    /// random number in 0 ..< 1.
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

    /// Records a valid answer on a connection that was not new.
    package mutating func didSucceed() {
        failures = 0
        notBefore = .min
    }

    /// Records that the server closed a connection in order, after so many valid answers.
    package mutating func didEndInOrder(answers: Int) {
        didSucceed()
        if answers >= Self.answersForNoWait { return }
        notBefore = lastOpening + Self.leastSpacingMilliseconds
    }
}
