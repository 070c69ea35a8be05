// SPDX-License-Identifier: Apache-2.0

/// The token bucket of `rate.bucket_capacity` and `rate.bucket_refill_s`, in milliseconds: it
/// accumulates time, and a launch costs one refill time.
struct LaunchBucket: Hashable, Sendable {
    private let refill: Int64
    private let capacity: Int64
    private var saved: Int64
    private var countedAt: Int64

    /// Creates a full bucket.
    init(_ rate: ModelParameters.Rate, at now: Int64) {
        refill = max(1, rate.bucketRefillSeconds * 1000)
        capacity = refill * max(1, rate.bucketCapacity)
        saved = capacity
        countedAt = now
    }

    /// Adds the time until `now`; a millisecond counts as 1000 / `costPermille`.
    mutating func count(until now: Int64, costPermille: Int64) {
        guard now > countedAt else { return }
        // Limits the span to what fills the bucket, so that the product does not overflow.
        let span = min(now - countedAt, capacity * costPermille / 1000 + 1)
        saved = min(capacity, saved + span * 1000 / costPermille)
        countedAt = now
    }

    /// The time from which a launch is possible, if nothing changes.
    func opens(costPermille: Int64) -> Int64 {
        let missing = refill - saved
        return missing <= 0 ? countedAt : countedAt + (missing * costPermille + 999) / 1000
    }

    /// Takes the cost of a launch.
    mutating func pay() { saved = max(0, saved - refill) }
}
