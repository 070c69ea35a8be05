// SPDX-License-Identifier: Apache-2.0

import APNsClient
import APNsWire
import PushTransport
import SeedKit
import Testing
import WakeModel

/// Many lone pushes at once, on a transport that the test plays.
@Suite("Callers with one push each", .timeLimit(.minutes(10)))
struct PendingSendsTests {
    @Test("answers in any order reach their own callers", arguments: 1...4 as ClosedRange<UInt64>)
    func order(seed: UInt64) async throws {
        let play = try Play()
        let client = play.client
        var random = SeededGenerator(seed: seed)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<400 {
                let push = try Samples.background(number)
                group.addTask {
                    let acceptance = try await client.send(push).acceptance
                    #expect(acceptance?.apnsID == push.apnsID, "seed \(seed)")
                }
            }
            var waiting: [TransportRequest] = []
            for number in 0..<400 {
                waiting.append(await play.nextRequest())
                // Now and then some are answered, so that the table is closed up.
                guard number == 399 || random.next() % 8 == 0 else { continue }
                waiting.shuffle(using: &random)
                let left = number == 399 ? 0 : Int(random.next() % UInt64(waiting.count))
                while waiting.count > left {
                    let submission = waiting.removeLast()
                    play.transport.answer(
                        submission.id, 200, apnsID: submission.request.apnsID)
                }
            }
            try await group.waitForAll()
        }
    }

    /// Around the number of callers for whose memory is asked ahead, and far beyond it; among the
    /// answers to the pushes of a batch.
    @Test("answers of one moment reach their own callers", arguments: [2, 4, 5, 6, 7, 60])
    func together(count: Int) async throws {
        let play = try Play()
        let client = play.client
        let pushes = try (0..<2 * count).map(Samples.background)
        var random = SeededGenerator(seed: UInt64(count))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for push in pushes[..<count] {
                group.addTask {
                    let result: Result<PushOutcome, TransportFailure>
                    do throws(TransportFailure) {
                        result = .success(try await client.send(push))
                    } catch {
                        result = .failure(error)
                    }
                    #expect(Self.saying(result) == push.apnsID.description)
                }
            }
            group.addTask {
                let batch = Array(pushes[count...])
                let replies = await client.send(batch)
                #expect(replies.map(\.index) == Array(batch.indices))
                for reply in replies {
                    #expect(Self.saying(reply.result) == batch[reply.index].apnsID.description)
                }
            }
            var answers: [(TransportRequest.ID, Result<WireResponse, TransportFailure>)] = []
            for number in 0..<2 * count {
                let submission = await play.nextRequest()
                answers.append((submission.id, try Self.answer(number, to: submission)))
            }
            answers.shuffle(using: &random)
            play.transport.answer(answers)
            try await group.waitForAll()
        }
    }

    /// One of three ways, each of which says whose it is.
    private static func answer(
        _ number: Int, to submission: TransportRequest
    ) throws -> Result<WireResponse, TransportFailure> {
        let apnsID = try #require(submission.request.apnsID)
        switch number % 3 {
        case 0: return .success(WireResponse(status: 200, apnsID: apnsID))
        case 1:
            return .success(
                WireResponse(
                    status: 410, apnsID: apnsID, body: Array(#"{"reason":"Unregistered"}"#.utf8)))
        default:
            return .failure(
                TransportFailure(
                    .streamReset, certainty: .unknown, detail: apnsID.description))
        }
    }

    /// Whose answer it is.
    private static func saying(_ result: Result<PushOutcome, TransportFailure>) -> String? {
        switch result {
        case .success(.accepted(let acceptance)): acceptance.apnsID?.description
        case .success(.rejected(let rejection)):
            rejection.reason == .unregistered ? rejection.apnsID?.description : nil
        case .failure(let failure): failure.detail
        }
    }

    @Test("callers who are answered together have their next pushes gathered; one alone has not")
    func gathering() async throws {
        let play = try Play()
        let client = play.client
        let count = 5
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                let push = try Samples.background(number)
                group.addTask { for _ in 0..<2 { _ = try await client.send(push) } }
            }
            var ids: [TransportRequest.ID] = []
            for _ in 0..<count { ids.append(await play.nextRequest().id) }
            #expect(play.transport.takeEvents().isEmpty)
            play.transport.accept(ids)
            ids = []
            for _ in 0..<count { ids.append(await play.nextRequest().id) }
            var steps: [ScriptedTransport.Event] = []
            while steps.count < 2 {
                steps += play.transport.takeEvents()
                await Task.yield()
            }
            guard case (.beganGathering, .endedGathering) = (steps[0], steps[1]) else {
                Issue.record("It was not told that they come: \(steps)")
                return
            }
            for id in ids {
                play.transport.accept([id])
                for event in play.transport.takeEvents() {
                    if case .beganGathering = event { Issue.record("One alone was announced.") }
                }
            }
            try await group.waitForAll()
        }
    }
}
