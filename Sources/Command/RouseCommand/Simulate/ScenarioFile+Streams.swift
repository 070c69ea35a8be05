// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import WakeBudget
import WakeModel
import WakeSimulation

extension EventStream {
    static let keys =
        [
            "name", "pattern", "hours", "shared", "spread-seconds", "urgency", "life-hours",
        ] + patternKeys.flatMap(\.keys)

    /// The keys that only one pattern uses.
    private static let patternKeys: [(kind: Kind, keys: [String])] = [
        (.fixed, ["every-seconds", "after-seconds", "count"]),
        (.poisson, ["per-hour"]),
        (.bursts, ["per-day", "size", "within-minutes"]),
        (.recorded, ["log"]),
    ]

    private enum Kind: String, CaseIterable {
        case fixed
        case poisson
        case bursts
        case recorded
    }

    private enum Importance: String, CaseIterable {
        case deferrable
        case normal
        case urgent

        var urgency: Urgency {
            switch self {
            case .deferrable: .deferrable
            case .normal: .normal
            case .urgent: .urgent
            }
        }
    }

    /// Reads a stream; its log, if it has one, is added to `files`. A recorded stream has its times
    /// since the epoch until ``beginAtMidnight()``.
    init(
        _ mapping: ConfigurationMapping, folder: URL, files: inout [String]
    ) throws(CommandFailure) {
        let name = try mapping.requiredString("name", "Name what the events are.")
        guard let kind: Kind = try mapping.choice("pattern") else {
            throw mapping.failure(
                "pattern", "is missing", "Write fixed, poisson, bursts or recorded.")
        }
        for (other, keys) in Self.patternKeys where other != kind {
            for key in keys where mapping.has(key) {
                throw mapping.failure(
                    key, "belongs to the pattern \(other.rawValue)",
                    "Remove it, or change the pattern, which is \(kind.rawValue).")
            }
        }
        self.init(name: name.printable, pattern: try Self.pattern(kind, mapping, folder, &files))
        for text in try mapping.strings("hours") ?? [] {
            hours += try Self.minutes(text, mapping)
        }
        isShared = try mapping.boolean("shared") ?? false
        spreadSeconds = Int64(try mapping.integer("spread-seconds", in: 0...86_400) ?? 0)
        let importance: Importance = try mapping.choice("urgency") ?? .normal
        urgency = importance.urgency
        if let hours = try mapping.number("life-hours", in: 0.01...720) {
            lifeSeconds = Int64(hours * 3600)
        }
    }

    private static func pattern(
        _ kind: Kind, _ mapping: ConfigurationMapping, _ folder: URL, _ files: inout [String]
    ) throws(CommandFailure) -> Pattern {
        func needed<Value>(_ key: String, _ value: Value?) throws(CommandFailure) -> Value {
            guard let value else {
                throw mapping.failure(key, "is missing", "The pattern \(kind) needs it.")
            }
            return value
        }
        switch kind {
        case .fixed:
            let every = try mapping.integer("every-seconds", in: 1...31_536_000)
            return .fixed(
                everySeconds: Int64(try needed("every-seconds", every)),
                afterSeconds: Int64(try mapping.integer("after-seconds", in: 0...31_536_000) ?? 0),
                count: try mapping.integer("count", in: 1...1_000_000_000) ?? .max)
        case .poisson:
            let perHour = try mapping.number("per-hour", in: 0.001...3600)
            return .poisson(perHour: try needed("per-hour", perHour))
        case .bursts:
            let perDay = try mapping.number("per-day", in: 0.01...1440)
            let size = try mapping.number("size", in: 1...1000)
            let within = try mapping.number("within-minutes", in: 0.01...1440) ?? 10
            return .bursts(
                perDay: try needed("per-day", perDay), size: try needed("size", size),
                withinSeconds: Int64(within * 60))
        case .recorded:
            let log = try needed("log", try mapping.string("log"))
            let path =
                log.hasPrefix("/") ? log : folder.appending(path: log).path(percentEncoded: false)
            files.append(path)
            return .recorded(try RecordedLog(path: path).times)
        }
    }

    /// Reads `07:00-23:00`; a span over midnight becomes two.
    private static func minutes(
        _ text: String, _ mapping: ConfigurationMapping
    ) throws(CommandFailure) -> [Range<Int64>] {
        let ends = text.split(separator: "-", omittingEmptySubsequences: false).map {
            minute(String($0))
        }
        guard ends.count == 2, let begin = ends[0], let end = ends[1], begin != end else {
            throw mapping.failure(
                "hours", "holds something else than a span of the day",
                "Write spans as \"07:00-23:00\", in quotes.")
        }
        return begin < end ? [begin..<end] : [begin..<1440, 0..<end]
    }

    private static func minute(_ text: String) -> Int64? {
        let parts = text.trimmed.split(separator: ":")
        guard parts.count == 2, let hour = Int64(parts[0]), let minute = Int64(parts[1]),
            (0...24).contains(hour), (0...59).contains(minute), hour * 60 + minute <= 1440
        else { return nil }
        return hour * 60 + minute
    }
}

extension [EventStream] {
    /// Has the times of recorded streams, since the epoch so far, count from one midnight in UTC:
    /// the last before the first of all their events.
    mutating func beginAtMidnight() {
        let recorded = indices.filter { self[$0].lastRecorded != nil }
        let first = recorded.compactMap { self[$0].firstRecorded }.min() ?? 0
        let midnight = first - first % 86_400_000
        for index in recorded {
            guard case .recorded(let sequences) = self[index].pattern else { continue }
            self[index].pattern = .recorded(sequences.map { $0.map { $0 - midnight } })
        }
    }
}
