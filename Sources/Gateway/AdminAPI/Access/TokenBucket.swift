// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// How many requests a caller may make: an average per second, and a burst. Each item of a batch
/// counts as a request.
public struct RequestRate: Hashable, Sendable {
    /// The rates that can be set, in requests a second.
    public static let perSecondRange = 1...100_000
    /// The bursts that can be set, in requests.
    public static let burstRange = 1...1_000_000

    /// Requests a second.
    public let perSecond: Int
    /// Requests in a burst, after a pause.
    public let burst: Int

    /// A rate; the burst is two seconds' worth unless it is given. Throws
    /// ``WakeModel/InvalidField`` for what is out of range.
    public init(perSecond: Int, burst: Int? = nil) throws(InvalidField) {
        guard Self.perSecondRange.contains(perSecond) else {
            throw InvalidField(
                field: "requests-per-second",
                problem: "is not from 1 to \(Self.perSecondRange.upperBound)",
                remedy: "Leave it out for the usual rate.")
        }
        let burst = burst ?? 2 * perSecond
        guard Self.burstRange.contains(burst) else {
            throw InvalidField(
                field: "burst", problem: "is not from 1 to \(Self.burstRange.upperBound)",
                remedy: "Leave it out for two seconds' worth.")
        }
        self.perSecond = perSecond
        self.burst = burst
    }

    private init(usualPerSecond: Int) {
        perSecond = usualPerSecond
        burst = 2 * usualPerSecond
    }

    /// What a key has that does not say: more than one machine's gateway takes from one caller, in
    /// batches too, so that it stops what is a mistake and nothing else.
    public static let usual = RequestRate(usualPerSecond: 50_000)
}

/// A bucket that fills at a rate up to its burst; each request takes one token, and each
/// item of a batch.
///
/// A pure value: time is an argument, in nanoseconds on a clock that does not go back. Tokens are
/// counted in nanoseconds too, so that no rate loses fractions.
struct TokenBucket {
    private static let second: UInt64 = 1_000_000_000

    private let rate: RequestRate
    /// How much is missing from a full bucket, in tokens times a second's nanoseconds.
    private var missing: UInt64 = 0
    private var lastTime: UInt64

    /// A full bucket.
    init(_ rate: RequestRate, at now: UInt64) {
        self.rate = rate
        lastTime = now
    }

    /// Takes a token. Returns `nil` when there was one, else in how many whole seconds, rounded up,
    /// there will be one.
    mutating func take(at now: UInt64) -> Int? {
        fill(at: now)
        guard missing + Self.second <= room else { return secondsUntilRoom }
        missing += Self.second
        return nil
    }

    /// Takes so many tokens, even if there are fewer: what is lacking has to flow in before another
    /// one can be taken. Returns `nil`; or, when some are lacking already, takes none and returns
    /// in how many whole seconds, rounded up, there will be one.
    mutating func debit(_ count: Int, at now: UInt64) -> Int? {
        fill(at: now)
        guard missing <= room else { return secondsUntilRoom }
        missing += UInt64(max(0, count)) * Self.second
        return nil
    }

    private var room: UInt64 { UInt64(rate.burst) * Self.second }

    /// In how many whole seconds, rounded up, there will be a token, where there is none.
    private var secondsUntilRoom: Int {
        let unit = UInt64(rate.perSecond) * Self.second
        return Int((missing + Self.second - room + unit - 1) / unit)
    }

    private mutating func fill(at now: UInt64) {
        let elapsed = now > lastTime ? now - lastTime : 0
        lastTime = max(now, lastTime)
        let (filled, overflows) = elapsed.multipliedReportingOverflow(by: UInt64(rate.perSecond))
        missing = overflows || filled >= missing ? 0 : missing - filled
    }
}
