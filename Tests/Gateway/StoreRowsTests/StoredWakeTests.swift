// SPDX-License-Identifier: Apache-2.0

import Gateway
import SeedKit
import StoreTestKit
import Testing
import WakeModel

@testable import StoreRows

@Suite("A wake in its row")
struct StoredWakeTests {
    @Test("It is read as it was written, in each state", arguments: WakeState.allCases)
    func roundTrip(state: WakeState) throws {
        for seed in 1...200 as ClosedRange<UInt64> {
            var random = SeededGenerator(seed: seed)
            let wake = try RandomWake.make(state, &random)
            var writer = ByteWriter()
            writer.put(wake)
            var reader = ByteReader(writer.bytes)
            let read = try reader.wake(
                number: wake.number, state: state, device: wake.device)
            #expect(read == wake, "seed \(seed)")
        }
    }

    @Test("A row that was cut, or is longer, is damaged and nothing else")
    func damaged() throws {
        var random = SeededGenerator(seed: 7)
        let wake = try RandomWake.make(.claimed, &random)
        var writer = ByteWriter()
        writer.put(wake)
        for count in 0..<writer.bytes.count {
            var reader = ByteReader(Array(writer.bytes.prefix(count)))
            #expect(throws: StoreFailure.self) {
                try reader.wake(
                    number: wake.number, state: .claimed, device: wake.device)
            }
        }
        var longer = ByteReader(writer.bytes + [0])
        #expect(throws: StoreFailure.self) {
            try longer.wake(number: wake.number, state: .claimed, device: wake.device)
        }
    }
}
