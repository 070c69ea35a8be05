// SPDX-License-Identifier: Apache-2.0

import APNsSimulator
import HTTP2Transport
import PushTransport
import Testing
import TransportTestKit
import WaitKit
import WakeModel

extension ServerTests {
    @Suite("The life of native connections", .timeLimit(.minutes(10)))
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

        /// Guards servers with a limit on the requests of a connection, such as nginx: each end
        /// once counted as a failure, and after 5 requests a connection most pushes ran out of
        /// time.
        @Test(
            "a server that ends each connection in order costs neither a push nor a wait",
            arguments: [20, 5])
        func polite(requestsPerConnection limit: Int) async throws {
            let server = try await HostileServer { peer in
                var answered = 0
                peer.converse(settings: [(3, 100)]) { frame in
                    guard frame.endsRequest, answered < limit else { return [] }
                    answered += 1
                    let answer = ServerFrame.accepted(stream: frame.stream)
                    let isLast = answered == limit
                    return answer + (isLast ? ServerFrame.goAway(last: frame.stream) : [])
                }
            }
            let reach = try server.reach
            let inbox = Inbox()
            let transport = try HTTP2Transport(reach, sink: inbox.sink)
            // With a wait of an eighth of a second and more between connections, hardly any of the
            // last would go.
            transport.submit(TestPush.batch(1...(30 * limit), timeout: .seconds(6)))
            await inbox.waitForCount(30 * limit)
            #expect(inbox.failures == [:])
            #expect((30...34).contains(transport.gauges.connectionsOpened))
            await transport.shutDown(gracePeriod: .zero)
            server.close()
        }

        @Test("one that says GOAWAY before any answer is not called again and again")
        func impolite() async throws {
            let server = try await HostileServer { peer in
                peer.converse { frame in frame.endsRequest ? ServerFrame.goAway(last: 0) : [] }
            }
            var reach = try server.reach
            reach.urgentWaitsForConnection = true
            let inbox = Inbox()
            let transport = try HTTP2Transport(reach, sink: inbox.sink)
            transport.submit([TestPush.submission(1, timeout: .seconds(2), isUrgent: true)])
            #expect(await inbox.outcome(of: 1).label == "timed-out (not-sent)")
            // 0, 125 … 250 ms, 250 … 500 ms, 0.5 … 1 s.
            #expect((2...5).contains(transport.gauges.connectionsOpened))
            await transport.shutDown(gracePeriod: .zero)
            server.close()
        }

        /// Guards calls that expired unsent although the server had come back.
        @Test(
            "a connection closed before SETTINGS has had nothing, and a call waits for another",
            arguments: [true, false])
        func beforeSettings(waits: Bool) async throws {
            let server = try await HostileServer { peer in
                if peer.connection > 3 { peer.acceptAll() }
            }
            var reach = try server.reach
            reach.urgentWaitsForConnection = waits
            let inbox = Inbox()
            let transport = try HTTP2Transport(reach, sink: inbox.sink)
            transport.submit([TestPush.submission(1, isUrgent: true)])
            let outcome = await inbox.outcome(of: 1)
            #expect(outcome.label == (waits ? "200" : "connection-lost (not-sent)"))
            await transport.shutDown(gracePeriod: .zero)
            server.close()
        }

        @Test("an opening that hangs is not waited for: another is begun beside it")
        func hangingOpening() async throws {
            let server = try await HostileServer { peer in
                if peer.connection == 1 { peer.listen() } else { peer.acceptAll() }
            }
            var reach = try server.reach
            reach.maximumConnections = 1
            reach.connectTimeout = .seconds(60)
            let inbox = Inbox()
            let transport = try HTTP2Transport(reach, sink: inbox.sink)
            transport.submit([TestPush.submission(1)])
            #expect(await inbox.outcome(of: 1).label == "200")
            #expect(transport.gauges.connectionsOpened == 2)
            await transport.shutDown(gracePeriod: .zero)
            server.close()
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
                try await elapse(.milliseconds(300))
                // No successor can come up.
                bench.simulator.inject(Fault(.refuseTLS))
                for id in UInt64(1)...5 {
                    #expect(await bench.send(id).label == "200")
                    try await elapse(.milliseconds(100))
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
