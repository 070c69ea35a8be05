// SPDX-License-Identifier: Apache-2.0

import Testing
import WakeModel

@testable import StoreRows

@Suite("The number of a device")
struct TokenHashTests {
    /// By another implementation: CPython 3.11's `hash(bytes)` with PYTHONHASHSEED=0, which is
    /// SipHash-1-3 under a key of zeros, over the queue's eight bytes and the token's digits.
    @Test(
        "It is SipHash-1-3 of queue and token",
        arguments: [
            (1, "00", 4_591_492_207_583_575_770),
            (2, String(repeating: "ab", count: 32), 1_013_611_334_724_888_781),
            (7, String(repeating: "0123456789abcdef", count: 4), 3_617_222_399_961_835_242),
        ] as [(Int64, String, Int64)])
    func vectors(queue: Int64, token: String, number: Int64) throws {
        #expect(TokenHash(0, 0).number(of: try DeviceToken(hex: token), queue: queue) == number)
    }

    @Test("Another key gives another number, and so does another queue")
    func keyed() throws {
        let token = try DeviceToken(hex: "ab")
        let numbers = [
            TokenHash(1, 2).number(of: token, queue: 1),
            TokenHash(3, 2).number(of: token, queue: 1),
            TokenHash(1, 3).number(of: token, queue: 1),
            TokenHash(1, 2).number(of: token, queue: 2),
        ]
        #expect(Set(numbers).count == 4 && numbers.allSatisfy { $0 > 0 })
    }
}
