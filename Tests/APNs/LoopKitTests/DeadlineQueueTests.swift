// SPDX-License-Identifier: Apache-2.0

import LoopKit
import SeedKit
import Testing
import TransportTestKit

@Suite("Deadlines")
struct DeadlineQueueTests {
    @Test("who is due comes out in order of time, and nobody else")
    func order() {
        let queue = DeadlineQueue()
        for (id, due) in [(1, 30), (2, 10), (3, 20), (4, 40)] as [(UInt64, Int64)] {
            queue.insert(id, due: due)
        }
        #expect(queue.nextDue == 10)
        #expect(queue.popDue(now: 9) == nil)
        #expect(queue.popDue(now: 30) == 2)
        #expect(queue.popDue(now: 30) == 3)
        #expect(queue.popDue(now: 30) == 1)
        #expect(queue.popDue(now: 30) == nil)
        #expect(queue.nextDue == 40)
    }

    @Test(
        "as a model of arrays would do it, for many seeds", arguments: 1...20, [true, false])
    func model(seed: Int, areIDsReused: Bool) {
        var random = SeededGenerator(seed: UInt64(seed))
        let queue = DeadlineQueue()
        var living: [UInt64: Int64] = [:]
        var now: Int64 = 0
        for number in UInt64(0)..<4000 {
            // An id may be used again once it has come to its end.
            let id = areIDsReused ? number % 100 : number
            let due = now + Int64(random.next() % 500)
            if living[id] == nil {
                queue.insert(id, due: due)
                living[id] = due
            }
            if random.chance(oneIn: 2), let victim = living.keys.randomElement(using: &random) {
                living[victim] = nil
                queue.didFinish { living[$0] == $1 }
            }
            now += Int64(random.next() % 3)
            var expected = Set(living.filter { $0.value <= now }.keys)
            while let due = queue.popDue(now: now) {
                // One that is over, or whose id is another's by now.
                guard living[due].map({ $0 <= now }) == true else { continue }
                living[due] = nil
                #expect(expected.remove(due) != nil, "seed \(seed)")
                queue.didFinish { living[$0] == $1 }
            }
            #expect(expected.isEmpty, "seed \(seed)")
            #expect(queue.count <= 2 * living.count + 1025, "seed \(seed)")
        }
    }

    @Test("a time without end is a time like any other")
    func extremes() {
        let queue = DeadlineQueue()
        queue.insert(1, due: .max)
        #expect(queue.popDue(now: .max - 1) == nil)
        #expect(queue.popDue(now: .max) == 1)
    }

    @Test(
        "durations become whole milliseconds, rounded up, never negative, never too large",
        arguments: [
            (.zero, 0), (.nanoseconds(1), 1), (.milliseconds(1), 1), (.microseconds(1001), 2),
            (.seconds(2), 2000), (.seconds(-1), 0), (.nanoseconds(-1), 0),
            (.seconds(Int64.max), Int64.max / 4),
        ] as [(Duration, Int64)])
    func milliseconds(duration: Duration, expected: Int64) {
        #expect(duration.wholeMilliseconds == expected)
    }
}
