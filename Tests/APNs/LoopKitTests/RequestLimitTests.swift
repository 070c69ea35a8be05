// SPDX-License-Identifier: Apache-2.0

import LoopKit
import Testing

@Suite("How many requests a connection takes")
struct RequestLimitTests {
    @Test("one end tells nothing, two alike tell a habit, for ten minutes")
    func habit() {
        var limit = RequestLimit()
        #expect(limit.value(now: 0) == .max)
        limit.didEnd(after: 100, former: limit.lastEnd(now: 0), now: 0)
        #expect(limit.value(now: 0) == .max)
        limit.didEnd(after: 98, former: limit.lastEnd(now: 500), now: 1000)
        #expect(limit.value(now: 1000) == 98)
        #expect(limit.value(now: 600_999) == 98)
        #expect(limit.value(now: 601_000) == .max)
    }

    /// Guards the first end of all, which once was compared with nothing: a limit of 0.
    @Test("a first end after one request or none is no habit", arguments: [-1, 0, 1])
    func firstEnd(count: Int) {
        var limit = RequestLimit()
        limit.didEnd(after: count, former: limit.lastEnd(now: 0), now: 0)
        #expect(limit.value(now: 0) == .max)
    }

    @Test("ends after different numbers are no habit")
    func noHabit() {
        var limit = RequestLimit()
        for count in [3, 700, 20, 0, 90] {
            limit.didEnd(after: count, former: limit.lastEnd(now: 0), now: 0)
            #expect(limit.value(now: 0) == .max, "after \(count)")
        }
    }

    @Test("a server of five requests a connection is one of five")
    func five() {
        var limit = RequestLimit()
        limit.didEnd(after: 5, former: limit.lastEnd(now: 0), now: 0)
        limit.didEnd(after: 5, former: limit.lastEnd(now: 0), now: 0)
        #expect(limit.value(now: 0) == 5)
    }

    /// Guards against a server that restarts under connections with equal loads.
    @Test("connections that end together are no habit, and one of hours ago neither")
    func together() {
        var limit = RequestLimit()
        let former = limit.lastEnd(now: 0)
        for _ in 0..<4 { limit.didEnd(after: 150, former: former, now: 1000) }
        #expect(limit.value(now: 1000) == .max)
        let late = limit.lastEnd(now: 700_000)
        #expect(late == nil)
        limit.didEnd(after: 150, former: late, now: 700_000)
        #expect(limit.value(now: 700_000) == .max)
    }
}
