// SPDX-License-Identifier: Apache-2.0

import Testing
import WakeModel

@Suite("Hashes and seeds")
struct FNV1aTests {
    @Test(
        "the hashes are those of RFC 9923's vectors",
        arguments: [
            ("", 0xcbf2_9ce4_8422_2325), ("a", 0xaf63_dc4c_8601_ec8c),
            ("foobar", 0x8594_4171_f739_67e8),
        ] as [(String, UInt64)])
    func vectors(text: String, expected: UInt64) { #expect(FNV1a.hash(text.utf8) == expected) }

    @Test("a sequence has the published values of seed 1234567, in order and by place")
    func sequence() {
        let published: [UInt64] = [
            6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
        ]
        var bits = SplitMix64(seed: 1_234_567)
        for (index, value) in published.enumerated() {
            #expect(bits.next() == value)
            #expect(SplitMix64.value(seed: 1_234_567, index: UInt64(index)) == value)
        }
    }
}
