// SPDX-License-Identifier: Apache-2.0

/// How stale the app's data is on one device.
///
/// The server's data changes with each event. The app's data is that of its last sync: it syncs
/// when a push launches it or reaches it in the foreground, when its user opens it, and all the
/// while it is in the foreground (it has a connection then). A sync fetches everything, whatever
/// the push said.
///
/// - The **staleness of an event** asked at t is the time from t to the first sync at or after t;
///   0 when the app is in the foreground at t. An event that no sync has followed by the end
///   counts with its age at the end.
/// - The **age of the data** at a moment is 0 when every event so far is synced, otherwise the
///   time since the oldest event that is not. Its mean over time weighs each moment alike: one
///   event that is missed all night weighs as much as a night.
struct Freshness: Hashable, Sendable {
    /// The events since the last sync, the oldest first; milliseconds since the epoch.
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

    /// The end of the run.
    mutating func finish(at end: Int64, _ tally: inout Tally) {
        for event in missed { tally.unseenAges.add(end - event) }
        sync(at: end, &tally)
    }
}
