// SPDX-License-Identifier: Apache-2.0

import PushTransport
import Synchronization
import Testing
import TransportTestKit

extension ServerTests {
    /// nginx and others close each connection in order after a number of requests.
    @Suite("Servers with a limit of requests a connection", .timeLimit(.minutes(10)))
    struct PoliteServerTests {
        /// Guards requests that were written for nothing, because they were above the limit, and
        /// the wait for the end of a connection that takes no more.
        @Test(
            "no request is sent above a known limit, and the next connection does not wait",
            arguments: TransportMaker.all)
        func knownLimit(maker: TransportMaker) async throws {
            let limit = 100
            let most = Mutex(0)
            let server = try await HostileServer { peer in
                peer.converse(settings: [(3, 100)]) { frame in
                    guard frame.endsRequest else { return [] }
                    if peer.connection > 2 { most.withLock { $0 = max($0, frame.stream) } }
                    guard frame.stream < 2 * limit else { return [] }
                    let isLast = frame.stream == 2 * limit - 1
                    // The third connection never gets to its end.
                    if isLast, peer.connection == 3 { return [] }
                    return ServerFrame.accepted(stream: frame.stream)
                        + (isLast ? ServerFrame.goAway(last: frame.stream) : [])
                }
            }
            var reach = try server.reach
            reach.maximumConnections = 1
            let inbox = Inbox()
            let transport = try maker.make(reach, inbox.sink)
            for round in 1...2 {
                let first = 1000 * round
                transport.submit(TestPush.batch(first..<first + limit))
                await inbox.waitForCount(round * limit)
                #expect(await eventually { transport.gauges.connections == 0 })
            }
            // The time for all is less than that after which a silent connection is replaced.
            transport.submit(TestPush.batch(5000..<5250, timeout: .seconds(4)))
            await inbox.waitForCount(2 * limit + 250)
            #expect(inbox.failures == ["timed-out (unknown)": 1])
            #expect(most.withLock { $0 } == 2 * limit - 1)
            #expect(transport.gauges.connectionsOpened == 5)
            await transport.shutDown(gracePeriod: .zero)
            server.close()
        }

        /// Guards calls that would ring twice: servers say of a connection that they end for a
        /// fault that they have processed nothing (last stream 0).
        @Test(
            "a GOAWAY that leaves out what was answered says nothing about the rest",
            arguments: TransportMaker.all)
        func falseGoAway(maker: TransportMaker) async throws {
            let had = Mutex<[Int]>([])
            let server = try await HostileServer { peer in
                peer.converse { frame in
                    guard frame.endsRequest else { return [] }
                    had.withLock { $0.append(peer.connection) }
                    if peer.connection > 1 || frame.stream == 1 {
                        return ServerFrame.accepted(stream: frame.stream)
                    }
                    guard frame.stream == 5 else { return [] }
                    return ServerFrame.goAway(last: 0, code: 11)
                }
            }
            var reach = try server.reach
            reach.maximumConnections = 1
            let inbox = Inbox()
            let transport = try maker.make(reach, inbox.sink)
            transport.submit([TestPush.submission(1)])
            #expect(await inbox.outcome(of: 1).label == "200")
            transport.submit(TestPush.batch(2..<4))
            for number in UInt64(2)...3 {
                let label = await inbox.outcome(of: number).label
                #expect(label.hasSuffix("(unknown)"), "\(number): \(label)")
            }
            transport.submit([TestPush.submission(4)])
            #expect(await inbox.outcome(of: 4).label == "200")
            #expect(had.withLock { $0 } == [1, 1, 1, 2])
            await transport.shutDown(gracePeriod: .zero)
            server.close()
        }
    }
}
