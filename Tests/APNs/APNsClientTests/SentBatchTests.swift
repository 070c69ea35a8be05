// SPDX-License-Identifier: Apache-2.0

import APNsClient
import PushTransport
import Synchronization
import Testing
import WakeModel

@Suite("Batches on their way", .timeLimit(.minutes(10)))
struct SentBatchTests {
    @Test("giving a batch up cancels both submissions of each push, and none goes out again")
    func cancel() throws {
        let play = try Play()
        let replies = Mutex<[PushReply]>([])
        let batch = play.client.send(try (0..<3).map(Samples.background)) { group in
            replies.withLock { $0 += group }
        }
        let ids = play.transport.takeSubmissions().map(\.id)
        #expect(ids.count == 3)
        batch.cancel()
        let cancelled = play.cancelledIDs()
        #expect(Set(cancelled).isSuperset(of: ids) && cancelled.count == 6)
        play.transport.answer(ids[0], 403, #"{"reason":"ExpiredProviderToken"}"#)
        #expect(play.transport.takeSubmissions().isEmpty, "it was given up")
        for id in ids[1...] {
            play.transport.fail(id, TransportFailure(.cancelled, certainty: .unknown))
        }
        #expect(replies.withLock { $0.map(\.index) } == [0, 1, 2])
    }

    @Test("giving up a batch tells the transport nothing once each push has its reply")
    func cancelOfAnswered() throws {
        let play = try Play()
        let batch = play.client.send(try (0..<2).map(Samples.background)) { _ in }
        let ids = play.transport.takeSubmissions().map(\.id)
        play.transport.answer(ids[0], 200)
        batch.cancel()
        #expect(play.cancelledIDs().contains(ids[1]))
        play.transport.answer(ids[1], 200)
        batch.cancel()
        #expect(play.cancelledIDs().isEmpty)
    }

    @Test("the closure is let go of with the last reply, although the handle is kept")
    func release() throws {
        final class Witness: Sendable {}
        let play = try Play()
        weak var witness: Witness?
        let batch: SentBatch
        do {
            let made = Witness()
            witness = made
            batch = play.client.send([try Samples.background()]) { _ in _ = made }
        }
        let id = try #require(play.transport.takeSubmissions().first?.id)
        #expect(witness != nil)
        play.transport.answer(id, 200)
        #expect(witness == nil)
        batch.cancel()
    }

    @Test("replies of a batch stand in the order of its pushes, however they came")
    func order() async throws {
        let play = try Play()
        let client = play.client
        let pushes = try (0..<5).map(Samples.background)
        let sending = Task { await client.send(pushes) }
        var ids: [TransportRequest.ID] = []
        for _ in pushes { ids.append(await play.nextRequest().id) }
        for (index, id) in ids.enumerated().reversed() {
            play.transport.answer(id, index == 2 ? 500 : 200)
        }
        let replies = await sending.value
        #expect(replies.map(\.index) == Array(0..<5))
        let accepted = try replies.map { try $0.result.get().isAccepted }
        #expect(accepted == [true, true, false, true, true])
    }
}
