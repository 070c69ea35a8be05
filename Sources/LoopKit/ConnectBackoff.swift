// SPDX-License-Identifier: Apache-2.0

/// How long to wait before the next attempt to connect, after attempts that led to no valid answer.
///
///     attempts failed   1        2        3      …   8 and more
///     wait, at most     250 ms   500 ms   1 s    …   30 s
///
/// A connection that gave valid answers and was lost soon after counts too, but never leads to more
/// than the third wait: the server is there, and what is queued must not stand still.
///
/// The actual wait is drawn between half of that and all of it, so that many clients do not come
/// back at the same moment. Apple may take rapid reconnecting for an attack (facts §1.5).
package struct ConnectBackoff {
    /// The longest first wait.
    package static let initialMilliseconds: Int64 = 250
    /// The longest wait of all.
    package static let maximumMilliseconds: Int64 = 30_000

    /// How far connections that had given valid answers can raise the wait.
    package static let maximumFailuresAfterAnswers = 3

    private var failures = 0
    /// When the next attempt may be made, in monotonic milliseconds.
    package private(set) var notBefore: Int64 = .min

    /// No attempt has failed.
    package init() {}

    /// A connection failed: before it gave a valid answer, or soon after. `jitter` is a number
    /// drawn from 0 ..< 1.
    package mutating func didFail(now: Int64, jitter: Double, hadAnswers: Bool = false) {
        failures = min(failures + 1, hadAnswers ? Self.maximumFailuresAfterAnswers : 16)
        let longest = min(Self.maximumMilliseconds, Self.initialMilliseconds << (failures - 1))
        notBefore = now + longest / 2 + Int64(Double(longest / 2) * jitter)
    }

    /// A connection that had lived for a while gave a valid answer.
    package mutating func didSucceed() {
        failures = 0
        notBefore = .min
    }
}
