// SPDX-License-Identifier: Apache-2.0

import DeviceModel

/// What one way to send came to, over some devices.
///
/// Whole numbers throughout, so that adding up tallies gives the same in any order.
public struct Tally: Hashable, Sendable {
    /// How many devices were counted.
    public var devices: UInt64 = 0
    /// How long they were watched, all together, in milliseconds.
    public var watchedMilliseconds: UInt64 = 0

    /// Events that asked for a wake.
    public var asked: UInt64 = 0
    /// Events that were merged into another's push.
    public var merged: UInt64 = 0
    /// Events that ended without a push, by why.
    public var ended: [AskEnd: UInt64] = [:]
    /// Events whose push was not sent yet at the end.
    public var waiting: UInt64 = 0

    /// Pushes sent.
    public var sent: UInt64 = 0
    /// Pushes that launched the app in the background.
    public var launched: UInt64 = 0
    /// Pushes that the app took while its user had it open, or opened it.
    public var inForeground: UInt64 = 0
    /// Pushes that were still stored or held at the end.
    public var undecided: UInt64 = 0
    /// Pushes sent while the device was able to launch the app, and decided by the end; able means
    /// ``DeviceModel/ModelledDevice/isAble``.
    public var sentWhileAble: UInt64 = 0
    /// Those of them that reached the app.
    public var reachedWhileAble: UInt64 = 0
    /// Pushes by outcome, in the order of ``DeviceModel/PushFate/Kind``, which avoids a lookup by
    /// text for each push.
    private var fateCounts = [UInt64](repeating: 0, count: PushFate.Kind.allCases.count)

    /// Staleness of events: see `Freshness`. In milliseconds.
    public var staleness = Histogram()
    /// The ages of events that were still unseen at the end, which ``staleness`` counts as well.
    public var unseenAges = Histogram()
    /// The age of the app's data, summed over time: in milliseconds squared, twice.
    var twiceAgeSum: UInt128 = 0
    /// How long pushes that launched the app were held, in milliseconds.
    public var hold = Histogram()
    /// How long events waited for their push to be sent, in milliseconds.
    public var wait = Histogram()

    /// Nothing counted.
    public init() {}

    /// Pushes that did nothing: neither launched the app nor met it in the foreground.
    public var wasted: UInt64 { sent - launched - inForeground - undecided }

    /// Pushes by the label of their outcome.
    public var fates: [String: UInt64] {
        let counts = zip(PushFate.Kind.allCases, fateCounts).filter { $0.1 > 0 }
        return Dictionary(uniqueKeysWithValues: counts.map { ($0.0.label, $0.1) })
    }

    /// Events that were still unseen at the end.
    public var unseen: UInt64 { unseenAges.count }

    /// The share of all events that the app had seen within so many milliseconds, to the precision
    /// of the buckets of ``staleness``; `nil` without events.
    public func shareSeen(within milliseconds: Int64) -> Double? {
        guard staleness.count > 0 else { return nil }
        let seen =
            staleness.count(upTo: milliseconds) - unseenAges.count(upTo: milliseconds)
        return Double(seen) / Double(staleness.count)
    }

    /// The share of the pushes sent to an able device that reached the app; `nil` without any.
    public var reachedShare: Double? {
        sentWhileAble == 0 ? nil : Double(reachedWhileAble) / Double(sentWhileAble)
    }

    /// Background launches for each push sent; `nil` without any.
    public var launchesPerPush: Double? {
        sent == 0 ? nil : Double(launched) / Double(sent)
    }

    /// The age of the app's data, averaged over time, in milliseconds; `nil` without time.
    public var meanAge: Double? {
        watchedMilliseconds == 0 ? nil : Double(twiceAgeSum) / 2 / Double(watchedMilliseconds)
    }

    /// Counts the outcome of a push.
    mutating func count(_ fate: PushFate) { fateCounts[fate.kind.rawValue] += 1 }

    /// Adds what another tally counted.
    public mutating func merge(_ other: Tally) {
        devices += other.devices
        watchedMilliseconds += other.watchedMilliseconds
        asked += other.asked
        merged += other.merged
        ended.merge(other.ended) { $0 + $1 }
        waiting += other.waiting
        sent += other.sent
        launched += other.launched
        inForeground += other.inForeground
        undecided += other.undecided
        sentWhileAble += other.sentWhileAble
        reachedWhileAble += other.reachedWhileAble
        for kind in fateCounts.indices { fateCounts[kind] += other.fateCounts[kind] }
        staleness.merge(other.staleness)
        unseenAges.merge(other.unseenAges)
        twiceAgeSum += other.twiceAgeSum
        hold.merge(other.hold)
        wait.merge(other.wait)
    }
}

/// Why an event ended without a push.
public enum AskEnd: String, Hashable, Sendable, CaseIterable {
    /// A rate limit dropped it.
    case dropped
    /// Its time was over before it could be sent.
    case expired
    /// The device is known not to launch the app.
    case suppressed
    /// The app came to the foreground while it waited.
    case superseded
}
