// SPDX-License-Identifier: Apache-2.0

import SeedKit
import Testing

@testable import WakeBudget

@Suite("Times of the last sends")
struct SendTimesTests {
    @Test("they agree with a list", arguments: 1...20)
    func model(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var times = SendTimes()
        var list: [WrappedSeconds] = []
        var now: WrappedSeconds = 0xffff_0000
        for _ in 0..<500 {
            switch generator.next() % 8 {
            case 0:
                let index = Int(generator.next() % 14)
                let stamp = index < list.count ? list[index] : 1
                let found = times.remove(stamp)
                #expect(found == list.firstIndex(of: stamp), "seed \(seed)")
                if let found { list.remove(at: found) }
            case 1:
                let back = UInt32(generator.next() % 100_000)
                times.moveBack(by: back)
                now &-= back
                list = list.map { $0 &- back }
            default:
                now &+= UInt32(generator.next() % 10_000)
                times.insert(now)
                list = [now] + list.prefix(12)
            }
            #expect((0..<Int(times.count)).map { times[$0] } == list, "seed \(seed)")
            #expect(times.isCanonical, "seed \(seed)")
        }
    }

    @Test("when the send after such a gap is taken out, the one before it holds nobody back")
    func takenOutBehindLongGap() {
        let (first, second): (WrappedSeconds, WrappedSeconds) = (1_000, 1_000 + 20 * 86_400)
        var times = SendTimes()
        times.insert(first)
        times.insert(second)
        #expect(times.remove(second) == 0)
        #expect(times.count == 1)
        #expect(Int(second &- times.latest) >= BudgetLimits.probeSeconds.upperBound)
    }

    @Test("a gap of over 18 hours makes older sends younger, never older")
    func longGap() {
        var times = SendTimes()
        times.insert(0)
        times.insert(100_000)
        times.insert(100_900)
        #expect(times[0] == 100_900)
        #expect(times[1] == 100_000)
        #expect(times[2] == 100_000 - 65_535)
    }
}
