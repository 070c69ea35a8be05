// SPDX-License-Identifier: Apache-2.0

import APNsClient
import APNsWire
import PushTransport
import Synchronization
import Testing
import WakeModel

/// The same, step by step, on a transport that the test plays.
@Suite("Resending, step by step")
struct ResendStepTests {
    static let shutdown = #"{"reason":"Shutdown"}"#
    static let expired = #"{"reason":"ExpiredProviderToken"}"#

    @Test("a resend has what is left of the push's time, and is not made when nothing is left")
    func deadline() async throws {
        let play = try Play()
        let task = play.send()
        let first = await play.nextRequest()
        #expect(first.timeout == .seconds(30))
        play.clock.advance(seconds: 20)
        play.transport.answer(first.id, 503, Self.shutdown)
        let second = await play.nextRequest()
        #expect(second.timeout == .seconds(10))
        play.transport.answer(second.id, 200)
        #expect(try await task.value.isAccepted)

        let late = play.send()
        let third = await play.nextRequest()
        play.clock.advance(seconds: 30)
        play.transport.answer(third.id, 503, Self.shutdown)
        #expect(try await late.value.rejection?.reason == .shutdown)
    }

    @Test("connections are replaced before the resend, and once for many answers")
    func replacement() async throws {
        let play = try Play()
        let transport = play.transport
        let (first, second) = (play.send(), play.send())
        let ids = [await play.nextRequest().id, await play.nextRequest().id]
        let wasReplaced = Mutex(false)
        transport.interruptNextSubmission {
            let isReplaced = transport.hasReplacedConnections
            wasReplaced.withLock { $0 = isReplaced }
        }
        for id in ids { transport.answer(id, 503, Self.shutdown) }
        let resends = [await play.nextRequest(), await play.nextRequest()]
        #expect(wasReplaced.withLock { $0 }, "the resend was handed over before")
        #expect(transport.takeEvents().count == 1, "of which there was one replacement")
        for resend in resends { transport.answer(resend.id, 200) }
        #expect(try await first.value.isAccepted)
        #expect(try await second.value.isAccepted)
    }

    @Test("pushes of a batch go again within the answer, over the new connections, and once")
    func batch() throws {
        let play = try Play()
        let replies = Mutex<[PushReply]>([])
        play.client.send(try (0..<2).map(Samples.background)) { group in
            replies.withLock { $0 += group }
        }
        for submission in play.transport.takeSubmissions() {
            play.transport.answer(submission.id, 503, Self.shutdown)
        }
        let events = play.transport.takeEvents()
        try #require(events.count == 3)
        guard case .replacedConnections = events[0] else {
            Issue.record("the resend was handed over before the connections were replaced")
            return
        }
        #expect(replies.withLock { $0.isEmpty })
        for case .submitted(let submission) in events {
            play.transport.answer(submission.id, 503, Self.shutdown)
        }
        #expect(play.transport.takeEvents().isEmpty)
        let reasons = try replies.withLock { try $0.map { try $0.result.get().rejection?.reason } }
        #expect(reasons == [.shutdown, .shutdown])
    }

    @Test("an expired token is replaced and the same push goes out again, once")
    func expiredTwice() async throws {
        let play = try Play()
        let client = play.client
        let push = try Samples.background()
        let task = Task { try await client.send(push, timeout: .seconds(3600)) }
        let first = await play.nextRequest()
        play.clock.advance(seconds: 25 * 60)
        play.transport.answer(first.id, 403, Self.expired)
        let second = await play.nextRequest()
        #expect(second.id != first.id)
        #expect(second.timeout == .seconds(35 * 60))
        #expect(second.request.apnsID == push.apnsID)
        #expect(second.request.body == first.request.body)
        let tokens = [first, second].map { submission in
            submission.request.sharedHeaders.fields.first { $0.name == "authorization" }?.value
        }
        #expect(tokens[0] != nil && tokens[1] != nil && tokens[0] != tokens[1])
        play.clock.advance(seconds: 25 * 60)
        play.transport.answer(second.id, 403, Self.expired)
        #expect(try await task.value.rejection?.reason == .expiredProviderToken)
        #expect(play.transport.takeSubmissions().isEmpty)
    }

    @Test("cancelling reaches a push that is out for the second time")
    func cancelResend() async throws {
        let play = try Play()
        let task = play.send()
        play.transport.answer(await play.nextRequest().id, 503, Self.shutdown)
        let resend = await play.nextRequest()
        task.cancel()
        #expect(play.cancelledIDs().contains(resend.id))
        play.transport.fail(resend.id, TransportFailure(.cancelled, certainty: .unknown))
        await #expect(throws: TransportFailure.self) { try await task.value }
    }

    @Test("a push that was given up on is not sent again", arguments: [shutdown, expired])
    func cancelledFirst(body: String) async throws {
        let play = try Play()
        let client = play.client
        let task = Task { try await client.send(Samples.background(), timeout: .seconds(3600)) }
        let first = await play.nextRequest()
        play.clock.advance(seconds: 25 * 60)
        task.cancel()
        play.transport.answer(first.id, body == Self.expired ? 403 : 503, body)
        #expect(try await task.value.rejection != nil)
        #expect(play.transport.takeSubmissions().isEmpty)
    }

    @Test(
        "cancelling while the resend is being handed over reaches it as well",
        arguments: [shutdown, expired])
    func cancelBetween(body: String) async throws {
        let play = try Play()
        let client = play.client
        let task = Task { try await client.send(Samples.background(), timeout: .seconds(3600)) }
        let first = await play.nextRequest()
        play.clock.advance(seconds: 25 * 60)
        play.transport.interruptNextSubmission { task.cancel() }
        play.transport.answer(first.id, body == Self.expired ? 403 : 503, body)
        let resend = await play.nextRequest()
        await play.transport.waitForCancellations(2)
        let cancelled = play.cancelledIDs()
        #expect(cancelled == [resend.id, resend.id], "one came before it was known")
        play.transport.fail(resend.id, TransportFailure(.cancelled, certainty: .notSent))
        await #expect(throws: TransportFailure(.cancelled, certainty: .notSent)) {
            try await task.value
        }
        #expect(play.transport.takeSubmissions().isEmpty)
    }
}
