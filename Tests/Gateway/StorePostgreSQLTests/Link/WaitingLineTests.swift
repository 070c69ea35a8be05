// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import StorePostgreSQL

@Suite("The order of those who wait for a session")
struct WaitingLineTests {
    /// A line of these waiters: `u` is urgent, `g` the gateway's own, and `c` a caller's.
    private static func line(_ waiters: String) -> WaitingLine<Character> {
        var line = WaitingLine<Character>()
        add(waiters, to: &line)
        return line
    }

    private static func add(_ waiters: String, to line: inout WaitingLine<Character>) {
        let ranks: [Character: Session.Rank] = ["u": .urgent, "g": .gateway, "c": .caller]
        for waiter in waiters { line.append(waiter, ranks[waiter, default: .caller]) }
    }

    private static func order(
        _ line: inout WaitingLine<Character>, callers: Bool = true
    ) -> String {
        var order = ""
        while let (waiter, _) = line.popNext(callers: callers) { order.append(waiter) }
        return order
    }

    @Test(
        "A higher rank goes first, though never twice in a row",
        arguments: [
            ("", ""), ("ccc", "ccc"), ("ggc", "gcg"), ("cccu", "uccc"), ("cgu", "ugc"),
            ("cgcgcguuu", "ugucugcgc"), ("ccgguuuu", "ugucuguc"),
        ])
    func order(waiters: String, order: String) {
        var line = Self.line(waiters)
        #expect(line.count == waiters.count)
        let found = Self.order(&line)
        #expect(found == order)
        #expect(line.isEmpty)
    }

    @Test("An urgent one passes again once others have had their turn")
    func again() {
        var line = Self.line("cu")
        let first = Self.order(&line)
        #expect(first == "uc")
        Self.add("cccu", to: &line)
        let second = Self.order(&line)
        #expect(second == "uccc")
    }

    @Test("While no caller may have a session, the others go as if there were none")
    func withoutCallers() {
        var line = Self.line("ccggg")
        let first = Self.order(&line, callers: false)
        #expect(first == "ggg")
        let rest = Self.order(&line)
        #expect(rest == "cc")
    }

    @Test("Those who leave are returned, of all ranks")
    func leaving() {
        var line = Self.line("cgug")
        let gone = line.removeAll { $0 == "g" }
        #expect(gone == ["g", "g"])
        let rest = Self.order(&line)
        #expect(rest == "uc")
        #expect(line.isEmpty)
    }
}
