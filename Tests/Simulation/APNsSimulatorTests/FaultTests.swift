// SPDX-License-Identifier: Apache-2.0

import APNsSimulator
import Testing
import WakeModel

@Suite("Faults on the wire", .timeLimit(.minutes(10)))
struct FaultTests {
    /// Runs `body` with a simulator that has these faults, and a client connected to it.
    static func withFaults(
        _ faults: Fault..., body: (APNsSimulator, RawClient) async throws -> Void
    ) async throws {
        try await WireTests.withSimulator {
            $0.oneStreamUntilValidToken = false
        } _: { simulator in
            for fault in faults { simulator.inject(fault) }
            let client = try await RawClient.connect(to: simulator)
            try await body(simulator, client)
            await client.close()
        }
    }

    @Test(
        "another answer instead of the right one",
        arguments: [
            (RejectionReason.tooManyRequests, 429), (.internalServerError, 500),
            (.serviceUnavailable, 503), (.shutdown, 503), (.init(rawValue: "Brand\"New"), 500),
        ])
    func reject(reason: RejectionReason, status: Int) async throws {
        try await Self.withFaults(Fault(.reject(reason), count: 1)) { simulator, client in
            let answer = try #require(try await client.push(Push()))
            #expect(answer.status == status)
            let quoted = reason.rawValue.replacing("\"", with: "\\\"")
            #expect(answer.body == "{\"reason\":\"\(quoted)\"}")
            #expect(simulator.receivedPushes.first?.status == status)
            #expect(simulator.receivedPushes.first?.fault == .reject(reason))
            #expect(try await client.push(Push())?.status == 200)
        }
    }

    @Test("an answer before the body, and the rest is not wanted")
    func answerBeforeBody() async throws {
        try await Self.withFaults(
            Fault(.reject(.serviceUnavailable), at: .headers)
        ) { simulator, client in
            let stream = client.sendHeaders(Push().fields)
            #expect(try await client.answer(on: stream)?.status == 503)
            let reset = try #require(await client.nextFrame(ofType: RawClient.Kind.reset))
            #expect(HTTP2ErrorCode(rawValue: reset.number()) == .noError)
            #expect(simulator.counters.completeRequests == 0)
        }
    }

    @Test("a late answer lets later requests pass")
    func delay() async throws {
        let slow = try DeviceToken(hex: "510e")
        try await Self.withFaults(
            Fault(.delay(milliseconds: 150), for: .deviceToken(slow))
        ) { _, client in
            let start = ContinuousClock.now
            let first = client.send(Push(token: slow.hex))
            let second = client.send(Push())
            let frame = await client.nextFrame(ofType: RawClient.Kind.headers)
            #expect(frame?.stream == second)
            if let frame { #expect(frame.endsStream) }
            let late = try await client.answer(on: first)
            #expect(late?.status == 200)
            #expect(ContinuousClock.now - start >= .milliseconds(150))
        }
    }

    @Test(
        "RST_STREAM with any code, at any stage",
        arguments: [HTTP2ErrorCode.refusedStream, .internalError, .init(rawValue: 99)],
        [Fault.Stage.headers, .body, .answer])
    func reset(code: HTTP2ErrorCode, stage: Fault.Stage) async throws {
        try await Self.withFaults(
            Fault(.resetStream(code), at: stage, count: 1)
        ) { simulator, client in
            let stream = client.send(Push())
            let reset = try #require(await client.nextFrame(ofType: RawClient.Kind.reset))
            #expect(reset.stream == stream)
            #expect(HTTP2ErrorCode(rawValue: reset.number()) == code)
            #expect(try await client.push(Push())?.status == 200)
            #expect(simulator.counters.completeRequests == (stage == .answer ? 2 : 1))
            #expect(simulator.counters.faultsInjected == 1)
        }
    }

    @Test(
        "the connection ends before, during or after the body, without an answer",
        arguments: [Fault.Stage.headers, .body, .answer])
    func close(stage: Fault.Stage) async throws {
        try await Self.withFaults(
            Fault(.closeConnection, at: stage, count: 1)
        ) { simulator, client in
            #expect(try await client.push(Push()) == nil)
            #expect(await client.nextFrame { $0.type == RawClient.Kind.goAway } == nil)
            let isWhole = stage == .answer
            #expect(simulator.counters.completeRequests == (isWhole ? 1 : 0))
            #expect(simulator.receivedPushes.count == (isWhole ? 1 : 0))
            #expect(simulator.receivedPushes.first?.status == nil)
            let again = try await RawClient.connect(to: simulator)
            #expect(try await again.push(Push())?.status == 200)
            await again.close()
        }
    }

    @Test(
        "a stream that is never answered leaves the others alone",
        arguments: [
            Fault.Stage.headers, .body, .answer,
        ])
    func neverAnswer(stage: Fault.Stage) async throws {
        try await Self.withFaults(
            Fault(.neverAnswer, at: stage, count: 1)
        ) { simulator, client in
            let mute = client.send(Push())
            let answer = try await client.push(Push())
            #expect(answer?.status == 200)
            await client.synchronise()
            #expect(simulator.counters.completeRequests == 2)
            #expect(simulator.counters.answers == [200: 1])
            #expect(simulator.receivedPushes.first?.fault == .neverAnswer)
            #expect(simulator.receivedPushes.first?.status == nil)
            client.write(
                frame: .init(
                    type: RawClient.Kind.reset, flags: 0, stream: mute, payload: [0, 0, 0, 8]))
            await client.synchronise()
            #expect(simulator.counters.resetsReceived == [.cancel: 1])
        }
    }

    @Test("GOAWAY that includes the request: it is answered, then the connection ends")
    func goAwayIncluding() async throws {
        try await Self.withFaults(Fault(.goAway(.init()), count: 1)) { _, client in
            let stream = client.send(Push())
            let goAway = try #require(await client.nextFrame(ofType: RawClient.Kind.goAway))
            #expect(goAway.number() == UInt32(stream))
            #expect(goAway.number(at: 4) == 0)
            #expect(goAway.payload.dropFirst(8).elementsEqual(#"{"reason":"Shutdown"}"#.utf8))
            #expect(try await client.answer(on: stream)?.status == 200)
            #expect(await client.nextFrame { _ in false } == nil)
        }
    }

    @Test("GOAWAY that excludes the request: no answer, no reset, and earlier ones go on")
    func goAwayExcluding() async throws {
        let slow = try DeviceToken(hex: "510e")
        try await Self.withFaults(
            Fault(.delay(milliseconds: 100), for: .deviceToken(slow)),
            Fault(
                .goAway(.init(reason: nil, code: .enhanceYourCalm, lastStream: .theOneBefore)),
                count: 1)
        ) { simulator, client in
            let early = client.send(Push(token: slow.hex))
            let late = client.send(Push())
            let goAway = try #require(await client.nextFrame(ofType: RawClient.Kind.goAway))
            #expect(goAway.number() == UInt32(early))
            #expect(HTTP2ErrorCode(rawValue: goAway.number(at: 4)) == .enhanceYourCalm)
            #expect(goAway.payload.count == 8)
            // What comes after is above the last stream too.
            client.send(Push())
            #expect(try await client.answer(on: early)?.status == 200)
            #expect(await client.nextFrame { $0.stream >= late } == nil)
            #expect(simulator.counters.completeRequests == 2)
            #expect(simulator.counters.answers == [200: 1])
        }
    }

    @Test("GOAWAY on command reaches every connection")
    func goAwayCommand() async throws {
        try await Self.withFaults { simulator, client in
            let other = try await RawClient.connect(to: simulator)
            #expect(try await client.push(Push())?.status == 200)
            await other.synchronise()
            simulator.sendGoAway(reason: .serviceUnavailable)
            for (client, last) in [(client, 1), (other, 0)] as [(RawClient, UInt32)] {
                let goAway = try #require(await client.nextFrame(ofType: RawClient.Kind.goAway))
                #expect(goAway.number() == last)
                #expect(
                    goAway.payload.dropFirst(8)
                        .elementsEqual(#"{"reason":"ServiceUnavailable"}"#.utf8))
                #expect(await client.nextFrame { _ in false } == nil)
            }
            #expect(simulator.counters.goAwaysSent == 2)
        }
    }

    @Test("an answer byte by byte is still an answer")
    func drip() async throws {
        try await Self.withFaults(
            Fault(.drip(millisecondsPerByte: 1), count: 1)
        ) { _, client in
            let start = ContinuousClock.now
            let dripping = client.send(Push().with("apns-topic", nil))
            let waiting = client.send(Push())
            let answer = try #require(try await client.answer(on: dripping))
            #expect(answer.body == #"{"reason":"MissingTopic"}"#)
            // Two frame headers, a header block and a body: well over 60 bytes.
            #expect(ContinuousClock.now - start >= .milliseconds(60))
            #expect(try await client.answer(on: waiting)?.status == 200)
        }
    }

    @Test("a lower stream limit is announced and enforced")
    func limitStreams() async throws {
        try await Self.withFaults(Fault(.limitStreams(1), count: 1)) { _, client in
            #expect(try await client.push(Push())?.status == 200)
            let settings = await client.nextFrame {
                $0.type == RawClient.Kind.settings && $0.streamLimit == 1
            }
            #expect(settings != nil)
            client.sendHeaders(Push().fields)
            let second = client.sendHeaders(Push().fields)
            let reset = try #require(await client.nextFrame(ofType: RawClient.Kind.reset))
            #expect(reset.stream == second)
            #expect(HTTP2ErrorCode(rawValue: reset.number()) == .refusedStream)
        }
    }

    @Test("a refused handshake, and the next one works")
    func refuseTLS() async throws {
        try await WireTests.withSimulator { simulator in
            simulator.inject(Fault(.refuseTLS, count: 1))
            let refused = try await RawClient.connect(to: simulator)
            #expect(await refused.nextFrame() == nil)
            #expect(simulator.counters.handshakes == 0)
            let client = try await RawClient.connect(to: simulator)
            #expect(try await client.push(Push())?.status == 200)
            #expect(simulator.counters.connectionsOpened == 2)
            await client.close()
        }
    }

    @Test("a connection that is closed at once, or late to shake hands")
    func connectionStage() async throws {
        try await WireTests.withSimulator { simulator in
            simulator.inject(Fault(.closeConnection, at: .connection, count: 1))
            simulator.inject(Fault(.delay(milliseconds: 100), at: .connection, count: 1))
            let closed = try await RawClient.connect(to: simulator)
            #expect(await closed.nextFrame() == nil)
            let start = ContinuousClock.now
            let late = try await RawClient.connect(to: simulator)
            #expect(try await late.push(Push())?.status == 200)
            #expect(ContinuousClock.now - start >= .milliseconds(100))
            await late.close()
        }
    }

    @Test("a fault for one device token spares the others")
    func deviceToken() async throws {
        let token = try DeviceToken(hex: "0bad")
        try await Self.withFaults(
            Fault(.reject(.tooManyRequests), for: .deviceToken(token))
        ) { simulator, client in
            let hit = try await client.push(Push(token: "0BAD"))
            #expect(hit?.status == 429)
            let spared = try await client.push(Push())
            #expect(spared?.status == 200)
            simulator.clearFaults()
            let cleared = try await client.push(Push(token: "0bad"))
            #expect(cleared?.status == 200)
        }
    }

    @Test("a share hits the same requests whenever the seed is the same")
    func share() async throws {
        func statuses(seed: UInt64) async throws -> [Int?] {
            var statuses: [Int?] = []
            try await WireTests.withSimulator {
                $0.seed = seed
            } _: { simulator in
                simulator.inject(Fault(.reject(.internalServerError), for: .share(0.3)))
                let client = try await RawClient.connect(to: simulator)
                for _ in 0..<60 { statuses.append(try await client.push(Push())?.status) }
                await client.close()
            }
            return statuses
        }
        let first = try await statuses(seed: 7)
        #expect(Set(first) == [200, 500])
        #expect(try await statuses(seed: 7) == first)
        #expect(try await statuses(seed: 8) != first)
    }
}
