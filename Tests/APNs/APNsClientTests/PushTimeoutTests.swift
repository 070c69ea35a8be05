// SPDX-License-Identifier: Apache-2.0

import APNsClient
import APNsSimulator
import PushTransport
import Testing
import WakeModel

@Suite("The time of one push", .timeLimit(.minutes(10)))
struct PushTimeoutTests {
    @Test("a push's own time counts instead of the configuration's 30 seconds")
    func ownTimeout() async throws {
        try await withClient { client, simulator in
            simulator.inject(Fault(.neverAnswer))
            let started = ContinuousClock.now
            let failure = await #expect(throws: TransportFailure.self) {
                try await client.send(Samples.background(1), timeout: .milliseconds(200))
            }
            #expect(failure?.kind == .timedOut)
            #expect(failure?.certainty == .unknown)
            #expect(started.duration(to: .now) < .seconds(10))
        }
    }

    @Test("a batch's own time holds for each of its pushes")
    func batchTimeout() async throws {
        try await withClient { client, simulator in
            simulator.inject(Fault(.neverAnswer))
            let replies = await client.send(
                try (0..<3).map(Samples.background), timeout: .milliseconds(200))
            for reply in replies {
                let failure = #expect(throws: TransportFailure.self) { try reply.result.get() }
                #expect(failure?.kind == .timedOut)
            }
            #expect(replies.count == 3)
        }
    }
}
