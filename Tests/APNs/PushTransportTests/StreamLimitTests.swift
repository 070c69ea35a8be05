// SPDX-License-Identifier: Apache-2.0

import APNsSimulator
import PushTransport
import Testing
import TransportTestKit
import WaitKit
import WakeModel

extension ServerTests {
    @Suite("The server's limit on streams", .timeLimit(.minutes(10)))
    struct StreamLimitTests {
        @Test("one stream until a valid answer, then many", arguments: TransportMaker.all)
        func oneThenMany(maker: TransportMaker) async throws {
            try await withBench(maker, transport: { $0.maximumConnections = 1 }) { bench in
                bench.simulator.inject(Fault(.delay(milliseconds: 1500), count: 1))
                bench.transport.submit(TestPush.batch(1...100))
                await bench.simulator.waitForPushes(1)
                #expect(await eventually { bench.transport.gauges.queued == 99 })
                let staysAtOne = try await holds(for: .milliseconds(150)) {
                    bench.simulator.counters.requests == 1
                        && bench.transport.gauges.inFlight == 1
                        && bench.transport.gauges.queued == 99
                }
                #expect(staysAtOne)
                bench.simulator.inject(Fault(.delay(milliseconds: 200)))
                await bench.simulator.waitForPushes(50)
                #expect(bench.transport.gauges.inFlight > 10)
                await bench.inbox.waitForCount(100)
                #expect(bench.inbox.count(status: 200) == 100)
                #expect(bench.simulator.counters.refusedStreams == 0)
            }
        }

        @Test(
            "refused provider tokens leave it at one stream and one connection",
            arguments: TransportMaker.all)
        func refusedTokens(maker: TransportMaker) async throws {
            try await withBench(maker) { bench in
                bench.transport.submit(
                    (1...40).map { TestPush.submission($0, shared: TestPush.unauthorized) })
                await bench.inbox.waitForCount(40)
                #expect(bench.inbox.count(status: 403) == 40)
                #expect(bench.transport.gauges.connectionsOpened == 1)
                #expect(bench.simulator.counters.refusedStreams == 0)
                #expect(await bench.send(50).label == "200")
            }
        }

        @Test("a limit that shrinks and grows again costs no push", arguments: TransportMaker.all)
        func shrinkAndGrow(maker: TransportMaker) async throws {
            try await withBench(
                maker,
                simulator: { $0.oneStreamUntilValidToken = false },
                transport: { $0.maximumConnections = 1 }
            ) { bench in
                _ = await bench.send(0)
                bench.transport.submit(TestPush.batch(1...300))
                await bench.inbox.waitForCount(301)
                for (round, limit) in [5, 1, 30, 1000].enumerated() {
                    // The SETTINGS go out with an answer while nothing else is in flight, so that
                    // no stream can cross them.
                    bench.simulator.inject(Fault(.limitStreams(limit), count: 1))
                    _ = await bench.send(UInt64(1000 + round))
                    bench.simulator.inject(Fault(.delay(milliseconds: 2)))
                    let first = 10_000 * (round + 1)
                    bench.transport.submit(TestPush.batch(first..<first + 200))
                    let target = 301 + (round + 1) * 201
                    await bench.inbox.waitForCount(target)
                    bench.simulator.clearFaults()
                    #expect(bench.inbox.failures == [:], "limit \(limit)")
                    #expect(bench.simulator.counters.refusedStreams == 0)
                }
                #expect(bench.transport.gauges.connectionsOpened == 1)
                let paths = bench.simulator.receivedPushes.compactMap(\.deviceTokenHex)
                #expect(paths.count == Set(paths).count)
            }
        }

        @Test(
            "a configured limit below the server's is obeyed", arguments: TransportMaker.all,
            [1, 7])
        func configured(maker: TransportMaker, limit: Int) async throws {
            try await withBench(
                maker,
                transport: {
                    $0.maximumConnections = 1
                    $0.maximumStreamsPerConnection = limit
                }
            ) { bench in
                _ = await bench.send(0)
                bench.simulator.inject(Fault(.delay(milliseconds: 30)))
                bench.transport.submit(TestPush.batch(1...40))
                var most = 0
                while bench.inbox.order.count < 41 {
                    most = max(most, bench.transport.gauges.inFlight)
                    await bench.inbox.waitForCount(bench.inbox.order.count + 1)
                }
                #expect(most <= limit)
                #expect(bench.inbox.count(status: 200) == 41)
            }
        }

        @Test(
            "further connections are opened when one is full, and no more than allowed",
            arguments: TransportMaker.all)
        func moreConnections(maker: TransportMaker) async throws {
            try await withBench(
                maker,
                transport: {
                    $0.maximumConnections = 3
                    $0.maximumStreamsPerConnection = 10
                }
            ) { bench in
                _ = await bench.send(0)
                bench.simulator.inject(Fault(.delay(milliseconds: 50)))
                bench.transport.submit(TestPush.batch(1...300))
                await bench.inbox.waitForCount(301)
                #expect(bench.transport.gauges.connectionsOpened == 3)
                #expect(bench.simulator.counters.connectionsOpened == 3)
                #expect(bench.inbox.count(status: 200) == 301)
            }
        }

        @Test("connections are replaced by age and by idleness", arguments: TransportMaker.all)
        func ageAndIdleness(maker: TransportMaker) async throws {
            try await withBench(maker, transport: { $0.maximumConnectionAge = .milliseconds(300) })
            {
                bench in
                let clock = ContinuousClock()
                let start = clock.now
                for id in UInt64(0)..<8 {
                    #expect(await bench.send(id).label == "200")
                    try await elapse(.milliseconds(100))
                }
                let lives = Int((clock.now - start) / .milliseconds(300)) + 1
                #expect((2...lives).contains(bench.transport.gauges.connectionsOpened))
            }
            try await withBench(maker, transport: { $0.maximumIdleTime = .milliseconds(200) }) {
                bench in
                for id in UInt64(0)..<3 {
                    #expect(await bench.send(id).label == "200")
                    try await elapse(.milliseconds(400))
                }
                #expect(bench.transport.gauges.connectionsOpened == 3)
            }
        }
    }
}
