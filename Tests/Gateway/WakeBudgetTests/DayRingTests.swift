// SPDX-License-Identifier: Apache-2.0

import SeedKit
import Testing

@testable import WakeBudget

@Suite("Sends of a day")
struct DayRingTests {
    @Test("as many as were added count, whatever their distance", arguments: 1...192)
    func total(count: Int) {
        var ring = DayRing()
        let gap = UInt32(86_000 / count)
        var now: WrappedSeconds = 4_294_900_000
        for number in 0..<count {
            now &+= number == 0 ? 0 : gap
            ring.advance(to: now)
            ring.add()
            #expect(ring.total == number + 1)
        }
    }

    @Test("slots that are all full add up", arguments: 1...61)
    func full(slots: Int) {
        var ring = DayRing()
        for slot in 0..<slots {
            ring.advance(to: WrappedSeconds(slot) * 1_440)
            for _ in 0..<20 { ring.add() }
            #expect(ring.total == 15 * (slot + 1))
        }
    }

    @Test("a send counts for 24 hours, and for at most one slot longer")
    func age() {
        for offset in stride(from: UInt32(0), to: 1_440, by: 7) {
            var ring = DayRing()
            ring.advance(to: 0)
            ring.add()
            ring.advance(to: offset)
            ring.add()
            ring.remove(0)
            #expect(ring.total == 1)
            ring.advance(to: offset + 86_399)
            #expect(ring.total == 1, "offset \(offset)")
            ring.advance(to: offset + 86_400 + 1_440)
            #expect(ring.total == 0, "offset \(offset)")
        }
    }

    @Test("it agrees with a list of sends, and knows when there is room", arguments: 1...20)
    func model(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var ring = DayRing()
        var sends: [WrappedSeconds] = []
        var now: WrappedSeconds = 0
        for _ in 0..<500 {
            now &+= WrappedSeconds(generator.next() % (generator.next() % 8 == 0 ? 90_000 : 2_000))
            ring.advance(to: now)
            sends.removeAll { now &- $0 >= 86_400 + 1_440 }
            let certain = sends.filter { now &- $0 < 86_400 }.count
            #expect(ring.total >= certain && ring.total <= sends.count, "seed \(seed)")
            if ring.total > 0 {
                let limit = 1 + Int(generator.next() % UInt64(ring.total))
                let until =
                    ring.start
                    &+ WrappedSeconds(second: ring.opens(limit: limit, latest: .min / 2))
                var later = ring
                later.advance(to: until &- 1)
                #expect(later.total >= limit, "seed \(seed)")
                later.advance(to: until)
                #expect(later.total < limit, "seed \(seed)")
            }
            if ring[0] < 12 {
                ring.add()
                sends.append(now)
            }
            if generator.next() % 16 == 0, let taken = sends.randomElement(using: &generator) {
                let before = ring.total
                ring.remove(taken)
                #expect(ring.total == before - 1 || now &- taken >= 86_400, "seed \(seed)")
                sends.remove(at: sends.firstIndex(of: taken) ?? 0)
            }
        }
    }

    @Test("it knows when the sends beyond half of the limit are spread", arguments: 1...20)
    func paced(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var ring = DayRing()
        var now: WrappedSeconds = 0
        for _ in 0..<300 {
            now &+= WrappedSeconds(generator.next() % (generator.next() % 8 == 0 ? 40_000 : 2_000))
            ring.advance(to: now)
            if ring[0] < 12 { ring.add() }
            let limit = 1 + Int(generator.next() % 64)
            let latest = now
            func isOpen(at instant: WrappedSeconds) -> Bool {
                var later = ring
                later.advance(to: instant)
                let pace = DayRing.pace(used: later.total, limit: limit)
                return later.total < limit && Int64(instant &- latest) >= pace
            }
            guard !isOpen(at: now) else { continue }
            let opens = ring.opens(limit: limit, latest: Int64(latest &- ring.start))
            let until = ring.start &+ WrappedSeconds(second: opens)
            #expect(isOpen(at: until), "seed \(seed)")
            #expect(!isOpen(at: until &- 1), "seed \(seed)")
        }
    }
}
