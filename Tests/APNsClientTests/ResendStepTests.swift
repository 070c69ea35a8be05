// SPDX-License-Identifier: Apache-2.0

import APNsClient
import PushTransport
import Testing
import WakeModel

/// The same, step by step, on a transport that the test plays.
@Suite("Resending, step by step")
struct ResendStepTests {
    static let shutdown = #"{"reason":"Shutdown"}"#

    @Test("a resend has what is left of the push's time, and is not made when nothing is left")
    func deadline() async throws {
        let play = try Play()
        let task = play.send()
        let first = await play.nextSubmission()
        #expect(first.timeout == .seconds(30))
        play.clock.advance(seconds: 20)
        play.transport.answer(first.id, 503, Self.shutdown)
        let second = await play.nextSubmission()
        #expect(second.timeout == .seconds(10))
        play.transport.answer(second.id, 200)
        #expect(try await task.value.isAccepted)

        let late = play.send()
        let third = await play.nextSubmission()
        play.clock.advance(seconds: 30)
        play.transport.answer(third.id, 503, Self.shutdown)
        #expect(try await late.value.rejection?.reason == .shutdown)
    }

    @Test("connections are replaced before the resend, and once for many answers")
    func replacement() async throws {
        let play = try Play()
        let (first, second) = (play.send(), play.send())
        let ids = [await play.nextSubmission().id, await play.nextSubmission().id]
        for id in ids { play.transport.answer(id, 503, Self.shutdown) }
        let events = play.transport.takeEvents()
        try #require(events.count == 3)
        guard case .replacedConnections = events[0] else {
            Issue.record("the resend was handed over before the connections were replaced")
            return
        }
        for case .submitted(let submission) in events {
            play.transport.answer(submission.id, 200)
        }
        #expect(try await first.value.isAccepted)
        #expect(try await second.value.isAccepted)
    }

    @Test("cancelling reaches a push that is out for the second time")
    func cancelResend() async throws {
        let play = try Play()
        let task = play.send()
        play.transport.answer(await play.nextSubmission().id, 503, Self.shutdown)
        let resend = await play.nextSubmission()
        task.cancel()
        #expect(play.cancelledIDs().contains(resend.id))
        play.transport.fail(resend.id, TransportFailure(.cancelled, certainty: .unknown))
        await #expect(throws: TransportFailure.self) { try await task.value }
    }

    @Test("a push that was given up on is not sent again")
    func cancelledFirst() async throws {
        let play = try Play()
        let task = play.send()
        let first = await play.nextSubmission()
        task.cancel()
        play.transport.answer(first.id, 503, Self.shutdown)
        #expect(try await task.value.rejection?.reason == .shutdown)
        #expect(play.transport.takeSubmissions().isEmpty)
    }

    @Test("cancelling while the resend is being handed over reaches it as well")
    func cancelBetween() async throws {
        let play = try Play()
        let task = play.send()
        let first = await play.nextSubmission()
        play.transport.interruptNextSubmission { task.cancel() }
        play.transport.answer(first.id, 503, Self.shutdown)
        let events = play.transport.takeEvents()
        let order = events.compactMap { event -> String? in
            switch event {
            case .submitted: "submitted"
            case .cancelled(let id): id == first.id ? nil : "cancelled"
            case .replacedConnections: nil
            }
        }
        #expect(order == ["cancelled", "submitted", "cancelled"])
        for case .submitted(let submission) in events {
            play.transport.fail(submission.id, TransportFailure(.cancelled, certainty: .notSent))
        }
        await #expect(throws: TransportFailure.self) { try await task.value }
    }
}
