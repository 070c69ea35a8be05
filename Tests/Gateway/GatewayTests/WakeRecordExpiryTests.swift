// SPDX-License-Identifier: Apache-2.0

import GatewayTestKit
import Testing
import WakeBudget
import WakeModel

@testable import Gateway

@Suite("Why a wake has expired")
struct WakeRecordExpiryTests {
    private static let start = Samples.start
    private static let deadline = start.advanced(bySeconds: 600)
    private static let tooMany = AttemptResult.refused(
        Refusal(PushOutcome.Rejection(status: 429, reason: .tooManyRequests)))
    private static let badKey = AttemptResult.refused(
        Refusal(PushOutcome.Rejection(status: 403, reason: .invalidProviderToken)))
    private static let lost = AttemptResult.unanswered(
        SendFailure(certainty: .unknown, description: "The connection was lost."))

    /// What is said of a wake that expired so many seconds after it was accepted, with an attempt
    /// that ended after so many.
    private static func explanation(
        after seconds: Int64, _ attempt: AttemptResult? = nil, at attemptSeconds: Int64 = 0,
        decision: WakeDecision = .send, keptBack holds: [DelayReason] = []
    ) -> String {
        var row = WakeRow(
            id: Samples.freshID(), device: 1, queue: 1, previous: 0, acceptedAt: start,
            decision: decision, coalescing: .replace, call: nil, urgency: .normal,
            state: .expired, dueAt: start, notBefore: start, deadline: deadline,
            holds: holds.reduce(into: []) { $0.insert(DelayReasons($1)) },
            payload: [], expiration: .at(deadline), collapseID: nil)
        row.end = .expired
        row.endedAt = start.advanced(bySeconds: seconds)
        let attempts = attempt.map {
            AttemptRecord(
                startedAt: start, endedAt: start.advanced(bySeconds: attemptSeconds), result: $0)
        }
        return WakeRecord(
            row, queue: WakeQueueKey(app: Samples.app, kind: .background),
            deviceToken: Samples.deviceToken(), attempts: attempts.map { [$0] } ?? []
        ).expiryExplanation
    }

    @Test("an attempt is the cause only of a wake that ended with it")
    func afterAnAttempt() {
        #expect(
            Self.explanation(after: 5, Self.tooMany, at: 5)
                == "APNs answered 429 TooManyRequests. After that a push is not sent again for 1 "
                + "min at least, and another attempt would have come after its deadline.")
        #expect(
            Self.explanation(after: 5, Self.lost, at: 5)
                == "The last attempt had no answer, and another attempt would have come after its "
                + "deadline.")
        // Its back-off was over; something else, such as a paused app, kept it until its deadline.
        #expect(
            Self.explanation(after: 600, Self.tooMany, at: 5)
                == "APNs answered 429 TooManyRequests, and its deadline came before it was sent "
                + "again.")
        #expect(
            Self.explanation(after: 600, Self.badKey, at: 5)
                == "APNs answered 403 InvalidProviderToken, and its deadline came before it was "
                + "sent again.")
        #expect(
            Self.explanation(after: 100, Self.tooMany, at: 5)
                == "APNs answered 429 TooManyRequests, and the budget of its device did not let it "
                + "be sent again before its deadline.")
    }

    @Test("what kept its queue from sending at its deadline is named")
    func obstacles() {
        #expect(
            Self.explanation(after: 600, keptBack: [.spacing, .paused])
                == "Its deadline came while the app was paused.")
        #expect(
            Self.explanation(after: 600, Self.lost, at: 5, keptBack: [.paused, .unresponsive])
                == "The last attempt had no answer, and its deadline came while the app was paused "
                + "and APNs did not answer.")
        #expect(
            Self.explanation(after: 600, Self.badKey, at: 5, keptBack: [.held])
                == "APNs answered 403 InvalidProviderToken, and its deadline came while its queue "
                + "was held, because APNs refused what it sent.")
        // It ended before its deadline, so not because of them.
        #expect(
            Self.explanation(after: 100, keptBack: [.paused])
                == "The budget of its device did not let it be sent before its deadline.")
    }

    @Test("a deadline that is still to come has not come")
    func withoutAttempts() {
        #expect(
            Self.explanation(after: 600) == "Its deadline came before APNs accepted it.")
        let earliest = Self.start.advanced(bySeconds: 900)
        let decision = WakeDecision.expired(
            earliest: earliest, because: DelayReasons(.spacing))
        #expect(
            Self.explanation(after: 0, decision: decision)
                == "It expires before it could be sent at \(earliest) (minimum spacing).")
        #expect(
            Self.explanation(after: 100)
                == "The budget of its device did not let it be sent before its deadline.")
    }
}
