// SPDX-License-Identifier: Apache-2.0

import Gateway
import Testing
import WakeModel

@testable import AdminAPI

@Suite("The requests for one batch of webhooks")
struct WebhookRoundTests {
    /// Posts until the round is over; the numbers of the items of each request.
    private static func post(
        _ round: inout WebhookRound, _ answer: ([Int64]) -> WebhookAnswer
    ) -> [[Int64]] {
        var requests: [[Int64]] = []
        while let part = round.next() {
            let numbers = part.map(\.ticket.number)
            requests.append(numbers)
            round.note(answer(numbers), to: part)
        }
        return requests
    }

    private static func items(
        _ numbers: ClosedRange<Int64>, tries: Int = 0
    ) throws -> [WebhookItem] {
        let at = WallInstant(secondsSinceEpoch: 1_800_000_000)
        let app = AppIdentity(
            bundleID: try BundleID("com.example.app"), environment: .production)
        let hold = AppHold(
            queue: WakeQueueKey(app: app, kind: .background), isHeld: true, reason: "a bad key",
            at: at)
        return numbers.map { number in
            WebhookItem(
                ticket: WebhookItem.Ticket(
                    endpoint: WebhookEndpointID(rawValue: 1), number: number, fence: 1),
                event: .appHeld(hold), createdAt: at, tries: tries)
        }
    }

    @Test("one event that cannot be taken costs itself alone", arguments: [1, 50, 100] as [Int64])
    func poison(number: Int64) throws {
        var round = WebhookRound(try Self.items(1...100))
        let requests = Self.post(&round) { $0.contains(number) ? .refused("400") : .taken }
        #expect(round.failed.map(\.ticket.number) == [number])
        #expect(round.taken.count == 99 && round.unposted.isEmpty && !round.isDown)
        #expect(requests.count < 20)
    }

    @Test("a receiver that refuses most of a batch still gets the rest of it")
    func choosy() throws {
        var round = WebhookRound(try Self.items(1...100))
        _ = Self.post(&round) { $0.contains { $0 <= 80 } ? .refused("422") : .taken }
        #expect(Set(round.taken.map(\.ticket.number)) == Set(81...100))
        #expect(round.failed.count == 80 && !round.isDown)
    }

    @Test("one that refuses all is let alone; what was not posted counts as not tried")
    func hopeless() throws {
        var round = WebhookRound(try Self.items(1...100))
        let requests = Self.post(&round) { _ in .refused("400") }
        #expect(round.isDown && round.taken.isEmpty)
        #expect(round.failed.count == WebhookRound.hopelessCount)
        #expect(round.unposted.count == 100 - WebhookRound.hopelessCount)
        // The first ones to go alone come from all over the batch.
        #expect(requests.filter { $0.count == 1 }.joined().contains { $0 > 50 })
    }

    @Test("one refused event alone says nothing of the receiver")
    func alone() throws {
        var round = WebhookRound(try Self.items(1...1))
        _ = Self.post(&round) { _ in .refused("422") }
        #expect(!round.isDown && round.failed.count == 1)
    }

    @Test("a status that does not speak of the content is looked into at the third try")
    func suspicion() throws {
        var fresh = WebhookRound(try Self.items(1...4))
        #expect(Self.post(&fresh) { _ in .failed("500") }.count == 1)
        #expect(fresh.isDown && fresh.failed.count == 4)
        var old = WebhookRound(try Self.items(1...4, tries: WebhookRound.suspiciousTries))
        _ = Self.post(&old) { $0.contains(3) ? .failed("500") : .taken }
        #expect(!old.isDown && old.failed.map(\.ticket.number) == [3])
    }

    @Test("no answer speaks of the content only if the receiver may have seen it")
    func silence() throws {
        for (isSent, answer) in [(true, WebhookAnswer.failed("gone")), (false, .down("gone"))] {
            let failure = WebhookFailure(description: "gone", isSent: isSent)
            #expect(WebhookAnswer(.failure(failure)) == answer)
        }
        #expect(WebhookAnswer(.success(503)) == .down("it answered 503"))
        #expect(
            WebhookAnswer(.success(307))
                == .down("it answered 307, and redirects are not followed"))
        // An event at which the receiver hangs is found at the third try, and costs itself alone.
        let hanging = WebhookAnswer(
            .failure(WebhookFailure(description: "no answer", isSent: true)))
        var round = WebhookRound(try Self.items(1...100, tries: WebhookRound.suspiciousTries))
        let requests = Self.post(&round) { $0.contains(50) ? hanging : .taken }
        #expect(round.failed.map(\.ticket.number) == [50] && round.taken.count == 99)
        #expect(requests.count < 20)
    }

    @Test("a receiver that goes in the middle is let alone, and nothing else is posted")
    func goes() throws {
        var round = WebhookRound(try Self.items(1...8))
        var count = 0
        let requests = Self.post(&round) { _ in
            count += 1
            return count < 3 ? .refused("413") : .down("503")
        }
        #expect(requests.count == 3 && round.isDown)
        #expect(round.failed.count + round.unposted.count == 8)
    }

    @Test("a message's id says which events it has, in whatever order")
    func identity() throws {
        let items = try Self.items(1...3)
        #expect(items.messageID == Array(items.reversed()).messageID)
        let others = try Self.items(1...2)
        #expect(items.messageID != others.messageID)
    }
}
