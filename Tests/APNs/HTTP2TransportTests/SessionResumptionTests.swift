// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTP2Transport
import PushTransport
import Synchronization
import Testing
import TransportTestKit

extension ServerTests {
    /// A further connection resumes the TLS session of an earlier one, which spares both sides the
    /// certificate. Nothing is sent before the handshake is done.
    @Suite("TLS sessions on further connections", .timeLimit(.minutes(10)))
    struct SessionResumptionTests {
        /// Sends a push over each of three connections, and returns what was seen of their TLS.
        private func threeConnections(
            _ tickets: HostileServer.Tickets, hasCertificate: Bool = false
        ) async throws -> (outcomes: [String], resumed: [Bool], opened: Int) {
            let resumed = Mutex<[Bool]>([])
            let server = try await HostileServer(tickets: tickets) { peer in
                resumed.withLock { $0.append(peer.isResumed) }
                #expect(!peer.hasEarlyData)
                peer.acceptAll()
            }
            defer { server.close() }
            var reach = try server.reach
            reach.urgentWaitsForConnection = true
            if hasCertificate {
                let made = server.certificate
                reach.clientCertificate = .init(
                    .pem(
                        certificate: Array(try made.pem.utf8),
                        key: [UInt8](try Data(contentsOf: URL(filePath: made.keyPath)))))
            }
            let inbox = Inbox()
            let transport = try HTTP2Transport(reach, sink: inbox.sink)
            var outcomes: [String] = []
            for number in UInt64(1)...3 {
                transport.submit([TestPush.submission(number, isUrgent: true)])
                outcomes.append(await inbox.outcome(of: number).label)
                transport.replaceConnections()
            }
            await transport.shutDown(gracePeriod: .zero)
            return (outcomes, resumed.withLock { $0 }, transport.gauges.connectionsOpened)
        }

        @Test("a server that reads its tickets is resumed, each ticket once")
        func resumed() async throws {
            let seen = try await threeConnections(.shared)
            #expect(seen.outcomes == ["200", "200", "200"])
            #expect(seen.resumed == [false, true, true])
            #expect(seen.opened == 3)
        }

        @Test("a ticket that another server gave costs nothing but a full handshake")
        func foreign() async throws {
            let seen = try await threeConnections(.foreign)
            #expect(seen.outcomes == ["200", "200", "200"])
            #expect(seen.resumed == [false, false, false])
            #expect(seen.opened == 3)
        }

        @Test("a server that fails at a ticket gets no second one")
        func fatal() async throws {
            let seen = try await threeConnections(.fatal)
            #expect(seen.outcomes == ["200", "200", "200"])
            #expect(seen.resumed == [false, false, false])
            // The one that failed, and the call went over the next.
            #expect(seen.opened == 4)
        }

        @Test("with a client certificate, none is resumed")
        func certificate() async throws {
            let seen = try await threeConnections(.shared, hasCertificate: true)
            #expect(seen.outcomes == ["200", "200", "200"])
            #expect(seen.resumed == [false, false, false])
        }
    }
}
