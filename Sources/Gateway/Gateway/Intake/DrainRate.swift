// SPDX-License-Identifier: Apache-2.0

/// How fast a queue is emptied, and so how long it takes until what waits now is gone.
struct DrainRate {
    /// The span over which the rate is averaged, in seconds: as long as a caller waits at least.
    private static let memorySeconds = 1.0

    private var perSecond: Double?
    private var latest: ContinuousClock.Instant?
    /// Since when there has been something to take out.
    private var busySince: ContinuousClock.Instant?

    /// The queue was empty, and is not any more.
    mutating func began(at now: ContinuousClock.Instant) { busySince = now }

    /// So many were taken out since the last time, or since the queue was empty.
    mutating func took(_ count: Int, until end: ContinuousClock.Instant) {
        let start = [latest, busySince].compactMap(\.self).max() ?? end
        let seconds = max(Self.seconds(from: start, until: end), 1e-6)
        let rate = Double(count) / seconds
        let weight = seconds / (seconds + Self.memorySeconds)
        perSecond = perSecond.map { $0 + (rate - $0) * weight } ?? rate
        latest = end
    }

    /// After how many seconds so many are gone, rounded up and within the bounds. Time without
    /// removals counts if the queue was not empty: a stalled queue will not be empty sooner than
    /// that.
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
