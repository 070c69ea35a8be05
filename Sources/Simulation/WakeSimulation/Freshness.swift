// SPDX-License-Identifier: Apache-2.0

/// The staleness of the app's data on one device.
///
/// The server's data changes with each event. The app's data is that of its last sync: it syncs
/// when a push launches it or reaches it in the foreground, when its user opens it, and
/// continuously while it is in the foreground. A sync fetches everything, regardless of the push.
///
/// - The **staleness of an event** at time t is the time from t to the first sync at or after t; 0
///   if the app is in the foreground at t. For an event without a later sync it is its age at the
///   end.
/// - The **age of the data** at a moment is 0 if all events are synced, otherwise the time since
///   the oldest event that is not. Its mean over time has equal weights for all moments: one event
///   that is missed all night counts as much as the whole night.
struct Freshness: Hashable, Sendable {
    /// The times of the events since the last sync, in order, in milliseconds since the epoch.
    private var missed: [Int64] = []
    private(set) var isInForeground = false

    /// An event changes the server's data.
    mutating func event(at now: Int64, _ tally: inout Tally) {
        if isInForeground { tally.staleness.add(0) } else { missed.append(now) }
    }

    /// The app syncs.
    mutating func sync(at now: Int64, _ tally: inout Tally) {
        guard let oldest = missed.first else { return }
        for event in missed { tally.staleness.add(now - event) }
        let age = UInt128(UInt64(max(0, now - oldest)))
        tally.twiceAgeSum += age * age
        missed.removeAll(keepingCapacity: true)
    }

    /// The user opens the app.
    mutating func enterForeground(at now: Int64, _ tally: inout Tally) {
        sync(at: now, &tally)
        isInForeground = true
    }

    /// The app leaves the foreground.
    mutating func leaveForeground() { isInForeground = false }

    /// Ends the run.
    mutating func finish(at end: Int64, _ tally: inout Tally) {
        for event in missed { tally.unseenAges.add(end - event) }
        sync(at: end, &tally)
    }
}
