// SPDX-License-Identifier: Apache-2.0

import Gateway
import GatewayTestKit
import Testing
import WakeModel

@testable import StoreSQLite

@Suite("The devices in memory")
struct DeviceCacheTests {
    private func device(_ number: Int64, latest: Int64 = 0) -> DeviceRow {
        var device = DeviceRow(
            number: number, queue: 1, token: Samples.deviceToken(UInt64(number)),
            kind: .background, touchedAt: Samples.start)
        device.latest = latest
        return device
    }

    @Test("It is bounded, and keeps what was used last")
    func bounded() {
        var cache = DeviceCache(capacity: 10)
        for number in 1...100 as ClosedRange<Int64> {
            cache.insert(device(number))
            #expect(cache.find(1) != nil, "What is asked for each time stays.")
        }
        let kept = (1...100 as ClosedRange<Int64>).filter { cache.find($0) != nil }
        #expect(kept.count <= 10 && kept.contains(1))
    }

    @Test("Changes are seen at once, kept by a commit and dropped by an undoing")
    func transactions() {
        var cache = DeviceCache(capacity: 10)
        cache.insert(device(1))
        cache.change(device(1, latest: 5))
        #expect(cache.find(1)?.latest == 5)
        cache.rolledBack()
        #expect(cache.find(1) == nil, "It is read again.")
        cache.change(device(1, latest: 6))
        cache.committed()
        #expect(cache.find(1)?.latest == 6 && cache.dirty.isEmpty)
        cache.remove(1)
        #expect(cache.find(1) == nil)
    }

    @Test("What is to be written stays until it is, however many there are")
    func manyChanges() {
        var cache = DeviceCache(capacity: 10)
        for number in 1...50 as ClosedRange<Int64> { cache.change(device(number, latest: 3)) }
        for number in 51...90 as ClosedRange<Int64> { cache.insert(device(number)) }
        for number in 1...50 as ClosedRange<Int64> { #expect(cache.find(number)?.latest == 3) }
        #expect(cache.dirty.count == 50)
        cache.committed()
        cache.change(device(1, latest: 4))
        cache.rolledBack()
        #expect(cache.find(1) == nil, "Nothing older is found again either.")
    }

    @Test("Without any room it keeps what is to be written, and nothing else")
    func none() {
        var cache = DeviceCache(capacity: 0)
        cache.insert(device(1))
        #expect(cache.find(1) == nil)
        cache.change(device(2))
        #expect(cache.find(2) != nil)
        cache.committed()
        #expect(cache.find(2) == nil)
    }
}
