// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import StorePostgreSQL

@Suite("Statements")
struct StatementTests {
    @Test("the name follows from the text and the types, and from nothing else")
    func names() {
        let one = Statement("SELECT $1", .int8)
        #expect(one.name == Statement("SELECT $1", .int8).name)
        #expect(one.name != Statement("SELECT $1", .int4).name)
        #expect(one.name != Statement("SELECT  $1", .int8).name)
        #expect(one.name.count == 22)
        #expect(one.renewed(0) == one)
        #expect(one.renewed(1).name != one.name)
        #expect(one.renewed(1).sql == "SELECT $1 /* 1 */")
    }
}
