// SPDX-License-Identifier: Apache-2.0

import GatewayTestKit
import SeedKit
import Testing
import WakeModel

@testable import AdminAPI

@Suite("The token bucket")
struct TokenBucketTests {
    private static let second: UInt64 = 1_000_000_000

    @Test("A full bucket gives its burst, then one token in so many seconds")
    func burst() throws {
        let rate = try RequestRate(perSecond: 2, burst: 3)
        var bucket = TokenBucket(rate, at: 0)
        for _ in 0..<3 { #expect(bucket.take(at: 0) == nil) }
        #expect(bucket.take(at: 0) == 1)
        #expect(bucket.take(at: Self.second / 2 - 1) == 1)
        #expect(bucket.take(at: Self.second / 2) == nil)
        #expect(bucket.take(at: Self.second / 2) == 1)
    }

    @Test("A batch takes more than there is, and the next one waits until it is made up for")
    func debt() throws {
        var bucket = TokenBucket(try RequestRate(perSecond: 2, burst: 10), at: 0)
        #expect(bucket.take(at: 0) == nil)
        // Nine are left; eleven are lacking afterwards.
        #expect(bucket.debit(20, at: 0) == nil)
        #expect(bucket.take(at: 0) == 6)
        #expect(bucket.debit(1, at: 0) == 6)
        #expect(bucket.debit(1, at: 5 * Self.second) == 1)
        // Made up for, with one to spare, after six seconds.
        #expect(bucket.take(at: 6 * Self.second) == nil)
        #expect(bucket.take(at: 6 * Self.second) == 1)
        #expect(bucket.debit(0, at: 6 * Self.second) == nil)
        #expect(bucket.take(at: .max) == nil)
    }

    @Test("A clock that goes back neither fills nor traps")
    func backwards() throws {
        var bucket = TokenBucket(try RequestRate(perSecond: 1, burst: 1), at: 10 * Self.second)
        #expect(bucket.take(at: 10 * Self.second) == nil)
        #expect(bucket.take(at: 5 * Self.second) == 1)
        #expect(bucket.take(at: .max) == nil)
    }

    @Test(
        "In any stretch no more than burst and rate together, whatever the calls", arguments: 0..<8)
    func bound(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let perSecond = Int.random(in: 1...1_000, using: &generator)
        let burst = Int.random(in: 1...2_000, using: &generator)
        var bucket = TokenBucket(try RequestRate(perSecond: perSecond, burst: burst), at: 0)
        var now: UInt64 = 0
        var taken = 0
        for _ in 0..<5_000 {
            now += UInt64.random(in: 0...Self.second / 50, using: &generator)
            if bucket.take(at: now) == nil { taken += 1 }
        }
        let most = Double(burst) + Double(perSecond) * Double(now) / Double(Self.second)
        #expect(Double(taken) <= most + 1, "seed \(seed)")
        // And no less than the rate gives, as far as it was asked for.
        let asked = 5_000.0
        #expect(Double(taken) >= min(asked, most) - 1, "seed \(seed)")
    }

    @Test("Rates out of range are refused", arguments: [(0, nil), (100_001, nil), (1, 0)])
    func range(perSecond: Int, burst: Int?) {
        #expect(throws: InvalidField.self) {
            try RequestRate(perSecond: perSecond, burst: burst)
        }
    }
}
