// SPDX-License-Identifier: Apache-2.0

import DeviceModel
import Testing

@testable import WakeSimulation

@Suite("Histogram")
struct HistogramTests {
    @Test("small values are exact, large ones within 1.6 %", arguments: [1, 2, 3, 4] as [UInt64])
    func percentiles(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var values: [Int64] = []
        var histogram = Histogram()
        for _ in 0..<5_000 {
            let scale = generator.integer(in: 0...40)
            let value = generator.integer(in: 0...(1 << scale))
            values.append(value)
            histogram.add(value)
        }
        values.sort()
        for percent in stride(from: 0, through: 100, by: 5) {
            let rank = max(1, (values.count * percent + 99) / 100)
            let exact = values[rank - 1]
            let found = histogram.percentile(percent) ?? -1
            let tolerance = exact < 64 ? 0 : Double(exact) * 0.016
            #expect(
                Double((found - exact).magnitude) <= tolerance,
                "seed \(seed), \(percent) %: \(found) instead of \(exact)")
        }
    }

    @Test("buckets have no gap and do not overlap")
    func buckets() {
        for value in 0..<10_000 as Range<Int64> {
            var histogram = Histogram()
            histogram.add(value)
            #expect(histogram.count(upTo: value) == 1, "\(value)")
            #expect(value < 64 || histogram.count(upTo: value - value / 30 - 1) == 0, "\(value)")
        }
    }

    @Test("merging is counting together, in any order")
    func merging() {
        var all = Histogram()
        var left = Histogram()
        var right = Histogram()
        for value in 0..<1_000 as Range<Int64> {
            all.add(value * value)
            if value.isMultiple(of: 3) { left.add(value * value) } else { right.add(value * value) }
        }
        var oneWay = left
        oneWay.merge(right)
        var otherWay = right
        otherWay.merge(left)
        #expect(oneWay == all)
        #expect(otherWay == all)
    }

    @Test("nothing counted has no percentile, and a negative value counts as 0")
    func ends() {
        var histogram = Histogram()
        #expect(histogram.percentile(50) == nil)
        histogram.add(-5)
        #expect(histogram.percentile(100) == 0)
    }
}
