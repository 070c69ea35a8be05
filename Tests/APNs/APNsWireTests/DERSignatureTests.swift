// SPDX-License-Identifier: Apache-2.0

import APNsWire
import Testing

@Suite("Signatures in DER")
struct DERSignatureTests {
    private static func integer(_ bytes: [UInt8]) -> [UInt8] { [2, UInt8(bytes.count)] + bytes }

    private static func sequence(_ parts: [UInt8]) -> [UInt8] {
        [0x30, UInt8(parts.count)] + parts
    }

    private static func padded(_ bytes: [UInt8]) -> [UInt8] {
        Array(repeating: 0, count: 32 - bytes.count) + bytes
    }

    @Test("short, long and signed integers become 32 bytes each")
    func raw() {
        let high = [UInt8](repeating: 0xff, count: 32)
        let cases: [([UInt8], [UInt8])] = [
            ([1], [2]), (high, high), ([0x7f], high), (Array(high.dropFirst()), [0]),
        ]
        for (r, s) in cases {
            let parts = [r, s].flatMap { value -> [UInt8] in
                Self.integer((value[0] >= 0x80 ? [0] : []) + value)
            }
            #expect(DERSignature.raw(Self.sequence(parts)) == Self.padded(r) + Self.padded(s))
        }
    }

    @Test(
        "what is not a sequence of two such integers is refused",
        arguments: [
            [], [0x30], [0x30, 0], sequence(integer([1])),
            sequence(integer([1]) + integer([2]) + integer([3])),
            sequence(integer([1]) + integer([2])) + [0],
            sequence(integer([1]) + integer([0x80])), sequence(integer([1]) + integer([])),
            sequence(integer([0, 1]) + integer([2])),
            sequence(integer([UInt8](repeating: 1, count: 33)) + integer([2])),
            [0x31] + sequence(integer([1]) + integer([2])).dropFirst(),
            [0x30, 0x81, 6] + integer([1]) + integer([2]),
        ] as [[UInt8]])
    func refused(bytes: [UInt8]) {
        #expect(DERSignature.raw(bytes) == nil)
    }
}
