// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import StorePostgreSQL

@Suite("The difference between the database's clock and the machine's")
struct ClockOffsetTests {
    @Test("The first answer is taken for one from the middle of its round trip")
    func first() {
        var offset = ClockOffset()
        #expect(offset.milliseconds == nil)
        offset.note(databaseTime: 1_010, between: 0, and: 20)
        #expect(offset.milliseconds == 1_000)
    }

    @Test("A process that stood still between question and answer keeps the offset that it knew")
    func standstill() {
        var offset = ClockOffset()
        offset.note(databaseTime: 1_001, between: 0, and: 2)
        // The database answers at once; the answer is read 40 s later.
        offset.note(databaseTime: 2_001, between: 1_000, and: 41_000)
        #expect(offset.milliseconds == 1_000)
        // Or it is sent 40 s later.
        offset.note(databaseTime: 82_000, between: 41_000, and: 81_001)
        #expect(offset.milliseconds == 1_000)
    }

    @Test("A clock that is set, or runs slow, is followed as far as an answer shows it")
    func changes() {
        var offset = ClockOffset()
        offset.note(databaseTime: 1_001, between: 0, and: 2)
        // The database's is an hour ahead from here on.
        offset.note(databaseTime: 3_601_010, between: 0, and: 10)
        #expect(offset.milliseconds == 3_601_000)
        // And an hour behind again.
        offset.note(databaseTime: 1_010, between: 0, and: 10)
        #expect(offset.milliseconds == 1_010)
        // This machine's is set back between question and answer.
        offset.note(databaseTime: 1_010, between: 5_000, and: 10)
        #expect(offset.milliseconds == 1_010 - 2_505)
    }
}
