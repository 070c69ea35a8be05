// SPDX-License-Identifier: Apache-2.0

import Glibc
import HTTP2Transport
import PushTransport
import Synchronization
import Testing
import TransportTestKit

extension ServerTests {
    @Suite("Hostile servers", .timeLimit(.minutes(10)))
    struct HostileServerTests {
        /// A transport to the server, and the box for what comes back.
        private func connect(
            to server: HostileServer, _ adjust: (inout TransportConfiguration) -> Void = { _ in }
        ) throws -> (transport: HTTP2Transport, inbox: Inbox) {
            var reach = try server.reach
            reach.maximumConnections = 1
            adjust(&reach)
            let inbox = Inbox()
            return (try HTTP2Transport(reach, sink: inbox.sink), inbox)
        }

        @Test(
            "a name is verified and sent as SNI; an address is verified alone",
            arguments: [("localhost", "localhost"), ("127.0.0.1", nil)] as [(String, String?)])
        func serverName(host: String, expected: String?) async throws {
            let seen = Mutex<String?>("nobody came")
            let server = try await HostileServer { peer in
                seen.withLock { $0 = peer.serverName }
                guard peer.send(ServerFrame.settings()), peer.awaitRequest(),
                    peer.send(ServerFrame.accepted(stream: 1))
                else { return }
                peer.listen()
            }
            let (transport, inbox) = try connect(to: server) { $0.host = host }
            transport.submit([TestPush.submission(1)])
            #expect(await inbox.outcome(of: 1).label == "200")
            #expect(seen.withLock { $0 } == expected)
            await transport.shutDown(gracePeriod: .zero)
            server.close()
        }

        @Test("a flood closes the connection, and the push is answered once", arguments: Flood.all)
        func flood(flood: Flood) async throws {
            let server = try await HostileServer { peer in
                guard peer.send(ServerFrame.settings()), peer.awaitRequest() else { return }
                flood.pour(into: peer)
            }
            let (transport, inbox) = try connect(to: server)
            transport.submit([TestPush.submission(1, timeout: .seconds(20))])
            let outcome = await inbox.outcome(of: 1)
            #expect(flood.outcomes.contains(outcome.label), "\(outcome)")
            #expect(await eventually { server.endedScripts > 0 }, "it was not closed")
            await transport.shutDown(gracePeriod: .zero)
            server.close()
            #expect(inbox.order == [1])
        }

        @Test("one that breaks HTTP/2 and falls silent is left at once, not when time has run out")
        func silentAfterNonsense() async throws {
            let server = try await HostileServer { peer in
                // HEADERS on a stream that no client opens (RFC 9113 §5.1.1).
                guard peer.send(ServerFrame.settings()), peer.awaitRequest(),
                    peer.send(ServerFrame.frame(1, flags: 5, stream: 2, [0x88]))
                else { return }
                peer.listen()
            }
            let (transport, inbox) = try connect(to: server)
            transport.submit([TestPush.submission(1, timeout: .seconds(5))])
            #expect(await inbox.outcome(of: 1).label == "connection-lost (unknown)")
            #expect(await eventually { server.endedScripts > 0 }, "it was not closed")
            await transport.shutDown(gracePeriod: .zero)
            server.close()
            #expect(inbox.order == [1])
        }

        @Test(
            "a body over 4 KiB or a header list over 16 KiB costs its stream, not the connection",
            arguments: [true, false])
        func tooLarge(isBody: Bool) async throws {
            let server = try await HostileServer { peer in
                guard peer.send(ServerFrame.settings()), peer.awaitRequest() else { return }
                let answer =
                    isBody
                    ? ServerFrame.refusal(stream: 1)
                        + ServerFrame.data(
                            stream: 1, [UInt8](repeating: 0x41, count: 4097), isLast: true)
                    : ServerFrame.longHeaderList(stream: 1)
                guard peer.send(answer), peer.awaitRequest(),
                    peer.send(ServerFrame.accepted(stream: 3))
                else { return }
                peer.listen()
            }
            let (transport, inbox) = try connect(to: server)
            transport.submit([TestPush.submission(1)])
            #expect(await inbox.outcome(of: 1).label == "response-too-large (unknown)")
            transport.submit([TestPush.submission(2)])
            #expect(await inbox.outcome(of: 2).label == "200")
            #expect(transport.gauges.connectionsOpened == 1)
            await transport.shutDown(gracePeriod: .zero)
            server.close()
        }

        /// Guards the places of a full connection: the reset of a refused answer is collected when
        /// the next push starts, which once took the connection down with all that were on it.
        @Test("an answer that is refused on a full connection costs nobody else's push")
        func tooLargeWhenFull() async throws {
            let server = try await HostileServer { peer in
                guard peer.send(ServerFrame.settings([(3, 2)])), peer.awaitRequest(),
                    peer.send(ServerFrame.accepted(stream: 1))
                else { return }
                var frames = FrameCounter()
                func hear(_ requests: Int) -> Bool {
                    while frames.requests < requests {
                        guard let bytes = peer.receive() else { return false }
                        frames.hear(bytes)
                    }
                    return true
                }
                let tooLarge =
                    ServerFrame.refusal(stream: 3)
                    + ServerFrame.data(
                        stream: 3, [UInt8](repeating: 0x41, count: 4097), isLast: false)
                guard hear(2), peer.send(tooLarge + ServerFrame.accepted(stream: 5)), hear(4),
                    peer.send(ServerFrame.accepted(stream: 7) + ServerFrame.accepted(stream: 9))
                else { return }
                peer.listen()
            }
            let (transport, inbox) = try connect(to: server) { $0.maximumStreamsPerConnection = 2 }
            transport.submit([TestPush.submission(0)])
            #expect(await inbox.outcome(of: 0).label == "200")
            transport.submit(TestPush.batch(1...4))
            #expect(await inbox.outcome(of: 1).label == "response-too-large (unknown)")
            for id in 2...4 as ClosedRange<UInt64> {
                #expect(await inbox.outcome(of: id).label == "200")
            }
            #expect(transport.gauges.connectionsOpened == 1)
            await transport.shutDown(gracePeriod: .zero)
            server.close()
        }

        @Test("requests of many streams share TLS records")
        func sharedRecords() async throws {
            let seen = Mutex((records: 0, requests: 0))
            let server = try await HostileServer { peer in
                guard peer.send(ServerFrame.settings([(3, 1000)])), peer.awaitRequest(),
                    peer.send(ServerFrame.accepted(stream: 1))
                else { return }
                var frames = FrameCounter()
                while let bytes = peer.receive() {
                    frames.hear(bytes)
                    seen.withLock { $0 = ($0.records + 1, frames.requests) }
                }
            }
            let (transport, inbox) = try connect(to: server)
            transport.submit([TestPush.submission(0)])
            #expect(await inbox.outcome(of: 0).label == "200")
            transport.submit(TestPush.batch(1...500))
            #expect(await eventually { seen.withLock { $0.requests == 500 } })
            // Some 100 bytes each, and 16 KB a record.
            #expect(seen.withLock { $0.records } <= 25)
            await transport.shutDown(gracePeriod: .zero)
            server.close()
        }

        /// A server that answers the first request and reads what follows only once it may, and how
        /// many requests it has seen of that.
        private final class PausedServer: Sendable {
            let mayRead = Atomic(false)
            let seen = Atomic(0)

            func start() async throws -> HostileServer {
                try await HostileServer { [self] peer in
                    let wide = ServerFrame.settings([(3, 100_000), (4, 1 << 30)])
                    guard peer.send(wide + ServerFrame.windowUpdate(by: 1 << 30)),
                        peer.awaitRequest(), peer.send(ServerFrame.accepted(stream: 1))
                    else { return }
                    while !mayRead.load(ordering: .acquiring) { usleep(1000) }
                    var frames = FrameCounter()
                    while let bytes = peer.receive() {
                        frames.hear(bytes)
                        seen.store(frames.requests, ordering: .releasing)
                    }
                }
            }

            /// More than the buffers of both sockets hold.
            static func submissions(timeout: Duration) -> [TransportRequest] {
                let body = [UInt8](repeating: 0x42, count: 4096)
                return (1...8000).map { number in
                    TransportRequest(
                        id: number, request: TestPush.request(number, body: body),
                        timeout: timeout)
                }
            }
        }

        @Test("of what a peer does not read, only what was handed to TLS is unknown")
        func unread() async throws {
            let paused = PausedServer()
            let server = try await paused.start()
            let (transport, inbox) = try connect(to: server) {
                $0.maximumStreamsPerConnection = 100_000
                // So that nothing is written when the transport ends.
                $0.keepAlive = nil
            }
            transport.submit([TestPush.submission(0)])
            #expect(await inbox.outcome(of: 0).label == "200")
            let submissions = PausedServer.submissions(timeout: .seconds(2))
            transport.submit(submissions)
            await inbox.waitForCount(submissions.count + 1)
            let unknown = inbox.failures["timed-out (unknown)"] ?? 0
            let notSent = inbox.failures["timed-out (not-sent)"] ?? 0
            #expect(unknown > 0 && notSent > 0 && unknown + notSent == submissions.count)
            paused.mayRead.store(true, ordering: .releasing)
            await transport.shutDown(gracePeriod: .zero)
            #expect(await eventually { server.endedScripts == 1 })
            #expect(paused.seen.load(ordering: .acquiring) <= unknown)
            server.close()
        }

        @Test("a peer that stops to read and then goes on gets every byte, once and in its order")
        func pausing() async throws {
            let paused = PausedServer()
            let server = try await paused.start()
            let (transport, inbox) = try connect(to: server) {
                $0.maximumStreamsPerConnection = 100_000
            }
            transport.submit([TestPush.submission(0)])
            #expect(await inbox.outcome(of: 0).label == "200")
            let submissions = PausedServer.submissions(timeout: .seconds(30))
            transport.submit(submissions)
            // The socket takes nothing more, and some wait for it.
            let cancelled = 500
            #expect(await eventually { transport.gauges.inFlight > cancelled })
            #expect(transport.gauges.queued > 0)
            // Their RST_STREAM frames are more than there is room for behind what was gathered.
            for id in 1...UInt64(cancelled) { transport.cancel(id) }
            await inbox.waitForCount(cancelled + 1)
            #expect(inbox.failures["cancelled (unknown)"] == cancelled)
            paused.mayRead.store(true, ordering: .releasing)
            #expect(
                await eventually { paused.seen.load(ordering: .acquiring) == submissions.count })
            await transport.shutDown(gracePeriod: .zero)
            server.close()
        }

        @Test(
            "a peer that falls silent is pinged, and left; the next push finds another connection")
        func wedged() async throws {
            let server = try await HostileServer { peer in
                guard peer.send(ServerFrame.settings()) else { return }
                peer.listen()
            }
            let (transport, inbox) = try connect(to: server) {
                var keepAlive = TransportConfiguration.KeepAlive()
                keepAlive.idle = .milliseconds(200)
                keepAlive.interval = .milliseconds(200)
                $0.keepAlive = keepAlive
            }
            transport.submit([TestPush.submission(1, timeout: .seconds(20))])
            let failure = await inbox.outcome(of: 1).failure
            #expect(failure?.label == "connection-lost (unknown)")
            #expect(failure?.detail.contains("PING") == true)
            #expect(await eventually { server.endedScripts == 1 })
            await transport.shutDown(gracePeriod: .zero)
            server.close()
        }
    }
}

/// Counts the HEADERS frames of what a client writes, behind its preface and whatever was read
/// before, in whatever pieces they come.
private struct FrameCounter {
    private(set) var requests = 0
    private var head: [UInt8] = []
    private var payloadLeft = 0

    mutating func hear(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            if payloadLeft > 0 {
                let count = min(payloadLeft, rest.count)
                payloadLeft -= count
                rest = rest.dropFirst(count)
                continue
            }
            let count = min(9 - head.count, rest.count)
            head += rest.prefix(count)
            rest = rest.dropFirst(count)
            guard head.count == 9 else { continue }
            payloadLeft = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
            if head[3] == 1 { requests += 1 }
            head.removeAll(keepingCapacity: true)
        }
    }
}
