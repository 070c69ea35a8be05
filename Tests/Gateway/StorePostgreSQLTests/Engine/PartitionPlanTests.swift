// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import StorePostgreSQL

@Suite("Which partitions are made and dropped")
struct PartitionPlanTests {
    private typealias Partition = PartitionPlan.Partition
    private static let day: Int64 = 86_400_000
    /// Some day of 2026, at noon.
    private static let today: Int64 = 20_782
    private static let noon = today * day + day / 2

    /// Partitions of these days.
    private static func partitions(_ days: ClosedRange<Int64>) -> [Partition] {
        days.map { Partition(name: "\($0)", end: $0 + 1) }
    }

    private static func missing(
        _ partitions: [Partition], at time: Int64 = noon, locally: Int64? = nil
    ) -> ClosedRange<Int64>? {
        PartitionPlan(partitions, databaseTime: time, localTime: locally ?? time).missing
    }

    @Test("today and the next days have one")
    func ahead() {
        let today = Self.today
        #expect(Self.missing([]) == today...today + 3)
        #expect(Self.missing(Self.partitions(today - 5...today + 3)) == nil)
        #expect(Self.missing(Self.partitions(today - 5...today + 2)) == today + 3...today + 3)
        #expect(Self.missing(Self.partitions(today - 5...today - 2)) == today...today + 3)
        // That of all days until tomorrow, which an earlier version's rows became.
        let before = [Partition(name: "until", end: today + 1)]
        #expect(Self.missing(before) == today + 1...today + 3)
    }

    @Test("a clock that the other one does not agree with makes none")
    func disagreement() {
        let year3000 = Self.noon + 974 * 365 * Self.day
        let there = Self.partitions(Self.today - 7...Self.today)
        #expect(Self.missing(there, at: year3000, locally: Self.noon) == nil)
        #expect(Self.missing(there, at: Self.noon, locally: year3000) == nil)
        #expect(Self.missing(there, locally: Self.noon + Self.day / 2) != nil)
    }

    @Test("both clocks leap: nothing is made until they have stayed there for a while")
    func leap() {
        let year3000 = Self.noon + 974 * 365 * Self.day
        let there = Self.partitions(Self.today - 7...Self.today)
        let leapt = PartitionPlan(there, databaseTime: year3000, localTime: year3000)
        let normal = PartitionPlan(there, databaseTime: Self.noon, localTime: Self.noon)
        #expect(leapt.hasLeapt && !normal.hasLeapt)
        var watch = PartitionWatch()
        let start = ContinuousClock.now
        let looks: [(plan: PartitionPlan, seconds: Int)] = [
            (leapt, 0), (leapt, 500),
            // Back again, and away again: it begins anew.
            (normal, 550), (leapt, 601), (leapt, 1_300),
        ]
        let allowed = looks.map { watch.allows($0.plan, at: start + .seconds($0.seconds)) }
        #expect(allowed == [false, false, true, false, true])
    }

    @Test("partitions of years to come do not stand in the way of today's")
    func strays() {
        let strays = Self.partitions(Self.today + 300_000...Self.today + 300_003)
        let there = Self.partitions(Self.today - 1...Self.today)
        #expect(Self.missing(there + strays) == Self.today + 1...Self.today + 3)
    }

    @Test("one is old when its whole day is")
    func old() {
        let there = Self.partitions(Self.today - 3...Self.today)
        let old = PartitionPlan.old(there.reversed(), before: Self.noon - Self.day)
        #expect(old.map(\.end) == [Self.today - 2, Self.today - 1])
        #expect(PartitionPlan.old(there, before: (Self.today - 2) * Self.day - 1).isEmpty)
        #expect(PartitionPlan.day(of: -1) == -1)
    }
}
