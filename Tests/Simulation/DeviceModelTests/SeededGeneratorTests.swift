// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import DeviceModel

@Suite("Chance with a seed")
struct SeededGeneratorTests {
    @Test("is SplitMix64: the published first values of seed 1234567")
    func reference() {
        var generator = SeededGenerator(seed: 1_234_567)
        #expect(
            (0..<3).map { _ in generator.next() } == [
                6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
            ])
    }

    @Test("waiting times have the mean and the tail of an exponential distribution")
    func exponential() {
        var generator = SeededGenerator(seed: 3)
        let values = (0..<100_000).map { _ in generator.exponential(mean: 1_000_000) }
        let mean = Double(values.reduce(0, +)) / 100_000
        // Five standard deviations of the mean are 1.6 %.
        #expect((984_000...1_016_000).contains(mean), "\(mean)")
        let beyondTwo = values.count { $0 > 2_000_000 }
        #expect((12_990...14_080).contains(beyondTwo), "e^-2 of them: \(beyondTwo)")
    }

    @Test("whole numbers stay in their range and reach its ends")
    func integers() {
        var generator = SeededGenerator(seed: 4)
        let values = (0..<1_000).map { _ in generator.integer(in: -2...2) }
        #expect(Set(values) == [-2, -1, 0, 1, 2])
        #expect(generator.integer(in: 5...5) == 5)
    }

    @Test("latency has the median and the 95th percentile that it was given")
    func latency() {
        let table = LogNormalTable(median: 500, percentile95: 5_000)
        var generator = SeededGenerator(seed: 5)
        let values = (0..<40_000).map { _ in table.sample(using: &generator) }.sorted()
        #expect((470...530).contains(values[20_000]), "\(values[20_000])")
        #expect((4_500...5_500).contains(values[38_000]), "\(values[38_000])")
        let none = LogNormalTable(median: 0, percentile95: 0)
        #expect(none.sample(using: &generator) == 0)
    }
}
