// SPDX-License-Identifier: Apache-2.0

public import WakeBudget

/// A source of events. Each event requests a wake of each device that it concerns.
public struct EventStream: Hashable, Sendable {
    /// The name in traces.
    public var name: String
    /// The distribution of events over time.
    public var pattern: Pattern
    /// The parts of the day in which the stream is active, in local minutes after midnight; empty
    /// for all day. Ignored for recorded patterns.
    public var hours: [Range<Int64>] = []
    /// Whether all devices have the same events (news), instead of each its own (messages).
    public var isShared = false
    /// The span over which the requests for different devices are spread, in seconds.
    public var spreadSeconds: Int64 = 0
    /// The urgency of the wakes.
    public var urgency = Urgency.normal
    /// The lifetime of each wake, in seconds; also the expiration that APNs gets.
    public var lifeSeconds: Int64 = 86_400

    /// Creates a stream that is active all day, with separate events for each device.
    public init(name: String, pattern: Pattern) {
        self.name = name
        self.pattern = pattern
    }

    /// The first event of a recorded pattern, in milliseconds after the start; `nil` for other
    /// patterns.
    public var firstRecorded: Int64? {
        guard case .recorded(let sequences) = pattern else { return nil }
        return sequences.lazy.compactMap(\.first).min()
    }

    /// The last event of a recorded pattern, in milliseconds after the start; `nil` for other
    /// patterns.
    public var lastRecorded: Int64? {
        guard case .recorded(let sequences) = pattern else { return nil }
        return sequences.lazy.compactMap(\.last).max()
    }

    /// The distribution of events over time.
    public enum Pattern: Hashable, Sendable {
        /// Events at a fixed interval, the first `afterSeconds` after the start, at most `count`.
        case fixed(everySeconds: Int64, afterSeconds: Int64, count: Int)
        /// A Poisson process with a mean number of events per hour.
        case poisson(perHour: Double)
        /// Bursts as a Poisson process with a mean number per day. Each burst has `size` events on
        /// average, within `withinSeconds`.
        case bursts(perDay: Double, size: Double, withinSeconds: Int64)
        /// Recorded times, in milliseconds after the start, in order. Devices use the sequences in
        /// turn.
        case recorded([[Int64]])
    }
}
