// SPDX-License-Identifier: Apache-2.0

import PushTransport
import SeedKit
import Testing
import TransportTestKit

@testable import LoopKit

@Suite("Table of ids")
struct PlaceTableTests {
    @Test("the table is a dictionary, for many seeds", arguments: 1...10)
    func table(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let table = PlaceTable()
        var model: [TransportRequest.ID: PlaceTable.Place] = [:]
        for step in 0..<20_000 {
            // Few ids, so that they meet; some counted, some far apart.
            let id =
                random.chance(oneIn: 2)
                ? random.next() % 2000 : random.next() % 2000 &* 0x10_0000_0001
            if random.chance(oneIn: 2) {
                let isNew = table.insert(id, PlaceTable.Place(step))
                #expect(isNew == (model[id] == nil), "seed \(seed)")
                if isNew { model[id] = PlaceTable.Place(step) }
            } else {
                table.remove(id)
                model[id] = nil
            }
            #expect(table[id] == model[id], "seed \(seed)")
        }
        #expect(table.count == model.count)
        #expect(model.allSatisfy { table[$0.key] == $0.value }, "seed \(seed)")
    }
}
