// SPDX-License-Identifier: Apache-2.0

extension DeviceLedger {
    /// The violated invariants of a ledger, each as a clause; empty unless there is a bug or the
    /// bytes that it was read from are damaged. For tests and for ``init(decoding:)``.
    public func invariantsBroken() -> [String] {
        switch form {
        case .background(let ledger): ledger.invariantsBroken()
        case .voip(let ledger): ledger.invariantsBroken()
        case .plain(let ledger): ledger.invariantsBroken()
        }
    }
}

extension BackgroundLedger {
    func invariantsBroken() -> [String] {
        var broken: [String] = []
        func expect(_ isSo: Bool, _ clause: String) { if !isSo { broken.append(clause) } }
        // A stamp in the future means one that is older than anything that is recorded.
        func isPast(_ stamp: WrappedSeconds) -> Bool { Int32(bitPattern: now &- stamp) >= 0 }

        expect(
            clock >= Self.beforeAllTime && clock <= Int64.max / 1000 + 1,
            "the clock is beyond all time")
        expect(sends.isCanonical, "the times of sends hold what is none")
        expect(sends.count == 0 || isPast(sends.latest), "a send is in the future")
        expect(day.isWithinDay, "the day counts slots that are over")
        expect(day.isEmpty || isPast(day.start), "the day began in the future")
        expect(
            day.isEmpty || Int64(now &- day.start) < DayRing.slotSeconds,
            "the day's present slot is over")
        var recent = 0
        while recent < min(Int(sends.count), SendTimes.capacity),
            Int64(now &- sends[recent]) < BudgetLimits.hourSeconds
        {
            recent += 1
        }
        expect(day.total >= recent, "the hour has more sends than the day")
        expect(unconfirmed == 0 || sends.count > 0, "an unconfirmed send was never sent")
        expect(Reports.known.contains(reports), "a report is unknown")
        expect(batteryPercent <= 100, "the battery is over 100 %")
        expect(
            Int64(holdSeconds) <= BudgetLimits.longestHoldSeconds,
            "pushes are held longer than is believed")
        if let pending {
            expect(pending.requests > 0, "the pending wake carries no request")
            expect(isPast(pending.since), "the pending wake waits since the future")
            expect(isPast(pending.newest), "the pending wake's newest request is in the future")
            expect(
                Int32(bitPattern: pending.newest &- pending.since) >= 0,
                "the pending wake's newest request is older than the wake")
        }
        return broken
    }
}

extension CallLedger {
    func invariantsBroken() -> [String] {
        var broken: [String] = []
        if Int(marks.count) > Self.capacity { broken.append("it holds too many calls") }
        let ages = (0..<min(Int(marks.count), Self.capacity)).map { marks.age(at: $0) }
        if ages != ages.sorted() { broken.append("the calls are out of order") }
        if ages.contains(where: { $0 >= Self.windowMilliseconds }) {
            broken.append("a call is over an hour old")
        }
        return broken
    }
}
