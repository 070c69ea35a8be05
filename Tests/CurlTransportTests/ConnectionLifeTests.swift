// SPDX-License-Identifier: Apache-2.0

import CurlTransport
import PushTransport
import Testing
import TransportTestKit

extension ServerTests {
    @Suite("The life of connections, with libcurl", .timeLimit(.minutes(1)))
    struct ConnectionLifeTests {
        private func connect(
            to server: HostileServer, maximumConnections: Int = 1
        ) throws -> (transport: CurlTransport, inbox: Inbox) {
            var reach = TransportConfiguration(host: "127.0.0.1")
            reach.port = server.port
            reach.trust = .pem(try server.certificate.pem)
            reach.proxy = .none
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
    }
}
