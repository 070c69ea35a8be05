// SPDX-License-Identifier: Apache-2.0

import WakeBudget

/// The wakes that a type of app requests, as one column of a ``Grid``.
public struct GridWorkload: Hashable, Sendable {
    /// The name in reports.
    public var name: String
    /// The streams of events.
    public var streams: [EventStream]
    /// The number of times per week that the app is opened; `nil` for the value of the family.
    public var opensPerWeek: ClosedRange<Int64>?

    /// Creates a workload.
    public init(
        name: String, streams: [EventStream], opensPerWeek: ClosedRange<Int64>? = nil
    ) {
        self.name = name
        self.streams = streams
        self.opensPerWeek = opensPerWeek
    }

    /// The workloads, in the order of reports.
    public static let known: [GridWorkload] = [
        GridWorkload(
            name: "steady",
            streams: [EventStream(name: "news", pattern: .poisson(perHour: 4))]),
        GridWorkload(
            name: "bursty",
            streams: [
                EventStream(
                    name: "imports", pattern: .bursts(perDay: 10, size: 10, withinSeconds: 600))
            ]),
        GridWorkload(
            name: "chat",
            streams: [
                EventStream(
                    name: "talk", pattern: .bursts(perDay: 50, size: 6, withinSeconds: 900)
                ).during([7 * 60..<24 * 60]),
                EventStream(name: "receipts", pattern: .poisson(perHour: 0.5)),
            ]),
        GridWorkload(
            name: "alarms",
            streams: [
                EventStream(name: "alarm", pattern: .poisson(perHour: 1.5)).mattering(.urgent),
                EventStream(
                    name: "telemetry",
                    pattern: .fixed(everySeconds: 1_800, afterSeconds: 600, count: .max)
                ).mattering(.deferrable),
            ]),
        GridWorkload(
            name: "rarely-opened",
            streams: [EventStream(name: "changes", pattern: .poisson(perHour: 3))],
            opensPerWeek: 0...2),
        GridWorkload(
            name: "nightly",
            streams: [
                EventStream(
                    name: "batch",
                    pattern: .fixed(everySeconds: 1_200, afterSeconds: 300, count: .max)
                ).during([0..<6 * 60, 22 * 60..<24 * 60]),
                EventStream(name: "day", pattern: .poisson(perHour: 0.5)),
            ]),
    ]
}

extension EventStream {
    /// Returns the stream, active only in these parts of the day.
    fileprivate func during(_ hours: [Range<Int64>]) -> EventStream {
        var stream = self
        stream.hours = hours
        return stream
    }

    /// Returns the stream with another urgency.
    fileprivate func mattering(_ urgency: Urgency) -> EventStream {
        var stream = self
        stream.urgency = urgency
        return stream
    }
}
