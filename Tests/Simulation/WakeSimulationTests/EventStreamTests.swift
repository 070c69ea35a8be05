// SPDX-License-Identifier: Apache-2.0

import DeviceModel
import Testing
import WakeModel

@testable import WakeSimulation

@Suite("Streams of events")
struct EventStreamTests {
    private func instants(
        _ pattern: EventStream.Pattern, hours: [Range<Int64>] = [], days: Int64 = 30,
        device: Int = 0
    ) -> [Int64] {
        var stream = EventStream(name: "s", pattern: pattern)
        stream.hours = hours
        var generator = SeededGenerator(seed: 7)
        return stream.instants(
            start: 0, end: days * 86_400_000, device: device, using: &generator)
    }

    @Test("fixed events come when they should, and no more than they should")
    func fixed() {
        let pattern = EventStream.Pattern.fixed(everySeconds: 450, afterSeconds: 10, count: 14)
        #expect(instants(pattern) == (0..<14).map { 10_000 + $0 * 450_000 })
    }

    @Test("Poisson events come as often as they should")
    func poisson() {
        // 7200 are expected; five standard deviations are 424.
        let count = instants(.poisson(perHour: 10)).count
        #expect((6_776...7_624).contains(count), "\(count)")
    }

    @Test("bursts are as many and as large as they should be, and as short")
    func bursts() {
        let events = instants(.bursts(perDay: 10, size: 8, withinSeconds: 60), days: 300)
        // 3000 bursts of 8; the standard deviation of their sum is under 600.
        #expect((21_000...27_000).contains(events.count), "\(events.count)")
        let single = instants(.bursts(perDay: 10, size: 1, withinSeconds: 60), days: 300)
        #expect((2_700...3_300).contains(single.count), "\(single.count)")
    }

    @Test("hours are kept")
    func hours() {
        let events = instants(.poisson(perHour: 20), hours: [360..<600])
        #expect(!events.isEmpty)
        #expect(events.allSatisfy { (360..<600).contains($0 / 60_000 % 1440) })
    }

    @Test("recorded sequences are taken in turn")
    func recorded() {
        let log = EventStream.Pattern.recorded([[1, 2], [3]])
        #expect(instants(log, device: 0) == [1, 2])
        #expect(instants(log, device: 1) == [3])
        #expect(instants(log, device: 2) == [1, 2])
    }

    @Test("all devices get the events of a shared stream, spread over the time it says")
    func shared() {
        var scenario = Scenario(name: "s")
        var stream = EventStream(name: "news", pattern: .poisson(perHour: 2))
        stream.isShared = true
        scenario.streams = [stream]
        var left = SeededGenerator(seed: 1)
        var right = SeededGenerator(seed: 2)
        let asks = scenario.asks(ofDevice: 0, using: &left)
        #expect(asks == scenario.asks(ofDevice: 1, using: &right))
        scenario.streams[0].spreadSeconds = 60
        let spread = scenario.asks(ofDevice: 0, using: &left)
        #expect(zip(asks, spread).allSatisfy { $0.at <= $1.at && $1.at <= $0.at + 60_000 })
        #expect(spread != asks)
    }
}
