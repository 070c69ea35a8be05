// SPDX-License-Identifier: Apache-2.0

import PushTransport
import SeedKit
import Testing

@testable import APNsClient

@Suite("What is remembered of submissions")
struct SubmissionTableTests {
    /// Few at a time, so that ids go round a small table often and those that stay stand in the way
    /// of later ones.
    @Test("agrees with a dictionary", arguments: 1...20 as ClosedRange<UInt64>)
    func dictionary(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var table = SubmissionTable<Int>()
        var expected: [TransportRequest.ID: Int] = [:]
        var displaced = 0
        for id in 1...4000 as ClosedRange<TransportRequest.ID> {
            table.insert(id, Int(id) * 3)
            expected[id] = Int(id) * 3
            while expected.count >= SubmissionTable<Int>.initialCapacity / 2
                || (!expected.isEmpty && random.chance(oneIn: 3))
            {
                let gone = random.pick(expected.keys.sorted())
                #expect(table.remove(gone) == expected.removeValue(forKey: gone), "seed \(seed)")
                #expect(table.remove(gone) == nil, "seed \(seed)")
            }
            #expect(table.count == expected.count)
            displaced += Self.crowds(in: table)
        }
        #expect(table.entries.count == SubmissionTable<Int>.initialCapacity)
        #expect(displaced > 1000, "too few collisions to mean anything, seed \(seed)")
        for (id, value) in expected { #expect(table.remove(id) == value, "seed \(seed)") }
        #expect(table.entries.allSatisfy { $0.value == nil })
    }

    /// Entries behind one of another eight, without a gap between.
    private static func crowds(in table: SubmissionTable<Int>) -> Int {
        let entries = table.entries
        return entries.indices.dropFirst().count {
            entries[$0].value != nil && entries[$0 - 1].value != nil
                && entries[$0].id >> 3 != entries[$0 - 1].id >> 3
        }
    }

    /// A removal looks at all entries to the next gap, with the client's lock held.
    @Test("many in a row leave gaps", arguments: [1000, 8000, 100_000])
    func gaps(count: Int) {
        var table = SubmissionTable<Int>()
        for id in 1...count { table.insert(TransportRequest.ID(id), id) }
        var longest = 0
        var run = 0
        for entry in table.entries {
            run = entry.value == nil ? 0 : run + 1
            longest = max(longest, run)
        }
        #expect(longest < 1000)
        for id in 1...count { #expect(table.remove(TransportRequest.ID(id)) == id) }
    }
}
