// SPDX-License-Identifier: Apache-2.0

import APNsSimulator
import PushTransport
import Testing
import TransportTestKit
import WakeModel

extension ServerTests {
    @Suite("The life of native connections", .timeLimit(.minutes(1)))
    struct ConnectionLifeTests {
        @Test(
            "streams above a GOAWAY's last one move to another connection; none is lost or doubled")
        func goAwayMoves() async throws {
            try await withBench(.native, transport: { $0.maximumConnections = 2 }) { bench in
                _ = await bench.send(0)
                for round in 0..<5 {
                    let first = 1 + round * 400
                    bench.transport.submit(TestPush.batch(first..<first + 400))
                    await bench.simulator.waitForPushes(first + 100)
                    bench.simulator.sendGoAway()
                    await bench.inbox.waitForCount(first + 400)
                }
                #expect(bench.inbox.failures == [:])
                #expect(bench.inbox.count(status: 200) == 2001)
                let paths = bench.simulator.receivedPushes.compactMap(\.deviceTokenHex)
                #expect(paths.count == Set(paths).count)
            }
        }

        @Test("a stream that is refused again and again fails as refused, not sent")
        func refusedForEver() async throws {
            try await withBench(.native) { bench in
                _ = await bench.send(0)
                bench.simulator.inject(Fault(.resetStream(.refusedStream), at: .headers))
                #expect(await bench.send(1).label == "stream-refused (not-sent)")
                bench.simulator.clearFaults()
                #expect(await bench.send(2).label == "200")
                #expect(bench.arrivals(of: 1) == 0)
            }
        }

        @Test("an aged connection stays in use until its successor has brought a valid answer")
        func ageOverlaps() async throws {
            try await withBench(
                .native,
                transport: {
                    $0.maximumConnections = 1
                    $0.maximumConnectionAge = .milliseconds(200)
                }
            ) { bench in
                _ = await bench.send(0)
                try await Task.sleep(for: .milliseconds(300))
                // No successor can come up.
                bench.simulator.inject(Fault(.refuseTLS))
                for id in UInt64(1)...5 {
                    #expect(await bench.send(id).label == "200")
                    try await Task.sleep(for: .milliseconds(100))
                }
                #expect(bench.simulator.receivedPushes.allSatisfy { $0.connection == 1 })
                #expect(bench.transport.gauges.connectionsOpened > 1)
                bench.simulator.clearFaults()
                var id = UInt64(10)
                let hasMoved = await eventually {
                    bench.transport.submit([TestPush.submission(id)])
                    id += 1
                    return (bench.simulator.receivedPushes.last?.connection ?? 1) > 1
                }
                #expect(hasMoved)
                await bench.inbox.waitForCount(Int(id) - 4)
                #expect(bench.inbox.failures == [:])
            }
        }

        @Test("thousands of streams on one connection, and the server's limit is kept")
        func manyStreams() async throws {
            try await withBench(.native, transport: { $0.maximumConnections = 1 }) { bench in
                bench.transport.submit(TestPush.batch(0..<4000))
                await bench.inbox.waitForCount(4000)
                #expect(bench.inbox.count(status: 200) == 4000)
                #expect(bench.simulator.counters.refusedStreams == 0)
                #expect(bench.transport.gauges.connectionsOpened == 1)
            }
        }

        @Test("header fields that fit no frame are refused, and the connection goes on")
        func headTooLarge() async throws {
            try await withBench(.native) { bench in
                _ = await bench.send(0)
                let field = HeaderField(
                    name: "apns-topic", value: String(repeating: "f", count: 20_000))
                let request = TestPush.request(1, shared: SharedHeaders([field]))
                bench.transport.submit(TestPush.submission(1, of: request, timeout: .seconds(5)))
                #expect(await bench.inbox.outcome(of: 1).label == "other (not-sent)")
                #expect(await bench.send(2).label == "200")
                #expect(bench.transport.gauges.connectionsOpened == 1)
            }
        }
    }
}
