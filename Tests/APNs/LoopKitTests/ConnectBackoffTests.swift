// SPDX-License-Identifier: Apache-2.0

import LoopKit
import Testing

@Suite("Back-off between attempts to connect")
struct ConnectBackoffTests {
    @Test(
        "the wait doubles from 250 ms to its limit, and half of it is drawn",
        arguments: [(false, 5000.0), (true, 2000.0)])
    func doubling(isUrgent: Bool, limit: Double) {
        for (jitter, share) in [(0.0, 0.5), (0.5, 0.75), (0.999_999, 1.0)] {
            var backoff = ConnectBackoff()
            #expect(backoff.notBefore(isUrgent: isUrgent) == .min)
            var longest = 250.0
            for attempt in 1...40 {
                backoff.didFail(now: 1000, jitter: jitter)
                let wait = Double(backoff.notBefore(isUrgent: isUrgent) - 1000)
                #expect(abs(wait - longest * share) <= 2, "attempt \(attempt)")
                longest = min(limit, longest * 2)
            }
        }
    }

    @Test("success starts afresh")
    func success() {
        var backoff = ConnectBackoff()
        for _ in 0..<9 { backoff.didFail(now: 0, jitter: 0) }
        backoff.didSucceed()
        #expect(backoff.notBefore(isUrgent: false) == .min)
        backoff.didFail(now: 0, jitter: 0)
        #expect(backoff.notBefore(isUrgent: false) == 125)
    }

    @Test("a server that answers is never waited for longer than a second")
    func afterAnswers() {
        var backoff = ConnectBackoff()
        for _ in 0..<20 {
            backoff.didFail(now: 0, jitter: 0.999_999, hadAnswers: true)
            #expect(backoff.notBefore(isUrgent: false) <= 1000)
        }
        #expect(backoff.notBefore(isUrgent: false) >= 999)
        backoff.didFail(now: 0, jitter: 0)
        #expect(backoff.notBefore(isUrgent: false) == 1000)
    }

    /// Guards servers that close each connection in order after a number of requests.
    @Test("an end in order calls for no wait, or for 10 ms since the last opening")
    func inOrder() {
        var backoff = ConnectBackoff()
        for _ in 0..<9 { backoff.didFail(now: 500, jitter: 0) }
        backoff.didOpen(now: 1000)
        backoff.didEndInOrder(answers: 100)
        #expect(backoff.notBefore(isUrgent: false) == .min)
        backoff.didOpen(now: 2000)
        backoff.didEndInOrder(answers: 99)
        #expect(backoff.notBefore(isUrgent: false) == 2010)
        #expect(backoff.notBefore(isUrgent: true) == 2010)
        backoff.didFail(now: 3000, jitter: 0)
        #expect(backoff.notBefore(isUrgent: false) == 3125)
    }
}
