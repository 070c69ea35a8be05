// SPDX-License-Identifier: Apache-2.0

public import WakeBudget

/// A source of events: each asks for a wake of each device that it concerns.
public struct EventStream: Hashable, Sendable {
    /// Its name, for traces.
    public var name: String
    /// When its events come.
    public var pattern: Pattern
    /// The parts of the day in which it is active, in local minutes after midnight; all day when
    /// empty. Events of a recorded pattern come whenever they came.
    public var hours: [Range<Int64>] = []
    /// Whether all devices get the same events (news), instead of each its own (messages).
    public var isShared = false
    /// By how much the asks for different devices are spread, in seconds.
    public var spreadSeconds: Int64 = 0
    /// How much they matter.
    public var urgency = Urgency.normal
    /// The lifetime of each, in seconds; also sent to APNs as the expiration.
    public var lifeSeconds: Int64 = 86_400

    /// A stream that is active all day, each device with events of its own.
    public init(name: String, pattern: Pattern) {
        self.name = name
        self.pattern = pattern
    }

    /// The first event of a recorded pattern, in milliseconds after the start; `nil` for others.
    public var firstRecorded: Int64? {
        guard case .recorded(let sequences) = pattern else { return nil }
        return sequences.lazy.compactMap(\.first).min()
    }

    /// The last event of a recorded pattern, in milliseconds after the start; `nil` for others.
    public var lastRecorded: Int64? {
        guard case .recorded(let sequences) = pattern else { return nil }
        return sequences.lazy.compactMap(\.last).max()
    }

    /// When events come.
    public enum Pattern: Hashable, Sendable {
        /// One every so many seconds, from so many seconds after the start on, and not more than
        /// so many of them.
        case fixed(everySeconds: Int64, afterSeconds: Int64, count: Int)
        /// As chance has it, so many in an hour on average.
        case poisson(perHour: Double)
        /// Bursts as chance has them, so many in a day on average; in each so many events on
        /// average, within so many seconds.
        case bursts(perDay: Double, size: Double, withinSeconds: Int64)
        /// As they were recorded: milliseconds after the start, in order. Each device takes one of
        /// the sequences, in turn.
        case recorded([[Int64]])
    }
}
