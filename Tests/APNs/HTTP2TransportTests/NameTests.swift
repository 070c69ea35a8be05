// SPDX-License-Identifier: Apache-2.0

import Glibc
import PushTransport
import Synchronization
import Testing
import TransportTestKit

@testable import HTTP2Transport

extension ServerTests {
    /// What a name leads to, with a resolver that the test plays; the sockets are real.
    @Suite("Names and their addresses", .timeLimit(.minutes(10)))
    struct NameTests {
        private func address(_ host: String, _ port: Int) throws -> SocketAddress {
            guard case .addresses(let found) = NameLookup.resolve(host: host, port: port) else {
                throw Missing()
            }
            return try #require(found.first)
        }

        private struct Missing: Error {}

        private static let four = "127.0.0.1"
        private static let six = "::1"

        /// A transport to `localhost`, wherever the resolver says that is.
        private func connect(
            trusting servers: [HostileServer], _ resolver: @escaping NameLookup.Resolver
        ) throws -> (transport: HTTP2Transport, inbox: Inbox) {
            var reach = TransportConfiguration(host: "localhost")
            reach.trust = .pem(try servers.map { try $0.certificate.pem }.joined())
            reach.proxy = .none
            reach.maximumConnections = 1
            let inbox = Inbox()
            return (try HTTP2Transport(reach, resolver: resolver, sink: inbox.sink), inbox)
        }

        /// A server that accepts every push, at an IP address.
        private func server(at host: String) async throws -> HostileServer {
            try await HostileServer(on: Socket.listening(on: host)) { $0.acceptAll() }
        }

        @Test("each connection asks for the name again, and goes where it leads by then")
        func freshLookups() async throws {
            let servers = [try await server(at: Self.four), try await server(at: Self.four)]
            let places = try servers.map { try address(Self.four, $0.port) }
            let lookups = Mutex<[String]>([])
            let (transport, inbox) = try connect(trusting: servers) { host, port in
                let count = lookups.withLock { lookups in
                    lookups.append("\(host):\(port)")
                    return lookups.count
                }
                return .addresses([places[(count - 1) % 2]])
            }
            for round in UInt64(1)...4 {
                transport.submit([TestPush.submission(round)])
                #expect(await inbox.outcome(of: round).label == "200")
                #expect(servers.map(\.connections) == [Int(round + 1) / 2, Int(round) / 2])
                transport.replaceConnections()
            }
            #expect(lookups.withLock { $0 } == Array(repeating: "localhost:443", count: 4))
            await transport.shutDown(gracePeriod: .zero)
            for server in servers { server.close() }
        }

        @Test(
            "the first of both families is taken, the other one when it refuses or is silent",
            arguments: [(six, four), (four, six)],
            [FirstAddress.serves, .refuses, .isSilent])
        func families(_ pair: (first: String, second: String), manner: FirstAddress) async throws {
            let servers = [try await server(at: pair.first), try await server(at: pair.second)]
            let hole = BlackHole(on: pair.first)
            defer { hole.close() }
            let port =
                switch manner {
                case .serves: servers[0].port
                case .refuses: Socket.freePort(on: pair.first)
                case .isSilent: hole.port
                }
            let places = [
                try address(pair.first, port), try address(pair.second, servers[1].port),
            ]
            let (transport, inbox) = try connect(trusting: servers) { _, _ in .addresses(places) }
            transport.submit([TestPush.submission(1, timeout: .seconds(5))])
            #expect(await inbox.outcome(of: 1).label == "200")
            #expect(servers.map(\.connections) == (manner == .serves ? [1, 0] : [0, 1]))
            await transport.shutDown(gracePeriod: .zero)
            for server in servers { server.close() }
        }

        enum FirstAddress: Sendable { case serves, refuses, isSilent }
    }
}
