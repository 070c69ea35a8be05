// SPDX-License-Identifier: Apache-2.0

import Testing

import LoopKit

@Suite("Back-off between attempts to connect")
struct ConnectBackoffTests {
    @Test("the wait doubles from 250 ms to 30 s, and half of it is drawn")
    func doubling() {
        for (jitter, share) in [(0.0, 0.5), (0.5, 0.75), (0.999_999, 1.0)] {
            var backoff = ConnectBackoff()
            #expect(backoff.notBefore == .min)
            var longest = 250.0
            for attempt in 1...40 {
                backoff.didFail(now: 1000, jitter: jitter)
                let wait = Double(backoff.notBefore - 1000)
                #expect(abs(wait - longest * share) <= 2, "attempt \(attempt)")
                longest = min(30_000, longest * 2)
            }
        }
    }

    @Test("success starts afresh")
    func success() {
        var backoff = ConnectBackoff()
        for _ in 0..<9 { backoff.didFail(now: 0, jitter: 0) }
        backoff.didSucceed()
        #expect(backoff.notBefore == .min)
        backoff.didFail(now: 0, jitter: 0)
        #expect(backoff.notBefore == 125)
    }

    @Test("a server that answers is never waited for longer than a second")
    func afterAnswers() {
        var backoff = ConnectBackoff()
        for _ in 0..<20 {
            backoff.didFail(now: 0, jitter: 0.999_999, hadAnswers: true)
            #expect(backoff.notBefore <= 1000)
        }
        #expect(backoff.notBefore >= 999)
        backoff.didFail(now: 0, jitter: 0)
        #expect(backoff.notBefore == 1000)
    }
}
