// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import WakeSimulation

@Suite("Staleness")
struct FreshnessTests {
    @Test("an event is stale until the next sync; the age counts from the oldest")
    func sync() {
        var freshness = Freshness()
        var tally = Tally()
        tally.watchedMilliseconds = 1_000
        freshness.event(at: 100, &tally)
        freshness.event(at: 150, &tally)
        freshness.sync(at: 160, &tally)
        freshness.sync(at: 900, &tally)
        freshness.finish(at: 1_000, &tally)
        #expect(tally.staleness.percentile(100) == 60)
        #expect(tally.staleness.percentile(50) == 10)
        // The age rises from 0 to 60 within 60 ms, and is 0 for the rest of a second.
        #expect(tally.meanAge == 60 * 60 / 2 / 1_000.0)
        #expect(tally.unseen == 0)
    }

    @Test("in the foreground an event is seen at once")
    func foreground() {
        var freshness = Freshness()
        var tally = Tally()
        freshness.event(at: 0, &tally)
        freshness.enterForeground(at: 40, &tally)
        freshness.event(at: 50, &tally)
        freshness.leaveForeground()
        freshness.event(at: 60, &tally)
        freshness.finish(at: 100, &tally)
        #expect(tally.staleness.count == 3)
        #expect(tally.staleness.percentile(1) == 0)
        #expect(tally.staleness.percentile(100) == 40)
        #expect(tally.unseen == 1)
    }
}
