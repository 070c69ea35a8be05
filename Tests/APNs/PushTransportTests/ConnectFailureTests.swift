// SPDX-License-Identifier: Apache-2.0

import APNsSimulator
import PushTransport
import Testing
import TransportTestKit
import WakeModel

extension ServerTests {
    /// Peers to whom nothing is ever sent: each failure has its kind, is `not-sent`, and is quick.
    @Suite("Failures to connect", .timeLimit(.minutes(10)))
    struct ConnectFailureTests {
        /// Sends one push; returns what became of it and how long that took.
        private func attempt(
            _ maker: TransportMaker, host: String = "127.0.0.1", port: Int,
            trust: TransportConfiguration.Trust = .system,
            connectTimeout: Duration = .seconds(5), timeout: Duration = .seconds(10)
        ) async throws -> (failure: TransportFailure?, duration: Duration) {
            var reach = TransportConfiguration(host: host)
            reach.port = port
            reach.trust = trust
            reach.proxy = .none
            reach.connectTimeout = connectTimeout
            let inbox = Inbox()
            let transport = try maker.make(reach, inbox.sink)
            let clock = ContinuousClock()
            let start = clock.now
            transport.submit([TestPush.submission(1, timeout: timeout)])
            let outcome = await inbox.outcome(of: 1)
            let duration = clock.now - start
            await transport.shutDown(gracePeriod: .zero)
            #expect(inbox.order == [1])
            return (outcome.failure, duration)
        }

        @Test("nobody listens", arguments: TransportMaker.all)
        func refused(maker: TransportMaker) async throws {
            let (failure, duration) = try await attempt(maker, port: Socket.freePort())
            #expect(failure?.label == "connect (not-sent)")
            #expect(duration < .seconds(5))
        }

        @Test("the name does not resolve", arguments: TransportMaker.all)
        func unresolvable(maker: TransportMaker) async throws {
            let (failure, duration) = try await attempt(maker, host: "nowhere.invalid", port: 443)
            #expect(failure?.label == "name-resolution (not-sent)")
            #expect(duration < .seconds(5))
        }

        @Test("the certificate is of another authority", arguments: TransportMaker.all)
        func wrongAuthority(maker: TransportMaker) async throws {
            let directory = try TemporaryDirectory()
            let other = try await MadeCertificate(for: "IP:127.0.0.1", in: directory)
            let simulator = try await APNsSimulator.start()
            for trust in [.system, .pem(try other.pem), .file(path: other.certificatePath)]
                as [TransportConfiguration.Trust]
            {
                let (failure, duration) = try await attempt(
                    maker, port: simulator.port, trust: trust)
                #expect(failure?.label == "tls (not-sent)")
                #expect(duration < .seconds(5))
            }
            #expect(simulator.counters.requests == 0)
            try await simulator.shutdown()
        }

        @Test("trust from a file serves", arguments: TransportMaker.all)
        func trustFile(maker: TransportMaker) async throws {
            let directory = try TemporaryDirectory()
            let simulator = try await APNsSimulator.start()
            let file = try directory.write(simulator.certificateAuthorityPEM, to: "ca.pem")
            let (failure, _) = try await attempt(
                maker, port: simulator.port, trust: .file(path: file))
            #expect(failure == nil)
            try await simulator.shutdown()
        }

        @Test(
            "the certificate is for another name, or the peer speaks no HTTP/2",
            arguments: TransportMaker.all,
            [
                ("DNS:elsewhere.example", "h2", "tls (not-sent)"),
                ("IP:127.0.0.1", "http/1.1", "not-http2 (not-sent)"),
                ("IP:127.0.0.1", nil, "not-http2 (not-sent)"),
            ] as [(name: String, alpn: String?, expected: String)])
        func otherServer(
            maker: TransportMaker, server: (name: String, alpn: String?, expected: String)
        ) async throws {
            let (name, alpn, expected) = server
            let directory = try TemporaryDirectory()
            let certificate = try await MadeCertificate(for: name, in: directory)
            let port = Socket.freePort()
            let protocols = alpn.map { ["-alpn", $0] } ?? []
            let server = try ChildProcess(
                "openssl",
                [
                    "s_server", "-accept", "127.0.0.1:\(port)", "-key", certificate.keyPath,
                    "-cert",
                    certificate.certificatePath,
                ] + protocols, in: directory)
            defer { server.end() }
            #expect(await eventually { server.text.contains("ACCEPT") })
            let (failure, duration) = try await attempt(
                maker, port: port, trust: .pem(try certificate.pem))
            #expect(failure?.label == expected, "\(String(describing: failure))")
            #expect(duration < .seconds(5))
            // s_server prints what it reads: neither push nor provider token must be among it.
            #expect(!server.text.contains("POST"))
            #expect(!server.text.contains("bearer"))
        }

        @Test("the handshake is refused", arguments: TransportMaker.all)
        func refusedHandshake(maker: TransportMaker) async throws {
            let simulator = try await APNsSimulator.start()
            simulator.inject(Fault(.refuseTLS))
            let (failure, duration) = try await attempt(
                maker, port: simulator.port, trust: .pem(simulator.certificateAuthorityPEM))
            #expect(failure?.label == "tls (not-sent)")
            #expect(duration < .seconds(5))
            try await simulator.shutdown()
        }

        @Test(
            "the peer accepts and says nothing, or hangs up",
            arguments: TransportMaker.all,
            [
                (Fault.Kind.neverAnswer, "timed-out (not-sent)"),
                (.closeConnection, "tls (not-sent)"),
            ] as [(fault: Fault.Kind, expected: String)])
        func silentPeer(
            maker: TransportMaker, peer: (fault: Fault.Kind, expected: String)
        ) async throws {
            let (fault, expected) = peer
            let simulator = try await APNsSimulator.start()
            simulator.inject(Fault(fault, at: .connection))
            let (failure, duration) = try await attempt(
                maker, port: simulator.port, trust: .pem(simulator.certificateAuthorityPEM),
                connectTimeout: .milliseconds(300))
            #expect(failure?.label == expected, "\(String(describing: failure))")
            #expect(duration < .seconds(5))
            try await simulator.shutdown()
        }

        @Test("who waits for a connection learns why there is none", arguments: TransportMaker.all)
        func reasonForWaiting(maker: TransportMaker) async throws {
            var reach = TransportConfiguration(host: "127.0.0.1")
            reach.port = Socket.freePort()
            reach.proxy = .none
            let inbox = Inbox()
            let transport = try maker.make(reach, inbox.sink)
            transport.submit(TestPush.batch(1...20, timeout: .milliseconds(600)))
            await inbox.waitForCount(20)
            await transport.shutDown(gracePeriod: .zero)
            let waited = inbox.outcomes.values.compactMap { $0.first?.failure }
                .filter { $0.kind == .timedOut }
            #expect(waited.count >= 15)
            #expect(
                waited.allSatisfy {
                    $0.certainty == .notSent && $0.detail.contains("connect (not-sent)")
                })
            // Back-off: 250 ms, 500 ms: at most three attempts in 600 ms.
            #expect(transport.gauges.connectionsOpened <= 4)
        }

        /// Guards calls that ended, or expired unsent, while the server was away.
        @Test(
            "a call waits for the first good connection, and others get the reason",
            arguments: TransportMaker.all)
        func callsWait(maker: TransportMaker) async throws {
            try await withBench(maker, transport: { $0.urgentWaitsForConnection = true }) { bench in
                bench.simulator.inject(Fault(.refuseTLS, count: 3))
                bench.transport.submit([TestPush.submission(1, isUrgent: true)])
                #expect(await bench.inbox.outcome(of: 1).label == "200")
                bench.transport.replaceConnections()
                bench.simulator.inject(Fault(.refuseTLS, count: 1))
                #expect(await bench.send(2).label == "tls (not-sent)")
            }
        }

        /// Guards calls with a deadline of 10 s, which expired behind two or three such servers.
        @Test(
            "a call goes out although three connections in a row were accepted in silence",
            arguments: TransportMaker.all)
        func silentHandshakes(maker: TransportMaker) async throws {
            try await withSilentServer(maker, silentConnections: 3) { transport, inbox in
                transport.submit([
                    TestPush.submission(1, timeout: .seconds(10), isUrgent: true)
                ])
                #expect(await inbox.outcome(of: 1).label == "200")
            }
        }

        /// Guards calls behind a push whose connection is being opened: they waited for as long as
        /// that may take.
        @Test(
            "a call does not wait for the connection of an ordinary push",
            arguments: TransportMaker.all)
        func callBehindOrdinaryPush(maker: TransportMaker) async throws {
            try await withSilentServer(maker, silentConnections: 1) { transport, inbox in
                transport.submit([TestPush.submission(1, timeout: .seconds(20))])
                transport.submit([TestPush.submission(2, timeout: .seconds(5), isUrgent: true)])
                #expect(await inbox.outcome(of: 2).label == "200")
                #expect(await inbox.outcome(of: 1).label == "200")
            }
        }

        private func withSilentServer(
            _ maker: TransportMaker, silentConnections: Int,
            _ body: (any PushTransport, Inbox) async throws -> Void
        ) async throws {
            let server = try await HostileServer(silentConnections: silentConnections) { peer in
                peer.acceptAll()
            }
            defer { server.close() }
            var reach = try server.reach
            reach.maximumConnections = 1
            reach.urgentWaitsForConnection = true
            reach.connectTimeout = .seconds(60)
            let inbox = Inbox()
            let transport = try maker.make(reach, inbox.sink)
            try await body(transport, inbox)
            #expect(transport.gauges.connectionsOpened == silentConnections + 1)
            await transport.shutDown(gracePeriod: .zero)
        }

        @Test("a server that comes back is found again", arguments: TransportMaker.all)
        func comesBack(maker: TransportMaker) async throws {
            try await withBench(maker) { bench in
                bench.simulator.inject(Fault(.refuseTLS, count: 2))
                #expect(await bench.send(1).label == "tls (not-sent)")
                #expect(await bench.send(2).label == "tls (not-sent)")
                #expect(await bench.send(3).label == "200")
            }
        }
    }
}
