// SPDX-License-Identifier: Apache-2.0

import DeviceModel
import WakeModel

/// An event that requests a wake.
struct AskedWake: Hashable, Sendable {
    /// The time of the event, in milliseconds since the epoch.
    var at: Int64
    /// The index of its stream.
    var stream: Int
}

extension EventStream {
    /// The times of the stream's events for one device, in milliseconds since the epoch, unordered.
    func instants(
        start: Int64, end: Int64, device: Int, using generator: inout SeededGenerator
    ) -> [Int64] {
        var instants: [Int64] = []
        switch pattern {
        case .fixed(let every, let after, let count):
            var at = start + after * 1000
            while at < end, instants.count < count {
                instants.append(at)
                at += max(1, every) * 1000
            }
        case .poisson(let perHour):
            for at in Self.poisson(perHour / 3_600_000, start, end, &generator) {
                instants.append(at)
            }
        case .bursts(let perDay, let size, let within):
            for begin in Self.poisson(perDay / 86_400_000, start, end, &generator) {
                // The number of events has a geometric distribution; at least one.
                instants.append(begin)
                while generator.chance(1 - 1 / max(1, size)) {
                    instants.append(begin + generator.integer(in: 0...max(0, within * 1000)))
                }
            }
        case .recorded(let sequences):
            guard !sequences.isEmpty else { return [] }
            return sequences[device % sequences.count].map { start + $0 }
                .filter { (start..<end).contains($0) }
        }
        return instants.filter { $0 < end && isActive(at: $0 - start) }
    }

    private static func poisson(
        _ perMillisecond: Double, _ start: Int64, _ end: Int64,
        _ generator: inout SeededGenerator
    ) -> [Int64] {
        guard perMillisecond > 0 else { return [] }
        let gap = Int64(1 / perMillisecond)
        var instants: [Int64] = []
        var at = start + generator.exponential(mean: gap)
        while at < end {
            instants.append(at)
            at += max(1, generator.exponential(mean: gap))
        }
        return instants
    }

    private func isActive(at sinceStart: Int64) -> Bool {
        let minute = sinceStart / 60_000 % 1440
        return hours.isEmpty || hours.contains { $0.contains(minute) }
    }
}

extension Scenario {
    /// All events for one device, in order of time.
    func asks(ofDevice index: Int, using generator: inout SeededGenerator) -> [AskedWake] {
        let (start, end) = (start.millisecondsSinceEpoch, end.millisecondsSinceEpoch)
        var asks: [AskedWake] = []
        for (number, stream) in streams.enumerated() {
            var source =
                stream.isShared
                ? SeededGenerator(seed: seed ^ 0x5eed, stream: UInt64(number)) : generator
            let instants = stream.instants(
                start: start, end: end, device: index, using: &source)
            if !stream.isShared { generator = source }
            for at in instants {
                let spread = stream.spreadSeconds * 1000
                let late = spread > 0 ? generator.integer(in: 0...spread) : 0
                if at + late < end { asks.append(AskedWake(at: at + late, stream: number)) }
            }
        }
        asks.sort { ($0.at, $0.stream) < ($1.at, $1.stream) }
        return asks
    }
}
