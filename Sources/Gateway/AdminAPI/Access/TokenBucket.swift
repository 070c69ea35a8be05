// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// The rate limit of a key: a sustained rate and a burst. Each item of a batch counts as a request.
public struct RequestRate: Hashable, Sendable {
    /// The valid rates, in requests per second.
    public static let perSecondRange = 1...100_000
    /// The valid bursts, in requests.
    public static let burstRange = 1...1_000_000

    /// The sustained rate, in requests per second.
    public let perSecond: Int
    /// The burst: the number of requests that are possible at once after a pause.
    public let burst: Int

    /// Creates a rate limit. `burst` defaults to two seconds of `perSecond`. Throws
    /// ``WakeModel/InvalidField`` if a value is out of range.
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

    /// The rate limit of a key that sets none: 50,000 requests per second. A gateway on one machine
    /// does not accept more from one caller, batches included, so that only faulty callers exceed
    /// it.
    public static let usual = RequestRate(usualPerSecond: 50_000)
}

/// A token bucket: it fills at a constant rate up to the burst. Each request and each item of a
/// batch takes one token.
///
/// A pure value: the time is an argument, in nanoseconds of a monotonic clock. Tokens are counted
/// in billionths, so that no fraction is lost.
struct TokenBucket {
    private static let second: UInt64 = 1_000_000_000

    private let rate: RequestRate
    /// The number of tokens missing from a full bucket, in billionths of a token.
    private var missing: UInt64 = 0
    private var lastTime: UInt64

    /// Creates a full bucket.
    init(_ rate: RequestRate, at now: UInt64) {
        self.rate = rate
        lastTime = now
    }

    /// Takes one token and returns `nil`. If there is none, returns the number of whole seconds,
    /// rounded up, until there is one.
    mutating func take(at now: UInt64) -> Int? {
        fill(at: now)
        guard missing + Self.second <= room else { return secondsUntilRoom }
        missing += Self.second
        return nil
    }

    /// Takes `count` tokens, even if there are fewer, and returns `nil`; the debt is repaid before
    /// another token can be taken. If there is a debt already, takes none and returns the number of
    /// whole seconds, rounded up, until there is a token.
    mutating func debit(_ count: Int, at now: UInt64) -> Int? {
        fill(at: now)
        guard missing <= room else { return secondsUntilRoom }
        missing += UInt64(max(0, count)) * Self.second
        return nil
    }

    private var room: UInt64 { UInt64(rate.burst) * Self.second }

    /// The number of whole seconds, rounded up, until there is a token; the bucket must have none.
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
