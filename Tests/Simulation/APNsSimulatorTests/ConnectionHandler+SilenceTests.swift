// SPDX-License-Identifier: Apache-2.0

import APNsSimulator
import Testing
import WakeModel

@Suite("Silent connections", .timeLimit(.minutes(10)))
struct SilenceTests {
    /// More than a busy machine takes to say something, and less than the late answer is late.
    private static let timeout = Duration.seconds(1)
    private static let body = #"{"reason":"IdleTimeout"}"#

    @Test("a silent connection is ended with GOAWAY and its reason")
    func goAway() async throws {
        try await WireTests.withSimulator {
            $0.idleTimeout = Self.timeout
        } _: { simulator in
            let client = try await RawClient.connect(to: simulator)
            #expect(try await client.push(Push())?.status == 200)
            let goAway = try #require(await client.nextFrame(ofType: RawClient.Kind.goAway))
            #expect(goAway.number() == 1)
            #expect(HTTP2ErrorCode(rawValue: goAway.number(at: 4)) == .noError)
            #expect(String(decoding: goAway.payload[8...], as: UTF8.self) == Self.body)
            while await client.nextFrame() != nil {}
            #expect(simulator.counters.goAwaysSent == 1)
            #expect(simulator.counters.answers == [200: 1])
        }
    }

    @Test("a request whose body does not come is answered 400, and then the connection ends")
    func unfinishedRequest() async throws {
        try await WireTests.withSimulator {
            $0.idleTimeout = Self.timeout
        } _: { simulator in
            let client = try await RawClient.connect(to: simulator)
            let stream = client.sendHeaders(Push().fields)
            let answer = try #require(try await client.answer(on: stream))
            #expect(answer.status == 400)
            #expect(answer.body == Self.body)
            #expect(await client.nextFrame(ofType: RawClient.Kind.goAway) != nil)
            while await client.nextFrame() != nil {}
            #expect(simulator.counters.completeRequests == 0)
        }
    }

    @Test("an answer that is only late still comes")
    func lateAnswer() async throws {
        try await WireTests.withSimulator {
            $0.idleTimeout = Self.timeout
        } _: { simulator in
            simulator.inject(Fault(.delay(milliseconds: 2500), count: 1))
            let client = try await RawClient.connect(to: simulator)
            let stream = client.send(Push())
            #expect(await client.nextFrame(ofType: RawClient.Kind.goAway)?.number() == 1)
            #expect(try await client.answer(on: stream)?.status == 200)
            while await client.nextFrame() != nil {}
            #expect(simulator.counters.goAwaysSent == 1)
        }
    }
}
