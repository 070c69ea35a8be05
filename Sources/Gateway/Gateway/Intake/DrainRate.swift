// SPDX-License-Identifier: Apache-2.0

/// The rate at which a queue is emptied, for an estimate of the wait.
struct DrainRate {
    /// The time over which the rate is averaged, in seconds: the least wait of a caller.
    private static let memorySeconds = 1.0

    private var perSecond: Double?
    private var latest: ContinuousClock.Instant?
    /// The time since which the queue is not empty.
    private var busySince: ContinuousClock.Instant?

    /// Records that the queue is no longer empty.
    mutating func began(at now: ContinuousClock.Instant) { busySince = now }

    /// Records removals since the last call, or since the queue was empty.
    mutating func took(_ count: Int, until end: ContinuousClock.Instant) {
        let start = [latest, busySince].compactMap(\.self).max() ?? end
        let seconds = max(Self.seconds(from: start, until: end), 1e-6)
        let rate = Double(count) / seconds
        let weight = seconds / (seconds + Self.memorySeconds)
        perSecond = perSecond.map { $0 + (rate - $0) * weight } ?? rate
        latest = end
    }

    /// The estimated number of seconds until so many are removed, rounded up and within the bounds.
    /// Time without removals counts if the queue was not empty: a stalled queue takes at least as
    /// long.
    func secondsToDrain(
        _ waiting: Int, at now: ContinuousClock.Instant, bounds: ClosedRange<Int>
    ) -> Int {
        guard let perSecond, let latest else { return bounds.lowerBound }
        let stillness = Self.seconds(from: max(latest, busySince ?? latest), until: now)
        let seconds = max(Double(waiting) / max(perSecond, 1e-6), stillness)
        let whole = Int(min(seconds, Double(bounds.upperBound)).rounded(.up))
        return max(whole, bounds.lowerBound)
    }

    private static func seconds(
        from start: ContinuousClock.Instant, until end: ContinuousClock.Instant
    ) -> Double {
        start.duration(to: end) / .seconds(1)
    }
}
