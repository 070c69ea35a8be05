// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Gateway

@Suite("The rate at which the intake is emptied")
struct DrainRateTests {
    private let start = ContinuousClock.now
    private let bounds = AdmissionResult.overloadPauseSeconds

    private func instant(_ seconds: Double) -> ContinuousClock.Instant {
        start.advanced(by: .seconds(seconds))
    }

    @Test("Without experience the shortest pause is asked for")
    func unknown() {
        #expect(DrainRate().secondsToDrain(10_000, at: start, bounds: bounds) == 1)
    }

    @Test(
        "A pause is as long as the queue takes, within the bounds",
        arguments: [(20_000, 1), (2_000, 5), (2_500, 4), (100, 60), (1, 60)])
    func steady(perSecond: Int, expected: Int) {
        var rate = DrainRate()
        rate.began(at: start)
        for second in 0..<20 { rate.took(perSecond, until: instant(Double(second + 1))) }
        #expect(rate.secondsToDrain(10_000, at: instant(20), bounds: bounds) == expected)
    }

    @Test("What two writers take out at the same time adds up")
    func together() {
        var rate = DrainRate()
        rate.began(at: start)
        for step in 1...2_000 {
            let now = instant(Double(step) / 100)
            rate.took(step % 2 == 0 ? 19 : 1, until: now)
        }
        #expect(rate.secondsToDrain(10_000, at: instant(20), bounds: bounds) == 10)
    }

    @Test("A queue that stands still is not promised to move soon")
    func stillness() {
        var rate = DrainRate()
        rate.began(at: start)
        rate.took(10_000, until: instant(1))
        #expect(rate.secondsToDrain(10_000, at: instant(1), bounds: bounds) == 1)
        #expect(rate.secondsToDrain(10_000, at: instant(21), bounds: bounds) == 20)
        #expect(rate.secondsToDrain(10_000, at: instant(1_000), bounds: bounds) == 60)
    }

    @Test("A queue that was empty did not stand still")
    func idleness() {
        var rate = DrainRate()
        rate.began(at: start)
        rate.took(20_000, until: instant(1))
        rate.began(at: instant(600))
        #expect(rate.secondsToDrain(10_000, at: instant(600), bounds: bounds) == 1)
        #expect(rate.secondsToDrain(10_000, at: instant(605), bounds: bounds) == 5)
    }

    @Test("What happened lately counts most")
    func change() {
        var rate = DrainRate()
        rate.began(at: start)
        rate.took(20_000, until: instant(1))
        for second in 1..<11 { rate.took(1_000, until: instant(Double(second + 1))) }
        let pause = rate.secondsToDrain(10_000, at: instant(11), bounds: bounds)
        #expect((9...10).contains(pause))
    }
}
