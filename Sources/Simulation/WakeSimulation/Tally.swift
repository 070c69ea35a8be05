// SPDX-License-Identifier: Apache-2.0

import DeviceModel

/// The result of one sending strategy for some devices.
///
/// Only integers, so that merging tallies gives the same result in any order.
public struct Tally: Hashable, Sendable {
    /// The number of devices.
    public var devices: UInt64 = 0
    /// The simulated time of all devices, in milliseconds.
    public var watchedMilliseconds: UInt64 = 0

    /// The number of events that requested a wake.
    public var asked: UInt64 = 0
    /// The number of events that were merged into the push of another one.
    public var merged: UInt64 = 0
    /// The number of events that ended without a push, by reason.
    public var ended: [AskEnd: UInt64] = [:]
    /// The number of events that still waited at the end.
    public var waiting: UInt64 = 0

    /// The number of pushes that were sent.
    public var sent: UInt64 = 0
    /// The number of pushes that launched the app in the background.
    public var launched: UInt64 = 0
    /// The number of pushes that the app received in the foreground, or when it was opened.
    public var inForeground: UInt64 = 0
    /// The number of pushes that were still stored or held at the end.
    public var undecided: UInt64 = 0
    /// The number of pushes with an outcome that were sent while the device was able to launch the
    /// app; see ``DeviceModel/ModelledDevice/isAble``.
    public var sentWhileAble: UInt64 = 0
    /// The number of those that reached the app.
    public var reachedWhileAble: UInt64 = 0
    /// The number of pushes by outcome, in the order of ``DeviceModel/PushFate/Kind``. An array,
    /// because it needs no hashing.
    private var fateCounts = [UInt64](repeating: 0, count: PushFate.Kind.allCases.count)

    /// The staleness of events, in milliseconds; see `Freshness`.
    public var staleness = Histogram()
    /// The ages of events without a later sync at the end, in milliseconds; ``staleness`` contains
    /// them too.
    public var unseenAges = Histogram()
    /// Twice the integral of the data's age over time, in milliseconds squared.
    var twiceAgeSum: UInt128 = 0
    /// The hold times of pushes that launched the app, in milliseconds.
    public var hold = Histogram()
    /// The times for which events waited for their push, in milliseconds.
    public var wait = Histogram()

    /// Creates an empty tally.
    public init() {}

    /// The number of pushes that neither launched the app nor reached it in the foreground.
    public var wasted: UInt64 { sent - launched - inForeground - undecided }

    /// The number of pushes by the label of their outcome.
    public var fates: [String: UInt64] {
        let counts = zip(PushFate.Kind.allCases, fateCounts).filter { $0.1 > 0 }
        return Dictionary(uniqueKeysWithValues: counts.map { ($0.0.label, $0.1) })
    }

    /// The number of events without a later sync at the end.
    public var unseen: UInt64 { unseenAges.count }

    /// The share of events that the app synced within a time, to the precision of the buckets of
    /// ``staleness``; `nil` if there are no events.
    public func shareSeen(within milliseconds: Int64) -> Double? {
        guard staleness.count > 0 else { return nil }
        let seen =
            staleness.count(upTo: milliseconds) - unseenAges.count(upTo: milliseconds)
        return Double(seen) / Double(staleness.count)
    }

    /// The share of pushes to an able device that reached the app; `nil` if there are none.
    public var reachedShare: Double? {
        sentWhileAble == 0 ? nil : Double(reachedWhileAble) / Double(sentWhileAble)
    }

    /// The number of background launches per push; `nil` if there are no pushes.
    public var launchesPerPush: Double? {
        sent == 0 ? nil : Double(launched) / Double(sent)
    }

    /// The mean age of the app's data over time, in milliseconds; `nil` for no time.
    public var meanAge: Double? {
        watchedMilliseconds == 0 ? nil : Double(twiceAgeSum) / 2 / Double(watchedMilliseconds)
    }

    /// Counts the outcome of a push.
    mutating func count(_ fate: PushFate) { fateCounts[fate.kind.rawValue] += 1 }

    /// Adds the counts of another tally.
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

/// The reason why an event ended without a push.
public enum AskEnd: String, Hashable, Sendable, CaseIterable {
    /// Dropped by a rate limit.
    case dropped
    /// It expired before it could be sent.
    case expired
    /// The device is known not to launch the app.
    case suppressed
    /// The app entered the foreground while it waited.
    case superseded
}
