// SPDX-License-Identifier: Apache-2.0

import GatewayTestKit
import Testing
import WakeModel

@testable import Gateway

@Suite("Telling that APNs does not answer")
struct UnresponsiveQueuesTests {
    private let now = Samples.start
    private let queue = WakeQueueKey(app: Samples.app, kind: .background)
    private let other = WakeQueueKey(app: Samples.otherApp, kind: .background)

    private func silences(failingFor seconds: [Int64]) -> UnresponsiveQueues {
        var silences = UnresponsiveQueues(limits: GatewayLimits())
        for second in seconds {
            _ = silences.note(.unanswered("no route"), on: queue, now: at(second))
        }
        return silences
    }

    private func at(_ seconds: Int64) -> WallInstant { now.advanced(bySeconds: seconds) }

    @Test("It is told once, after a minute of failures, with the latest")
    func told() {
        var silences = silences(failingFor: [0, 1, 3, 59])
        #expect(silences.silence(of: queue, at: at(59)) == nil)
        let began = silences.note(.unanswered("refused"), on: queue, now: at(60))
        let silence = UnresponsiveQueues.Silence(
            since: now, latest: at(60), failure: "refused", isTold: true)
        #expect(began == .began(silence))
        #expect(silences.note(.unanswered("refused"), on: queue, now: at(61)) == .none)
        #expect(silences.silence(of: queue, at: at(61))?.since == now)
        #expect(silences.told(at: at(61)).map(\.queue) == [queue])
    }

    @Test("Any answer ends it, and one of another queue does not")
    func answered() {
        var silences = silences(failingFor: [0, 60])
        #expect(silences.note(.answered, on: other, now: at(61)) == .none)
        #expect(silences.silence(of: queue, at: at(61)) != nil)
        let blocked = RetryPolicy.QueueSignal.blocked(reason: "a key", pauseSeconds: nil)
        #expect(silences.note(blocked, on: queue, now: at(61)) == .ended)
        #expect(silences.silence(of: queue, at: at(61)) == nil)
        #expect(silences.note(.answered, on: queue, now: at(62)) == .none)
    }

    @Test("An answer within the minute begins it anew")
    func interrupted() {
        var silences = silences(failingFor: [0, 30])
        #expect(silences.note(.answered, on: queue, now: at(40)) == .none)
        #expect(silences.note(.unanswered("gone"), on: queue, now: at(70)) == .none)
        #expect(silences.silence(of: queue, at: at(70)) == nil)
    }

    @Test("Two failures with hours in between are none")
    func farApart() {
        var silences = silences(failingFor: [0])
        #expect(silences.note(.unanswered("gone"), on: queue, now: at(28_800)) == .none)
        #expect(silences.silence(of: queue, at: at(28_800)) == nil)
        #expect(silences.note(.unanswered("gone"), on: queue, now: at(28_859)) == .none)
        let since = at(28_800)
        let began = silences.note(.unanswered("gone"), on: queue, now: at(28_860))
        guard case .began(let silence) = began else {
            Issue.record("It was not told: \(began)")
            return
        }
        #expect(silence.since == since)
    }

    @Test("It is not told any more when nothing was tried for three minutes")
    func idle() {
        let silences = silences(failingFor: [0, 60])
        #expect(silences.silence(of: queue, at: at(239)) != nil)
        #expect(silences.silence(of: queue, at: at(240)) == nil)
        #expect(silences.told(at: at(240)).isEmpty)
    }
}
