// SPDX-License-Identifier: Apache-2.0

import Testing
import TransportTestKit

extension ServerTests {
    /// A client in a process of its own, on a machine whose OpenSSL is set to take anything: there
    /// the transport alone keeps to TLS 1.2.
    @Suite("Versions of TLS", .timeLimit(.minutes(10)))
    struct TLSVersionTests {
        private static let settings = """
            openssl_conf = all
            [all]
            ssl_conf = ssl
            [ssl]
            system_default = lax
            [lax]
            MinProtocol = TLSv1
            CipherString = ALL:@SECLEVEL=0
            """

        private static func run(
            _ program: String, _ arguments: [String]
        ) async throws -> String {
            let directory = try TemporaryDirectory()
            let settings = try directory.write(settings, to: "openssl.cnf")
            return try await ChildProcess.run(
                "env", ["OPENSSL_CONF=" + settings, program] + arguments, in: directory
            ).text
        }

        private static func send(
            by maker: TransportMaker, to server: HostileServer
        ) async throws -> String {
            try await run(
                ChildProcess.built("TransportFixture"),
                [
                    "send", "127.0.0.1", "\(server.port)", server.certificate.certificatePath,
                    "count=1", maker.knowsRefusals ? "native=1" : "native=0",
                ])
        }

        @Test("a server that has TLS 1.1 alone is refused", arguments: TransportMaker.all)
        func tooOld(maker: TransportMaker) async throws {
            let server = try await HostileServer(isOld: true) { $0.acceptAll() }
            defer { server.close() }
            // Otherwise this test would be about the machine's settings.
            let client = "openssl s_client -connect 127.0.0.1:\(server.port) -brief </dev/null"
            let control = try await Self.run("sh", ["-c", client])
            #expect(control.contains("Protocol version: TLSv1.1"), "\(control)")
            let text = try await Self.send(by: maker, to: server)
            #expect(text.contains("tls-not-sent 1"), "\(text)")
        }

        @Test("a server that has a newer one is not", arguments: TransportMaker.all)
        func current(maker: TransportMaker) async throws {
            let server = try await HostileServer { $0.acceptAll() }
            defer { server.close() }
            let text = try await Self.send(by: maker, to: server)
            #expect(text.contains("status-200 1"), "\(text)")
        }
    }
}
