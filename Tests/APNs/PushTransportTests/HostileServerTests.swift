// SPDX-License-Identifier: Apache-2.0

import PushTransport
import Testing
import TransportTestKit
import WakeModel

extension ServerTests {
    /// Servers that say what no honest one does. On every transport each push has one answer in
    /// time, which never denies that the server had the push; the end comes when it is asked for;
    /// and no connection is left behind. What exactly the answer is, and that the connection is
    /// closed at once, only the native transport promises, whose own tests say so: it counts frames
    /// itself, while libcurl hears a flood until the push's time is up, and tells a broken
    /// connection from a broken stream in its own way.
    @Suite("Hostile servers", .timeLimit(.minutes(10)))
    struct HostileServerTests {
        /// Frames that break HTTP/2.
        struct Nonsense: Sendable, CustomTestStringConvertible {
            let testDescription: String
            let frames: [UInt8]

            init(_ words: String, _ frames: [UInt8]) {
                testDescription = words
                self.frames = frames
            }

            static let all = [
                Nonsense("an answer on an even stream", ServerFrame.accepted(stream: 2)),
                Nonsense("DATA on no stream", ServerFrame.frame(0, flags: 1, [1])),
                Nonsense("a PING of three bytes", ServerFrame.frame(6, [1, 2, 3])),
                Nonsense(
                    "no such table entry", ServerFrame.frame(1, flags: 5, stream: 1, [0xff, 0x7f])),
                Nonsense(
                    "a frame over the limit", [0xff, 0xff, 0xff, 0, 0] + ServerFrame.number(1)),
                Nonsense("a window of 2^31", ServerFrame.windowUpdate(by: Int(Int32.max))),
                Nonsense("SETTINGS out of range", ServerFrame.settings([(5, 1)])),
                Nonsense("an answer without a status", ServerFrame.frame(1, flags: 5, stream: 1)),
                Nonsense("the first half of a frame", Array(ServerFrame.ping().prefix(12))),
            ]
        }

        /// How long each push has.
        private static let timeout = Duration.milliseconds(500)

        /// Sends a push to a server of that script, and another at the end.
        private func expectContract(
            of maker: TransportMaker, name: String,
            _ script: @escaping @Sendable (HostileServer.Peer) -> Void
        ) async throws {
            let server = try await HostileServer(script)
            var reach = try server.reach
            reach.maximumConnections = 1
            let inbox = Inbox()
            let transport = try maker.make(reach, inbox.sink)
            let clock = ContinuousClock()
            let start = clock.now
            transport.submit([TestPush.submission(1, timeout: Self.timeout)])
            let outcome = await inbox.outcome(of: 1)
            #expect(clock.now - start < Self.timeout + Self.slack, "\(name)")
            #expect(outcome.failure?.certainty != .notSent, "\(name): \(outcome)")
            let beforeEnd = clock.now
            transport.submit([TestPush.submission(2)])
            await transport.shutDown(gracePeriod: .milliseconds(200))
            #expect(clock.now - beforeEnd < .milliseconds(200) + Self.slack, "\(name)")
            #expect(inbox.order == [1, 2], "\(name)")
            // A script ends when the client's socket is closed, and not before.
            #expect(
                await eventually { server.openConnections == 0 },
                "\(name): a connection is left")
            server.close()
        }

        /// What a busy machine may add, and libcurl, which reads a flood for half a second of its
        /// thread's time before it is stopped. Without that it reads on for ever: a flood has no
        /// end of its own.
        private static let slack = Duration.seconds(8)

        @Test("a flood", arguments: TransportMaker.all, Flood.all)
        func flood(maker: TransportMaker, flood: Flood) async throws {
            try await expectContract(of: maker, name: flood.name) { peer in
                guard peer.send(ServerFrame.settings()), peer.awaitWholeRequest() else { return }
                flood.pour(into: peer)
            }
        }

        /// APNs answers 200 once it has accepted the notification, and its 200 has no body.
        @Test("200 whose stream never ends is an answer", arguments: TransportMaker.all)
        func endless(maker: TransportMaker) async throws {
            let server = try await HostileServer { peer in
                peer.converse { frame in
                    guard frame.endsRequest else { return [] }
                    return ServerFrame.frame(1, flags: 4, stream: frame.stream, [0x88])
                }
            }
            let reach = try server.reach
            let inbox = Inbox()
            let transport = try maker.make(reach, inbox.sink)
            transport.submit([TestPush.submission(1, timeout: .milliseconds(500))])
            #expect(await inbox.outcome(of: 1).label == "200")
            await transport.shutDown(gracePeriod: .zero)
            server.close()
        }

        @Test("nonsense, and silence", arguments: TransportMaker.all, Nonsense.all)
        func nonsense(maker: TransportMaker, nonsense: Nonsense) async throws {
            try await expectContract(of: maker, name: nonsense.testDescription) { peer in
                guard peer.send(ServerFrame.settings()), peer.awaitWholeRequest(),
                    peer.send(nonsense.frames)
                else { return }
                peer.listen()
            }
        }
    }
}
