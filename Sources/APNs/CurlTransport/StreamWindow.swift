// SPDX-License-Identifier: Apache-2.0

/// An estimate of the number of streams that one connection may have at present.
///
/// libcurl does not expose the server's SETTINGS_MAX_CONCURRENT_STREAMS, but it reads a request's
/// body when it gives it a stream. Requests without one show that the limit was reached, so the
/// window shrinks to the number of open streams; while there are none, the window grows. Requests
/// that wait belong into the transport's own queue, where deadlines, cancellation and urgency mean
/// something.
///
/// The first stream goes alone until a valid answer, which is APNs' rule for provider tokens
/// (facts §1.3). Pure: time is an argument, in monotonic milliseconds.
struct StreamWindow: Hashable {
    /// What a connection may carry right after its first valid answer: the least limit that
    /// RFC 9113 §6.5.2 recommends to servers.
    static let initialStreams = 100
    /// How long libcurl may hold requests back before the window believes it. Longer than the time
    /// in which it hands out streams that are there, shorter than a person notices.
    static let patienceMilliseconds: Int64 = 50
    /// After a shrinking, growth is tried once in this time: the limit may have risen again.
    static let probeIntervalMilliseconds: Int64 = 1000

    /// The configured maximum.
    let maximum: Int
    /// How many streams may be in flight now.
    private(set) var limit = 1
    /// Whether a valid answer has come.
    private(set) var isValidated = false
    private var answersSinceGrowth = 0
    private var heldSince: Int64?
    /// The most streams that were open at any look since then.
    private var mostOpen = 0
    private var shrunkAt: Int64?

    init(maximum: Int) { self.maximum = max(1, maximum) }

    /// An answer came. Valid is any answer but a refusal of the provider token.
    mutating func didReceiveAnswer(isValid: Bool, inFlight: Int, now: Int64) {
        guard isValidated else {
            if isValid {
                isValidated = true
                limit = min(maximum, Self.initialStreams)
            }
            return
        }
        answersSinceGrowth += 1
        guard limit < maximum, answersSinceGrowth >= limit, inFlight + 1 >= limit else { return }
        if let shrunkAt {
            // The server's limit is about here: feel for it gently.
            guard now - shrunkAt >= Self.probeIntervalMilliseconds else { return }
            self.shrunkAt = now
            limit = min(maximum, limit + max(1, limit / 8))
        } else {
            limit = min(maximum, limit * 2)
        }
        answersSinceGrowth = 0
    }

    /// What to do about requests that libcurl holds back.
    enum Verdict: Hashable {
        /// Nothing is held back, or not for long.
        case fine
        /// The limit was reached: take the held ones back into the queue.
        case takeBack
        /// The connection gives no stream to anyone: it is going away. Take the held ones back and
        /// use another.
        case goingAway
    }

    /// Looks at `held` requests without a stream among `inFlight`.
    ///
    /// A single look may come between one stream's end and the next one's beginning and see none
    /// open, so a connection is going away only if none was open at any look.
    mutating func observe(held: Int, inFlight: Int, now: Int64) -> Verdict {
        guard isValidated, held > 0 else {
            heldSince = nil
            mostOpen = 0
            return .fine
        }
        let open = inFlight - held
        mostOpen = max(mostOpen, open)
        guard let since = heldSince else {
            heldSince = now
            return .fine
        }
        guard now - since >= Self.patienceMilliseconds else { return .fine }
        let reached = open > 0 ? open : mostOpen
        heldSince = nil
        mostOpen = 0
        guard reached > 0 else { return .goingAway }
        limit = min(limit, reached)
        shrunkAt = now
        answersSinceGrowth = 0
        return .takeBack
    }
}
