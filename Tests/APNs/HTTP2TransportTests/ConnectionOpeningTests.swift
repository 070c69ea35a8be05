// SPDX-License-Identifier: Apache-2.0

import CHTTP2Shims
import Glibc
import PushTransport
import Testing
import TransportTestKit

@testable import HTTP2Transport

extension ServerTests {
    /// An opening by itself: real sockets, and a clock that the test moves.
    @Suite("Connections on their way", .timeLimit(.minutes(10)))
    struct ConnectionOpeningTests {
        /// What a loop would give to an opening.
        private final class Stage {
            let reactor: Reactor
            let opening: ConnectionOpening

            init(to server: HostileServer) throws {
                var reach = TransportConfiguration(host: "127.0.0.1")
                reach.trust = .pem(try server.certificate.pem)
                reactor = Reactor(pointer: try #require(CHTTP2Reactor_create()))
                opening = ConnectionOpening(
                    route: Route(host: "127.0.0.1", port: server.port, proxy: nil),
                    userAgent: "rouse", context: try TLSContext(reach),
                    resolver: NameLookup.resolve, reactor: reactor, serial: 1)
            }

            /// Lets the sockets do what they do within a quarter of a second, at one moment of the
            /// opening's time; stops when the opening ends.
            func settle(now: Int64) -> ConnectionOpening.Progress {
                var events = [CHTTP2Event](repeating: CHTTP2Event(), count: 8)
                for _ in 0..<25 {
                    let count = CHTTP2Reactor_wait(reactor.pointer, &events, 8, 10)
                    for event in events.prefix(Int(count)) {
                        let progress = opening.handle(event, now: now)
                        if case .underWay = progress { continue }
                        return progress
                    }
                }
                return .underWay
            }

            func end(_ progress: ConnectionOpening.Progress) {
                if case .open(let channel) = progress { CHTTP2Channel_destroy(channel) }
                opening.close()
                CHTTP2Reactor_destroy(reactor.pointer)
            }
        }

        private func address(_ port: Int) throws -> SocketAddress {
            guard case .addresses(let found) = NameLookup.resolve(host: "127.0.0.1", port: port)
            else { throw Missing() }
            return try #require(found.first)
        }

        private struct Missing: Error {}

        private func silentServer() async throws -> HostileServer {
            try await HostileServer { peer in peer.listen() }
        }

        private func isOpen(_ progress: ConnectionOpening.Progress) -> Bool {
            if case .open = progress { true } else { false }
        }

        private func isUnderWay(_ progress: ConnectionOpening.Progress) -> Bool {
            if case .underWay = progress { true } else { false }
        }

        @Test("an address that swallows every SYN costs the attempt delay, and no more")
        func blackHole() async throws {
            let server = try await silentServer()
            defer { server.close() }
            let hole = BlackHole()
            defer { hole.close() }
            let stage = try Stage(to: server)
            let first = stage.opening.didResolve(
                .addresses([try address(hole.port), try address(server.port)]), now: 0)
            #expect(isUnderWay(first))
            #expect(stage.opening.due == AddressRace.attemptDelayMilliseconds)
            #expect(isUnderWay(stage.opening.tick(now: 249)))
            #expect(isUnderWay(stage.settle(now: 249)))
            #expect(isUnderWay(stage.opening.tick(now: 250)))
            let last = stage.settle(now: 250)
            #expect(isOpen(last))
            stage.end(last)
        }

        @Test("an address that refuses costs nothing")
        func refusal() async throws {
            let server = try await silentServer()
            defer { server.close() }
            let stage = try Stage(to: server)
            let first = stage.opening.didResolve(
                .addresses([try address(Socket.freePort()), try address(server.port)]), now: 0)
            #expect(isUnderWay(first))
            let last = stage.settle(now: 0)
            #expect(isOpen(last))
            stage.end(last)
        }

        @Test("when all refuse, the failure says so, and nothing is left open")
        func allRefuse() async throws {
            let server = try await silentServer()
            defer { server.close() }
            let stage = try Stage(to: server)
            var progress = stage.opening.didResolve(
                .addresses([try address(Socket.freePort()), try address(Socket.freePort())]),
                now: 0)
            if isUnderWay(progress) { progress = stage.settle(now: 0) }
            guard case .failed(let failure) = progress else {
                Issue.record("It did not fail.")
                return
            }
            #expect(failure.label == "connect (not-sent)")
            #expect(failure.detail.contains("refused"))
            stage.end(progress)
        }
    }
}
