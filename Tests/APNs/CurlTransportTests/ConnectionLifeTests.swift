// SPDX-License-Identifier: Apache-2.0

import CurlTransport
import PushTransport
import Synchronization
import Testing
import TransportTestKit

extension ServerTests {
    @Suite("The life of connections, with libcurl", .timeLimit(.minutes(10)))
    struct ConnectionLifeTests {
        private func connect(
            to server: HostileServer, maximumConnections: Int = 1
        ) throws -> (transport: CurlTransport, inbox: Inbox) {
            var reach = try server.reach
            reach.maximumConnections = maximumConnections
            let inbox = Inbox()
            return (try CurlTransport(reach, sink: inbox.sink), inbox)
        }

        /// Guards the sum of that stream and one, which once ended the process.
        @Test("a shutdown in two steps, the first GOAWAY with stream 2^31 - 1, costs no push")
        func goAwayInTwoSteps() async throws {
            let server = try await HostileServer { peer in
                guard peer.connection == 1 else { return peer.acceptAll() }
                peer.converse { frame in
                    if frame.type == 6 {
                        // The client has read the first step (RFC 9113 §6.8).
                        return ServerFrame.accepted(stream: 3) + ServerFrame.goAway(last: 3)
                    }
                    guard frame.endsRequest else { return [] }
                    if frame.stream == 1 { return ServerFrame.accepted(stream: 1) }
                    return ServerFrame.goAway(last: 1 << 31 - 1) + ServerFrame.ping()
                }
            }
            let (transport, inbox) = try connect(to: server)
            for number in UInt64(1)...3 {
                transport.submit([TestPush.submission(number)])
                #expect(await inbox.outcome(of: number).label == "200", "push \(number)")
            }
            #expect(transport.gauges.connectionsOpened == 2)
            await transport.shutDown(gracePeriod: .zero)
            server.close()
        }

        /// Guards streams above the last one of a GOAWAY, whose fate libcurl before 8.19 does not
        /// report.
        @Test("what a GOAWAY leaves out goes over the next connection, and nothing else does")
        func leftOut() async throws {
            let repeated = Atomic(0)
            let server = try await HostileServer { peer in
                peer.converse { frame in
                    guard frame.endsRequest else { return [] }
                    if peer.connection > 1 {
                        repeated.add(1, ordering: .relaxed)
                        return ServerFrame.accepted(stream: frame.stream)
                    }
                    if frame.stream == 1 { return ServerFrame.accepted(stream: 1) }
                    guard frame.stream == 7 else { return [] }
                    return ServerFrame.accepted(stream: 3) + ServerFrame.goAway(last: 3)
                }
            }
            let (transport, inbox) = try connect(to: server)
            transport.submit([TestPush.submission(1)])
            #expect(await inbox.outcome(of: 1).label == "200")
            transport.submit(TestPush.batch(2..<5))
            for number in UInt64(2)...4 {
                #expect(await inbox.outcome(of: number).label == "200", "push \(number)")
            }
            #expect(repeated.load(ordering: .relaxed) == 2)
            #expect(transport.gauges.connectionsOpened == 2)
            await transport.shutDown(gracePeriod: .zero)
            server.close()
        }

        /// Guards two counts: connections that start nothing more stood beside the maximum, so that
        /// each push opened one; and one end after one request was taken for a habit.
        @Test(
            "a server of few requests a connection meets no more connections than configured",
            arguments: [(1, 4), (2, 1)])
        func fewRequests(limit: Int, maximum: Int) async throws {
            let sender = Mutex<CurlTransport?>(nil)
            let most = Mutex(0)
            let server = try await HostileServer { peer in
                peer.converse(settings: [(3, 100)]) { frame in
                    guard frame.endsRequest, frame.stream < 2 * limit else { return [] }
                    let open = sender.withLock { $0?.gauges.connections ?? 0 }
                    most.withLock { $0 = max($0, open) }
                    let isLast = frame.stream == 2 * limit - 1
                    return ServerFrame.accepted(stream: frame.stream)
                        + (isLast ? ServerFrame.goAway(last: frame.stream) : [])
                }
            }
            let (transport, inbox) = try connect(to: server, maximumConnections: maximum)
            sender.withLock { $0 = transport }
            try await teach(limit, transport, inbox)
            transport.submit(TestPush.batch(1000..<1100))
            await inbox.waitForCount(2 * limit + 100)
            #expect(inbox.failures == [:])
            #expect((1...maximum).contains(most.withLock { $0 }))
            #expect(transport.gauges.connectionsOpened == 2 + 100 / limit)
            await transport.shutDown(gracePeriod: .zero)
            sender.withLock { $0 = nil }
            server.close()
        }

        /// Guards those who wait while a connection that starts nothing more keeps its place.
        @Test(
            "a silent connection that may start nothing more does not hold the others up",
            arguments: [1, 2])
        func silentAndSpent(limit: Int) async throws {
            let server = try await HostileServer { peer in
                peer.converse { frame in
                    guard frame.endsRequest, frame.stream < 2 * limit else { return [] }
                    let isLast = frame.stream == 2 * limit - 1
                    if isLast, peer.connection == 3 { return [] }
                    return ServerFrame.accepted(stream: frame.stream)
                        + (isLast ? ServerFrame.goAway(last: frame.stream) : [])
                }
            }
            let (transport, inbox) = try connect(to: server)
            try await teach(limit, transport, inbox)
            transport.submit(TestPush.batch(1000...1000 + limit, timeout: .seconds(30)))
            // All but the one without an answer, long before its time is up.
            #expect(await inbox.outcome(of: UInt64(1000 + limit)).label == "200")
            #expect(inbox.outcomes[UInt64(999 + limit)] == nil)
            await transport.shutDown(gracePeriod: .zero)
            server.close()
        }

        /// Two connections that end after so many requests.
        private func teach(_ limit: Int, _ transport: CurlTransport, _ inbox: Inbox) async throws {
            for round in 1...2 {
                let first = 10 * round
                transport.submit(TestPush.batch(first..<first + limit))
                await inbox.waitForCount(round * limit)
                #expect(await eventually { transport.gauges.connections == 0 })
            }
            #expect(inbox.failures == [:])
        }

        /// Guards the order of those that were certainly not sent, which once was turned round.
        @Test("pushes that a lost connection has not sent go over the next one in their order")
        func orderAfterLoss() async throws {
            let firstOfNext = Mutex<[UInt8]?>(nil)
            let server = try await HostileServer { peer in
                var frames = ClientFrames()
                guard peer.connection == 1 else {
                    peer.converse { frame in
                        if frame.type == 0, frame.stream == 1 {
                            firstOfNext.withLock { $0 = $0 ?? frame.payload }
                        }
                        return frame.endsRequest ? ServerFrame.accepted(stream: frame.stream) : []
                    }
                    return
                }
                // One stream at a time; the end comes with the second request.
                guard peer.send(ServerFrame.settings([(3, 1)])) else { return }
                while let bytes = peer.receive() {
                    let requests = frames.hear(bytes).filter(\.endsRequest)
                    if requests.contains(where: { $0.stream > 1 }) { return }
                    guard requests.isEmpty || peer.send(ServerFrame.accepted(stream: 1)) else {
                        return
                    }
                }
            }
            let (transport, inbox) = try connect(to: server)
            transport.submit(TestPush.batch(1...20))
            await inbox.waitForCount(20)
            #expect(inbox.outcomes[1]?.first?.label == "200")
            #expect(inbox.outcomes[2]?.first?.label == "connection-lost (unknown)")
            #expect(inbox.count(status: 200) == 19)
            let first = firstOfNext.withLock { $0 } ?? []
            #expect(String(decoding: first, as: UTF8.self).contains(#""n":3}"#))
            await transport.shutDown(gracePeriod: .zero)
            server.close()
        }
    }
}
